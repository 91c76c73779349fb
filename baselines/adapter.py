"""What rivals share: counted callables under a time limit, silence.

And the way from a library's points to a Solution.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module, metadata
from typing import Any, ClassVar

import numpy as np

from baselines.completion import model_points
from baselines.segments import solve_segments
from herk.core import InputError, Problem, Reason, Settings, Solution
from herk.core.dae import Array

_FLUSH = ctypes.CDLL(None).fflush  # C keeps what it prints until then


class TimeUpError(Exception):
    """The time limit has passed; raised inside a callable.

    Because nothing else runs while a library is at work.
    """


@dataclass
class Watch:
    """Count calls of right-hand side or residual and of its Jacobian, the same way for every rival.

    And end a run in time.
    """

    limit: float | None = None
    nfev: int = 0
    njev: int = 0
    error: BaseException | None = None

    def __post_init__(self) -> None:
        """Start the clock."""
        self._end = np.inf if self.limit is None else time.perf_counter() + self.limit

    def check(self) -> None:
        """Raise if the time is up."""
        if time.perf_counter() > self._end:
            raise TimeUpError(f"The time limit of {self.limit:g} s was reached.")

    def counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, its calls counted as nfev."""
        limited = self.limit is not None

        def call(*arguments: Any) -> Any:
            self.nfev += 1
            if limited:
                self.check()
            return function(*arguments)

        return call

    def counted_jacobian(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, its calls counted as njev."""

        def call(*arguments: Any) -> Any:
            self.njev += 1
            return function(*arguments)

        return call


@dataclass
class Points:
    """What a run has reached so far; it survives whatever ends the run."""

    t: list[float]
    z: list[Array]
    nstep: int = 0
    nreject: int = 0
    nlu: int = 0
    reason: Reason = Reason.FINISHED
    message: str = "The end of the span was reached."
    seconds: float | None = None  # by the clock of another process

    def add(self, t: float, z: Array) -> None:
        """Keep a point."""
        self.t.append(float(t))
        self.z.append(z)

    def stop(self, reason: Reason, message: str) -> None:
        """Say why the run ended early."""
        self.reason, self.message = reason, message


@dataclass(frozen=True)
class Rival:
    """A solver on the forms of a model.

    A new one defines `prepare` and `integrate`, and names the module it needs.

    `options` are the settings of the library that are not its defaults; settings.options of a run win over
    them.
    """

    name: str
    family: str
    forms: tuple[str, ...]
    order: int
    adaptive: bool = True
    tags: frozenset[str] = frozenset()
    options: Mapping[str, Any] = field(default_factory=dict)

    module: ClassVar[str] = "numpy"
    package: ClassVar[str] = "numpy"
    install: ClassVar[str] = ""

    def available(self) -> tuple[bool, str]:
        """Tell whether the library can be imported, and if not, how to install it."""
        try:
            import_module(self.module)
        except ImportError as error:
            return False, f"{error}; {self.install or f'pip install {self.package}'}"
        return True, ""

    @property
    def version(self) -> str:
        """Return the version of the library."""
        try:
            return metadata.version(self.package)
        except metadata.PackageNotFoundError:
            return ""

    def supports(self, problem: Problem, form: str) -> tuple[bool, str]:
        """Tell whether there is such a form of the problem and the solver takes it."""
        if form not in self.forms:
            return False, f"{self.name} takes the forms {', '.join(self.forms)}, not {form!r}"
        try:
            problem.form("index1" if form == "ode" and problem.model is None else form)
        except InputError as error:
            return False, str(error)
        return True, ""

    def prepare(self, problem: Problem, form: str) -> Any:
        """Return the form, derived and compiled."""
        raise NotImplementedError

    def integrate(self, prepared: Any, settings: Settings, watch: Watch, points: Points) -> None:
        """Add points; exceptions become reasons."""
        raise NotImplementedError

    def solve(self, prepared: Any, settings: Settings) -> Solution:
        """Solve, segment by segment if the problem has breakpoints.

        Whatever happens, the points reached are returned with a reason.
        """
        return solve_segments(self._solve, prepared, settings)

    def _solve(self, prepared: Any, settings: Settings) -> Solution:
        z0, _ = prepared.start
        watch, points = Watch(settings.time_limit), Points([], [])
        if settings.t_eval is None:
            points.add(prepared.t_span[0], z0)
        if settings.step is not None:
            points.stop(
                Reason.UNSUPPORTED,
                f"{self.name} chooses its steps itself; settings.step is for methods with fixed steps.",
            )
            return finished(prepared, points, watch)
        try:
            self.integrate(prepared, settings, watch, points)
        except Exception as error:  # noqa: BLE001 - a library may fail in any way
            note(points, error)
        return finished(prepared, points, watch)


def note(points: Points, error: BaseException) -> None:
    """Translate an exception to a reason."""
    if isinstance(error, TimeUpError):
        points.stop(Reason.TIME_LIMIT, str(error))
    else:
        points.stop(Reason.EXCEPTION, f"{type(error).__name__}: {error}")


def finished(prepared: Any, points: Points, watch: Watch) -> Solution:
    """Return the solution in the unknowns of the model."""
    t = np.array(points.t, dtype=float)
    z = np.array(points.z, dtype=float).reshape(len(t), len(prepared.start[0])).T
    reason, message = points.reason, points.message
    if reason is Reason.FINISHED and not np.isfinite(z).all():
        reason, message = Reason.NONFINITE, "The library reported success, but its points are not finite."
    counts = {
        "nstep": points.nstep,
        "nreject": points.nreject,
        "nfev": watch.nfev,
        "njev": watch.njev,
        "nlu": points.nlu,
    }
    y, seconds = model_points(prepared.to_model_states, t, z), points.seconds
    return Solution(t=t, y=y, reason=reason, message=message, seconds=seconds, **counts)


def tolerances(prepared: Any, atol: float | tuple[float, ...]) -> Array:
    """Return one atol for each unknown of the form.

    A given vector is in the unknowns of the model, new unknowns get its smallest.

    A single number is in units of the sizes of the problem, where it has any.
    """
    values = np.asarray(atol, dtype=float)
    n, kept = len(prepared.start[0]), list(prepared.to_model_states.kept)
    if values.ndim == 0:
        if not prepared.sizes:
            return np.full(n, float(values))
        values = values * np.array(prepared.sizes)
    return np.concatenate([values[kept], np.full(n - len(kept), values.min())])


@contextmanager
def silence() -> Iterator[None]:
    """Send what libraries print to nowhere, from Python and from C."""
    kept = [os.dup(1), os.dup(2)]
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
            yield
            _FLUSH(None)
    finally:
        for place, copy in enumerate(kept, 1):
            os.dup2(copy, place)
            os.close(copy)
