"""What a solve returns: points, counters, and in words how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from herk.core import shown
from herk.core.dae import Array
from herk.core.errors import InputError
from herk.core.names import among, as_name, place
from herk.core.reason import Reason
from herk.results import tables


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
    ``dense_output=True`` was asked for.

    Attributes
    ----------
    t, y : array
        The times, and the components at them (n x times).
    success, status, reason, message
        How the run ended: for programs, by SciPy's rule, as a `Reason`, and in words.
    t_events, y_events : list of array
        Times and states at which each event happened.
    nstep, nreject, nfev, ngev, njev, nlu, nit : int
        Steps accepted and rejected; evaluations of f, of g and of Jacobians; factorisations; iterations.
    residual : float
        The largest residual of any constraint at any accepted point.
    selections : tuple
        From when on which components were computed from the constraints.
    method, methods
        The method asked for; which was in use from when on, and why.
    notes : tuple of str
        What is worth knowing, such as jumps.
    names, system, seconds
        Names of the components, of what was solved, and how long it took.
    defect, error_estimate
        On request: how well the points fit the equations, and a second run.
    yp, slopes
        y' at the points, and y' as a function of (t, y), where the equations are known.
    sensitivities : mapping
        On request: dy/dp by name; see `dyd`.

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
    unknowns: int | None = None  # of the system, if only some were saved
    names: tuple[str, ...] = ()
    system: str = ""
    method: str = ""
    methods: tuple[MethodUse, ...] = ()  # which method was in use from when on, and why
    seconds: float | None = field(default=None, compare=False)
    defect: float | None = None  # on request: the largest E y' - f between points, beside its terms
    error_estimate: Array | None = field(default=None, compare=False)  # on request, of every component
    sensitivities: Mapping[str, Array] | None = field(default=None, compare=False)  # on request, see dyd

    @classmethod
    def of(cls, values: dict[str, Any]) -> Solution:
        """Return a solution with these values, twenty times quicker than one field after another."""
        made = object.__new__(cls)
        object.__setattr__(made, "__dict__", values)
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
            raise InputError("This solution does not know its equations; use one that solve_dae returned.")
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
        return np.asarray(self.y[self.row(name)])

    def dyd(self, name: Any, component: Any = None) -> Array:
        """Return dy/dname (n x points), or that of one component.

        Parameters
        ----------
        name : str or symbol
            A parameter, or "y0:x" for the start value of x; it was named in ``sensitivities=``.
        component : str or symbol, optional
            The component wanted; all of them if not given.

        Examples
        --------
        >>> import herk
        >>> model = herk.Model.from_equations(
        ...     "decay", ["x' = -k*x"], parameters={"k": 1.0}, start={"x": 1}, t_span=(0, 1)
        ... )
        >>> sol = herk.solve_dae(model, sensitivities=["k"], rtol=1e-9)
        >>> round(float(sol.dyd("k", "x")[-1]), 6)  # x = exp(-k t)
        -0.367879

        """
        if self.sensitivities is None:
            raise InputError(
                f'No sensitivities were asked for; call solve_dae(..., sensitivities=["{as_name(name)}"]).'
            )
        found = self.sensitivities[among(name, self.sensitivities, "sensitivity of this solution")]
        return found if component is None else np.asarray(found[self.row(component)])

    def __contains__(self, name: object) -> bool:
        """Tell whether there is a component of this name."""
        return name in self.labels

    def __iter__(self) -> Any:
        """Refuse: a solution is read by name, or as the arrays t and y."""
        raise TypeError("A Solution is read by name, sol['x'], or as the arrays sol.t and sol.y.")

    def row(self, name: Any) -> int:
        """Return the row of y that a component has."""
        return place(name, self.labels, "component of this solution")

    def to_pandas(self) -> Any:
        """Return a pandas frame: one column for every component, the times as index.

        Examples
        --------
        >>> import herk, testset
        >>> frame = herk.solve_dae(testset.get("pendulum"), t_eval=[0.0, 2.0]).to_pandas()
        >>> frame["x"].round(4).tolist()  # after one period
        [-1.0, -1.0]

        """
        return tables.frame(self.t, dict(zip(self.labels, self.y, strict=True)))

    def plot(self, *names: Any, phase: tuple[Any, Any] | None = None, ax: Any = None) -> Any:
        """Draw components over time, or one over another, and return matplotlib's axes.

        With dense output the curves are smooth, otherwise they join the points.

        Parameters
        ----------
        *names : str or symbol
            The components to draw; all of them if none is named.
        phase : (str, str), optional
            ``phase=("x", "y")`` draws y over x instead.
        ax : optional
            Axes to draw on.

        Examples
        --------
        >>> import herk, testset
        >>> herk.solve_dae(testset.get("pendulum")).plot("x", "y").get_xlabel()
        't'

        """
        return shown.plot(self, names, phase, ax)

    def animate(
        self,
        path: str | Path,
        points: Sequence[tuple[Any, Any]],
        *,
        fps: int = 25,
        seconds: float | None = None,
    ) -> Path:
        """Write an animation of planar points to a file and return its path.

        Parameters
        ----------
        path : str or Path
            The file: .gif, .png, .webp or .html; .mp4 needs ffmpeg.
        points : sequence of pairs
            Pairs of names, or of numbers where a point is held: ``[(0, 0), ("x", "y")]`` is a pendulum.
            Neighbours are joined by lines.
        fps : int, optional
            Frames in a second.
        seconds : float, optional
            How long it lasts; as long as the span of the run if not given.

        Examples
        --------
        >>> import herk, testset
        >>> sol = herk.solve_dae(testset.get("pendulum"), dense_output=True)
        >>> path = sol.animate("pendulum.gif", [(0, 0), ("x", "y")])  # doctest: +SKIP

        """
        return shown.animate(self, path, points, fps, seconds)

    def summary(self) -> str:
        """Return what was solved, how it ended, what it took, and the range of every component, as text.

        Examples
        --------
        >>> import herk, testset
        >>> print(herk.solve_dae(testset.get("pendulum")).summary().splitlines()[0])
          solved: pendulum, t = 0 to 20, 5 unknowns

        """
        return tables.as_text(shown.facts(self), shown.components(self))

    def _repr_html_(self) -> str:
        return tables.as_html(shown.facts(self), shown.components(self))

    def __repr__(self) -> str:
        """Return SciPy's fields, arrays shortened, after what was solved and how it ended."""
        return shown.text(self)
