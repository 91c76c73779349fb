"""What a solve returns: points, counters, and in words how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import IntEnum, StrEnum

import numpy as np

from herk.core.dae import Array
from herk.core.errors import InputError


class Status(IntEnum):
    """How a run ended, in SciPy's numbers."""

    FAILED = -1
    FINISHED = 0
    STOPPED = 1


class Reason(StrEnum):
    """Why a run ended, for programs; `message` says it to people."""

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


@dataclass(frozen=True, kw_only=True)
class Stats:
    """Counters of a run: accepted and rejected steps, evaluations of f, g and Jacobians, factorisations.

    Newton iterations.
    """

    nstep: int = 0
    nreject: int = 0
    nfev: int = 0
    ngev: int = 0
    njev: int = 0
    nlu: int = 0
    nit: int = 0


@dataclass(frozen=True, kw_only=True)
class Solution(Stats):
    """Points reached, counters and outcome.

    Called with a time it interpolates, if `dense_output=True` was asked for.
    """

    t: Array
    y: Array
    reason: Reason
    message: str
    sol: Callable[[float | Array], Array] | None = field(default=None, compare=False)
    t_events: list[Array] | None = None
    y_events: list[Array] | None = None
    residual: float = 0.0
    selections: tuple[tuple[float, tuple[int, ...]], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> int:
        """0: end reached, 1: stopped by an event or the callback, -1: failed (SciPy's rule)."""
        return int(self.reason.status)

    @property
    def success(self) -> bool:
        """Tell whether the end or a wanted stop was reached."""
        return self.status >= 0

    @property
    def stats(self) -> Stats:
        """Return the counters alone."""
        return Stats(**{f.name: getattr(self, f.name) for f in fields(Stats)})

    def __call__(self, t: float | Array) -> Array:
        """Return y at one time (n) or several (n x times)."""
        if self.sol is None:
            raise InputError("This solution has no dense output; call solve_dae with dense_output=True.")
        return self.sol(t)

    def __repr__(self) -> str:
        """Return a readable summary, arrays shortened."""
        rows = {
            "message": self.message,
            "success": self.success,
            "status": self.status,
            "reason": self.reason.value,
        }
        rows |= {name: _short(getattr(self, name)) for name in ("t", "y")}
        rows |= {f.name: getattr(self, f.name) for f in fields(Stats)} | {"residual": f"{self.residual:.3g}"}
        rows["selections"] = (
            f"{len(self.selections)} (first {self.selections[0]})" if self.selections else "none"
        )
        if self.notes:
            rows["notes"] = " ".join(self.notes)
        width = max(map(len, rows))
        return "\n".join(f"{name:>{width}}: {value}" for name, value in rows.items())


def _short(values: Array) -> str:
    return np.array2string(np.asarray(values), threshold=8, edgeitems=2, precision=6).replace(
        "\n", "\n" + " " * 12
    )
