"""A test problem: equations, start, span, and what is known about its solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from herk.core.dae import Array, Dae
from herk.core.errors import InputError


@dataclass(frozen=True)
class Reference:
    """A trusted solution: end values, how they were verified, and what is in print.

    Parameters
    ----------
    t, y : float, array
        The end of the span and the solution there.
    digits : float
        How many digits of y are known to be right.
    source : str
        Where the values come from.
    exact : callable, optional
        The solution as a function of t, where there is a formula.
    how : str, optional
        How the values were verified.
    published, published_digits, published_note : optional
        What is in print, NaN where it is not; how many digits of that are right; and what to know about it.

    Examples
    --------
    >>> import herk, numpy as np
    >>> ref = herk.Reference(t=1.0, y=[np.exp(-1.0)], digits=15, source="exact", exact=lambda t: [np.exp(-t)])
    >>> ref.digits
    15

    """

    t: float
    y: Array
    digits: float
    source: str
    exact: Callable[[float], Array] | None = None
    how: str = ""
    published: Array | None = None
    published_digits: float | None = None
    published_note: str = ""

    def __post_init__(self) -> None:
        """Freeze the end values."""
        object.__setattr__(self, "y", _frozen(self.y))
        if self.y.ndim != 1 or not np.isfinite(self.digits):
            raise InputError("A reference has a vector y and a finite number of correct digits.")
        if self.published is not None:
            object.__setattr__(self, "published", _frozen(self.published))
            if np.shape(self.published) != self.y.shape:
                raise InputError(
                    "The published values of a reference have as many components as y; NaN stands for those"
                    " not printed."
                )


@dataclass(frozen=True)
class Invariant:
    """A quantity that stays constant along the exact solution, such as an energy.

    Parameters
    ----------
    name : str
        What it is called.
    value : callable
        A function (t, y) -> float.

    Examples
    --------
    >>> import herk
    >>> herk.Invariant("energy", lambda t, y: y[0] ** 2 + y[1] ** 2).value(0.0, [3.0, 4.0])
    25.0

    """

    name: str
    value: Callable[[float, Array], float]


@dataclass(frozen=True)
class Switches:
    """Equations that change where functions of the state change sign.

    The present branch of each being one more unknown, its mode.

    `dae` is the overdetermined system with len(events) unknowns appended: modes, 0 or 1, with mode' = 0. Mode
    i is 1 while events[i](t, y) > 0 (y without modes; scaled to values of order one). A run ends at a sign
    change, changes the mode and goes on.
    """

    dae: Dae
    events: tuple[Callable[[float, Array], float], ...]
    unasked: bool = False  # found by the program: their times are not among the events of the user

    def modes(self, t: float, y: Array) -> Array:
        """Return the modes that belong to this state."""
        return np.array([float(event(t, y) > 0) for event in self.events])


@dataclass(frozen=True)
class Problem:
    """One problem of the test set; `dae` is its overdetermined form, `model` its equations as written.

    A problem given by callables has no model: `given_dae` is its overdetermined form.

    Parameters
    ----------
    name, title, source : str
        What it is called, in short and in words, and where it comes from.
    t_span, y0 : (float, float), array
        Span and start, consistent.
    model : Model, optional
        Its equations as written.
    given_dae, given_forms : Dae, mapping of Dae, optional
        The overdetermined form and those other solvers need, where there is no model.
    reference : Reference, optional
        What is known about the solution.
    invariants : sequence of Invariant, optional
        What stays constant.
    groups : mapping, optional
        Components that belong together: positions, velocities, multipliers.
    tags : set of str, optional
        Such as "stiff".
    breakpoints : sequence of float, optional
        Times at which the right-hand side is not smooth; a solver does well to start anew there.
    switches : Switches, optional
        Equations that change where functions of the state change sign.
    sizes : sequence of float, optional
        Given where one absolute tolerance for all components makes no sense: the units of a single atol.
    net : callable, optional
        y -> points in space (rows x columns x 3) of a net, for pictures.

    Examples
    --------
    >>> import herk, testset
    >>> problem = testset.get("pendulum")
    >>> herk.solve_dae(problem, rtol=1e-8).success
    True

    """

    name: str
    title: str
    t_span: tuple[float, float]
    y0: Array
    source: str
    model: Any = None
    given_dae: Dae | None = field(default=None, repr=False)
    reference: Reference | None = None
    invariants: tuple[Invariant, ...] = ()
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    tags: frozenset[str] = frozenset()
    breakpoints: tuple[float, ...] = ()
    given_forms: Mapping[str, Dae] = field(default_factory=dict, repr=False)
    switches: Switches | None = field(default=None, repr=False)
    sizes: tuple[float, ...] = ()
    net: Callable[[Array], Array] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Validate what can be checked without computing."""
        if self.model is None and self.given_dae is None:
            raise InputError(f"Problem {self.name!r} needs a model or a Dae.")
        object.__setattr__(self, "tags", frozenset(self.tags))
        object.__setattr__(self, "t_span", (float(self.t_span[0]), float(self.t_span[1])))
        y0 = _frozen(self.y0)
        object.__setattr__(self, "y0", y0)
        object.__setattr__(self, "breakpoints", tuple(sorted(float(time) for time in self.breakpoints)))
        for group, members in self.groups.items():
            if not all(0 <= i < len(y0) for i in members):
                raise InputError(
                    f"Group {group!r} of problem {self.name!r} names components outside 0..{len(y0) - 1}."
                )
        if self.sizes and (len(self.sizes) != len(y0) or not min(self.sizes) > 0):
            raise InputError(
                f"Problem {self.name!r} needs a positive size for each of its {len(y0)} components, or none"
                " at all."
            )

        begun = getattr(self.model, "y0", ())
        if any(its is not None and its != mine for mine, its in zip(y0, begun, strict=False)):
            object.__setattr__(
                self, "model", self.model.with_start(y0.tolist())
            )  # or its forms would start elsewhere

    def atol(self, value: float) -> float | tuple[float, ...]:
        """Return the absolute tolerance of every component that is `value` in units of its size."""
        return tuple(value * size for size in self.sizes) if self.sizes else value

    @property
    def dae(self) -> Dae:
        """Return the overdetermined form, all constraints included."""
        return self.given_dae if self.given_dae is not None else self.model.form("overdetermined")

    def form(self, name: str) -> Dae:
        """Return a form of the equations: given with the problem, or derived from its model."""
        if name == "overdetermined":
            return self.dae
        if name in self.given_forms:
            return self.given_forms[name]
        if self.model is None:
            known = ", ".join(["overdetermined", *self.given_forms])
            raise InputError(
                f"Problem {self.name!r} is given by callables, as {known}; there is no model to derive"
                f" {name!r} from."
            )
        derived: Dae = self.model.form(name)
        return derived


def _frozen(values: Array) -> Array:
    copy = np.array(values, dtype=float)
    copy.setflags(write=False)
    return copy
