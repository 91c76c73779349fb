"""What a solve returns: points, counters, and in words how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from herk.core.dae import Array
from herk.core.errors import InputError
from herk.core.names import among, as_name, place
from herk.core.reason import Reason
from herk.results import tables

SMOOTH = 1000  # points of a curve where dense output gives as many as one likes


@dataclass(frozen=True)
class MethodUse:
    """From when on a method made the steps, and why it was chosen."""

    t: float
    method: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Stats:
    """Counters of a run: steps, evaluations of f, g and Jacobians, factorisations, Newton iterations."""

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

    ``sol["x"]`` is a component by name; called with a time, the solution interpolates, if
    ``dense_output=True`` was asked for. `system`, `method` and `seconds` say what was solved and how.

    Examples
    --------
    >>> import herk
    >>> model = herk.Model.from_equations("decay", ["x' = -x"], start={"x": 1}, t_span=(0, 1))
    >>> sol = herk.solve_dae(model, t_eval=[0.0, 1.0])
    >>> sol.success, sol["x"].round(4)
    (True, array([1.    , 0.3679]))

    """

    t: Array
    y: Array
    reason: Reason
    message: str
    sol: Callable[[float | Array], Array] | None = field(default=None, compare=False)
    slopes: Callable[[float | Array, Array], Array] | None = field(default=None, compare=False, repr=False)
    t_events: list[Array] | None = None
    y_events: list[Array] | None = None
    residual: float = 0.0
    selections: tuple[tuple[float, tuple[int, ...]], ...] = ()
    notes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    system: str = ""
    method: str = ""
    methods: tuple[MethodUse, ...] = ()  # which method was in use from when on, and why
    seconds: float | None = field(default=None, compare=False)
    defect: float | None = None  # on request: the largest E y' - f between points, beside its terms
    error_estimate: Array | None = field(default=None, compare=False)  # on request, of every component
    sensitivities: Mapping[str, Array] | None = field(default=None, compare=False)  # on request, see dyd

    @classmethod
    def of(cls, **values: Any) -> Solution:
        """Return a solution with these values, ten times quicker than one field after another."""
        made = object.__new__(cls)
        made.__dict__.update(values)
        return made

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

    @cached_property
    def yp(self) -> Array | None:
        """Return y' at the points, of every component, from the equations; None if they are not known."""
        return None if self.slopes is None else self.slopes(self.t, self.y)

    @cached_property
    def yp_events(self) -> list[Array] | None:
        """Return y' at the events, like y_events."""
        if self.slopes is None or self.t_events is None or self.y_events is None:
            return None
        found = zip(self.t_events, self.y_events, strict=True)
        return [self.slopes(t, y.T).T if len(t) else np.zeros((0, len(self.y))) for t, y in found]

    def derivative(self, t: float | Array) -> Array:
        """Return y' at one time (n) or several (n x times), from the equations at the dense output."""
        y = self(t)
        if self.slopes is None:
            raise InputError("The equations of this solution are not known; solve_dae gives one with them.")
        return self.slopes(t, y)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the components; y0, y1, ... if the system has none."""
        return tuple(self.names)[: len(self.y)] or tuple(f"y{i}" for i in range(len(self.y)))

    def __getitem__(self, name: Any) -> Array:
        """Return a component over time, several as rows, by name, "x'" or sympy's x(t); "t": the times."""
        if isinstance(name, tuple):
            return np.array([self[each] for each in name])
        if name == "t":
            return self.t
        return np.asarray(self.y[self._row(name)])

    def dyd(self, name: Any, component: Any = None) -> Array:
        """Return dy/dname (n x points), or that of one component; name is a parameter or "y0:x"."""
        if self.sensitivities is None:
            raise InputError(
                f'No sensitivities were asked for; call solve_dae(..., sensitivities=["{as_name(name)}"]).'
            )
        found = self.sensitivities[among(name, self.sensitivities, "sensitivity of this solution")]
        return found if component is None else np.asarray(found[self._row(component)])

    def __contains__(self, name: object) -> bool:
        """Tell whether there is a component of this name."""
        return name in self.labels

    def __iter__(self) -> Any:
        """Refuse: a solution is read by name, or as the arrays t and y."""
        raise TypeError("A Solution is read by name, sol['x'], or as the arrays sol.t and sol.y.")

    def _row(self, name: Any) -> int:
        return place(name, self.labels, "component of this solution")

    def to_pandas(self) -> Any:
        """Return a pandas frame: one column for every component, the times as index.

        Examples
        --------
        >>> import herk
        >>> times = np.array([0.0, 1.0])
        >>> sol = Solution(t=times, y=times[None], names=("x",), reason=Reason.FINISHED, message="")
        >>> sol.to_pandas()["x"].iloc[-1]
        np.float64(1.0)

        """
        return tables.frame(self.t, dict(zip(self.labels, self.y, strict=True)))

    def plot(self, *names: Any, phase: tuple[Any, Any] | None = None, ax: Any = None) -> Any:
        """Draw components over time, or one over another, and return matplotlib's axes.

        Without names all components are drawn; ``phase=("x", "y")`` draws y over x. With dense output the
        curves are smooth, otherwise they join the points.
        """
        from herk.results import curves

        t, values = self._drawn()
        if phase is not None:
            x, y = (np.asarray(values[self._row(name)]) for name in phase)
            return curves.phase((as_name(phase[0]), x), (as_name(phase[1]), y), ax)
        rows = {as_name(name): np.asarray(values[self._row(name)]) for name in names or self.labels}
        return curves.over_time(t, rows, ax)

    def _drawn(self) -> tuple[Array, Array]:
        if self.sol is None or len(self.t) < 2 or len(self.t) > SMOOTH:
            return self.t, self.y
        t = np.union1d(self.t, np.linspace(self.t[0], self.t[-1], SMOOTH))
        t = t if self.t[-1] >= self.t[0] else t[::-1]
        return t, self.sol(t)

    def animate(
        self,
        path: str | Path,
        points: Sequence[tuple[Any, Any]],
        *,
        fps: int = 25,
        seconds: float | None = None,
    ) -> Path:
        """Write an animation of planar points to a file and return its path (.gif; .mp4 needs ffmpeg).

        Each point is a pair of names, or of numbers where it is held: ``points=[(0, 0), ("x", "y")]`` is a
        pendulum. Neighbours are joined by lines. It lasts `seconds`, or as long as the span of the run.
        """
        from herk.results.animation import WRITERS, animate

        if Path(str(path)).suffix.lower() not in WRITERS:
            raise InputError(
                f"An animation is written to a file of the kind {', '.join(WRITERS)}, not to {str(path)!r}."
            )
        if len(self.t) < 2 or not all(_is_pair(each) for each in points) or not points:
            raise InputError(
                "An animation needs at least two times, and points that are pairs of names or numbers, such"
                " as [(0, 0), ('x', 'y')]."
            )
        length = abs(self.t[-1] - self.t[0]) if seconds is None else seconds
        times = np.linspace(self.t[0], self.t[-1], max(2, round(fps * length) + 1))
        return animate(path, [(self._at(x, times), self._at(y, times)) for x, y in points], fps, self.system)

    def _at(self, what: Any, times: Array) -> Array:
        """Return a component at these times, or a number that stays."""
        if isinstance(what, Real):
            return np.full(len(times), float(what))
        if self.sol is not None:
            return np.asarray(self.sol(times)[self._row(what)])
        order = np.argsort(self.t, kind="stable")
        return np.interp(times, self.t[order], self[what][order])

    def _facts(self) -> dict[str, str]:
        """Return what was solved, how it ended and what it took, in few words."""
        span = f"t = {self.t[0]:.6g} to {self.t[-1]:.6g}" if len(self.t) else "no points"
        rows = {"solved": ", ".join(filter(None, (self.system, span, f"{len(self.y)} unknowns")))}
        rows["ended"] = f"{self.message} ({self.reason.value})"
        rows["steps"] = f"{self.nstep} accepted, {self.nreject} rejected"
        rows["calls"] = f"f {self.nfev}, g {self.ngev}, Jacobians {self.njev}"
        rows["residual"] = f"{self.residual:.2g}, the largest of any constraint at any step"
        if self.method:
            used = ", ".join(f"{use.method} from t = {use.t:.6g}" for use in self.methods[: tables.MOST])
            rows["method"] = f"{self.method}: {used}" if len(self.methods) > 1 else self.method
        if self.seconds is not None:
            rows["time"] = f"{self.seconds:.3g} s"
        if self.notes:
            rows["notes"] = " ".join(self.notes)
        return rows

    def summary(self) -> str:
        """Return what was solved, how it ended, what it took, and the range of every component, as text."""
        return tables.as_text(self._facts(), self._components())

    def _components(self) -> list[tuple[str, ...]]:
        return tables.components(dict(zip(self.labels, self.y, strict=True)))

    def _repr_html_(self) -> str:
        return tables.as_html(self._facts(), self._components())

    def __repr__(self) -> str:
        """Return SciPy's fields, arrays shortened, after what was solved and how it ended."""
        rows = {
            "message": self.message,
            "success": str(self.success),
            "status": str(self.status),
            "reason": self.reason.value,
        }
        if self.system or self.names:
            rows |= {"system": self.system, "names": ", ".join(self.labels[: tables.MOST])}
        if self.method:
            rows["method"] = self.method
        rows |= {name: _short(getattr(self, name)) for name in ("t", "y")}
        rows |= {f.name: str(getattr(self, f.name)) for f in fields(Stats)}
        rows["residual"] = f"{self.residual:.3g}"
        if self.seconds is not None:
            rows["seconds"] = f"{self.seconds:.3g}"
        rows["selections"] = (
            f"{len(self.selections)} (first {self.selections[0]})" if self.selections else "none"
        )
        if self.notes:
            rows["notes"] = " ".join(self.notes)
        return tables.as_text(rows)


def _is_pair(point: Any) -> bool:
    return isinstance(point, Sequence) and not isinstance(point, str) and len(point) == 2


def _short(values: Array) -> str:
    return np.array2string(np.asarray(values), threshold=8, edgeitems=2, precision=6).replace(
        "\n", "\n" + " " * 12
    )
