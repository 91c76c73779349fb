"""The protocol every solver follows, ours and foreign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from herk.core.dae import Array
from herk.core.errors import InputError
from herk.core.problem import Problem
from herk.core.solution import Solution


@dataclass(frozen=True)
class Settings:
    """What a run behind the bench is asked for.

    Parameters
    ----------
    rtol, atol : float
        Tolerances; atol may have a value for every component.
    step : float, optional
        A fixed step.
    t_eval : array, optional
        Output times.
    time_limit : float, optional
        Seconds after which the run ends with a reason.
    options : mapping, optional
        What the solver takes besides.

    Examples
    --------
    >>> import herk
    >>> herk.Settings(rtol=1e-8, atol=1e-8).step is None
    True

    """

    rtol: float = 1e-6
    atol: float | tuple[float, ...] = 1e-9
    step: float | None = None
    t_eval: Array | None = None
    time_limit: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Validate the numbers."""
        if not self.rtol > 0:
            raise InputError(f"rtol must be positive, not {self.rtol!r}.")
        if self.step is not None and not self.step > 0:
            raise InputError(f"step must be positive, not {self.step!r}.")


@runtime_checkable
class Solver(Protocol):
    """A solver behind the bench: `prepare` is untimed, `solve` is timed, neither measures its own error."""

    name: str
    family: str
    forms: tuple[str, ...]
    order: int
    adaptive: bool
    tags: frozenset[str]

    def available(self) -> tuple[bool, str]:
        """Tell whether the solver can run here, and if not, what to install."""

    def supports(self, problem: Problem, form: str) -> tuple[bool, str]:
        """Tell whether the solver can be used on this form of the problem, and if not, why."""

    def prepare(self, problem: Problem, form: str) -> Any:
        """Do everything that need not be timed, compilation included."""

    def solve(self, prepared: Any, settings: Settings) -> Solution:
        """Solve."""
