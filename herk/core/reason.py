"""How a run ended: a reason for programs, and SciPy's number for it."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Status(IntEnum):
    """How a run ended, in SciPy's numbers."""

    FAILED = -1
    FINISHED = 0
    STOPPED = 1


class Reason(StrEnum):
    """Why a run ended, for programs; `message` says it to people.

    Examples
    --------
    >>> import herk
    >>> herk.Reason.EVENT.value, int(herk.Reason.EVENT.status)
    ('event', 1)

    """

    FINISHED = "finished"
    EVENT = "event"
    CALLBACK = "callback"
    NEWTON = "newton"
    STEP_UNDERFLOW = "step_underflow"
    NONFINITE = "nonfinite"
    SINGULAR = "singular"
    INCONSISTENT = "inconsistent"
    EXCEPTION = "exception"
    MAX_STEPS = "max_steps"
    TIME_LIMIT = "time_limit"
    INTERRUPTED = "interrupted"
    UNSUPPORTED = "unsupported"
    CRASHED = "crashed"

    @property
    def status(self) -> Status:
        """Return SciPy's number for this reason."""
        if self is Reason.FINISHED:
            return Status.FINISHED
        return Status.STOPPED if self in (Reason.EVENT, Reason.CALLBACK) else Status.FAILED
