"""One smooth branch at a time: conditions on the state become modes, unknowns that are 0 or 1."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.relational import GreaterThan, LessThan, Relational, StrictGreaterThan, StrictLessThan

from herk.core import Switches
from herk.core.dae import Array
from herk.model.deciding import distances
from herk.model.functions import floor
from herk.model.model import Model

MOST_KNOWN = 32
_known: OrderedDict[tuple[str, tuple[sp.Expr, ...]], Model] = OrderedDict()  # models in modes
TINIEST = 1e-300
BY_PIECES = (sp.Piecewise, sp.Abs, sp.sign, sp.Heaviside, sp.Max, sp.Min, sp.floor, sp.ceiling)
ABOVE, BELOW = (GreaterThan, StrictGreaterThan), (LessThan, StrictLessThan)


def switches_of(model: Model, found: Sequence[sp.Expr], *, unasked: bool = False) -> Switches | None:
    """Return the model with a mode for each of these of its conditions; None if there are none."""
    if not found:
        return None
    events = tuple(Distance.of(model, function) for function in found)
    start = np.array([0.0 if value is None else value for value in model.y0], dtype=float)
    begun = [float(event(model.t_span[0], start) > 0) for event in events]
    extended = _in_modes(model, tuple(found))
    extended._set(parameters=model.parameters, t_span=model.t_span)
    return Switches(extended.with_start([*model.y0, *begun]).form("overdetermined"), events, unasked)


def _in_modes(model: Model, found: tuple[sp.Expr, ...]) -> Model:
    """Return the model with a mode for every condition, an unknown with the derivative 0."""
    key = model.structure, found
    if key not in _known:
        n, k = model.n, len(found)
        modes = [sp.Symbol(f"mode_{i}_of_{model.name}", real=True) for i in range(k)]
        branches = Branches(model, dict(zip(found, modes, strict=True)))
        E = sp.zeros(n + k, n + k)
        E[:n, :n], E[n:, n:] = branches.smooth_matrix(sp.Matrix(model.E)), sp.eye(k)
        f = [*branches.smooth_matrix(sp.Matrix(model.f)), *([0] * k)]
        given = {"t": model.t, "parameters": dict(model.parameters), "t_span": model.t_span}
        states = [*model.states, *modes]
        _known[key] = Model(f"{model.name}_in_modes", states, E, f, y0=[None] * (n + k), **given)
        while len(_known) > MOST_KNOWN:
            _known.popitem(last=False)
    return copy(_known[key])


@dataclass(frozen=True)
class Distance:
    """A switching function (t, y) -> float, in units of its terms at the start."""

    text: str
    names: tuple[str, ...]
    scale: float
    label: str = ""
    step: bool = False  # the sine of pi times the function: a whole number belongs to what is above it

    @classmethod
    def of(cls, model: Model, function: sp.Expr) -> Distance:
        """Insert the values of the parameters."""
        values = {p: sp.Float(value) for p, value in model.parameters.items()}
        step = isinstance(function, sp.sin)
        plain = (function.args[0] / sp.pi if step else function).xreplace(values)
        at = {s: 0.0 if v is None else v for s, v in zip(model.states, model.y0, strict=True)}
        sizes = [
            abs(complex(term.evalf(subs=at | {model.t: model.t_span[0]}))) for term in sp.Add.make_args(plain)
        ]
        size = 1.0 if step else max((each for each in sizes if 0.0 < each < np.inf), default=1.0)
        names = (str(model.t), *(f"y{i}" for i in range(model.n)))
        renamed = plain.xreplace(dict(zip(model.states, map(sp.Symbol, names[1:]), strict=True)))
        return cls(sp.sstr(renamed), names, size, sp.sstr(function), step)

    def __call__(self, t: float, y: Array) -> float:
        """Return the value."""
        value = float(_compiled(self.text, self.names)(t, *y)) / self.scale
        if not self.step or not math.isfinite(value):
            return value
        below = math.floor(value)
        return (1 - 2 * (below % 2)) * max(math.sin(math.pi * (value - below)), TINIEST)

    def sampled(self, t: Array, y: Array) -> tuple[Array, Array]:
        """Return values at states by rows, and phases (times x phases), in turns, of what oscillates."""
        one, turned = _compiled(self.text, self.names), _phases(self.text, self.names)
        values = _columns(lambda *at: [one(*at)], t, y)[:, 0] / self.scale
        phases = y[:, :0] if turned is None else _columns(turned, t, y)
        if not self.step:
            return values, phases
        below = np.floor(values)
        rises = (1.0 - 2.0 * (below % 2.0)) * np.maximum(np.sin(np.pi * (values - below)), TINIEST)
        return rises, np.hstack([phases, 0.5 * values[:, None]])


def _columns(function: Callable[..., Any], t: Array, y: Array) -> Array:
    """Return the values of formulas at many states, a column each."""
    try:
        found = function(t, *y.T)
        columns = np.empty((t.size, len(found)))
        for i, each in enumerate(found):
            columns[:, i] = each
    except (TypeError, ValueError):  # some formulas take one number at a time
        rows = [function(time, *state) for time, state in zip(t, y, strict=True)]
        return np.array(rows, dtype=float).reshape(t.size, -1)
    return columns


@lru_cache(maxsize=256)
def _phases(text: str, names: tuple[str, ...]) -> Callable[..., Any] | None:
    """Return what is turned round in a function, in turns; None if nothing is."""
    function = sp.sympify(text)
    found = [each.args[0] / (2 * sp.pi) for each in function.atoms(sp.sin, sp.cos, sp.tan)]
    found += [each.args[0] / 2 for each in function.atoms(sp.floor, sp.ceiling)]  # turned once in two steps
    found += [each.args[0] / each.args[1] / 2 for each in function.atoms(sp.Mod)]
    moving = [each for each in dict.fromkeys(found) if each.free_symbols]
    return sp.lambdify([sp.Symbol(name) for name in names], moving, ["scipy", "numpy"]) if moving else None


@lru_cache(maxsize=256)
def _compiled(text: str, names: tuple[str, ...]) -> Callable[..., float]:
    return sp.lambdify([sp.Symbol(name) for name in names], sp.sympify(text), ["scipy", "numpy"])  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Branches:
    """Rewrites formulas so that modes choose their branches."""

    model: Model
    modes: dict[sp.Expr, sp.Symbol]

    def smooth_matrix(self, matrix: sp.Matrix) -> sp.Matrix:
        """Return the matrix with smooth entries."""
        return matrix.applyfunc(self.smooth)

    def smooth(self, e: sp.Expr) -> sp.Expr:
        """Return a formula whose branches are chosen by modes."""
        if not e.args or not e.has(*BY_PIECES):
            return e
        if isinstance(e, sp.Piecewise):
            return sp.Piecewise(*((self.smooth(value), self.condition(when)) for value, when in e.args))
        if isinstance(e, (sp.Abs, sp.sign, sp.Heaviside)) and self.has_mode(e.args[0]):
            mode = self.mode(e.args[0])
            sign = 2 * mode - 1
            return (
                sign * self.smooth(e.args[0])
                if isinstance(e, sp.Abs)
                else sign
                if isinstance(e, sp.sign)
                else mode
            )
        if isinstance(e, (sp.Max, sp.Min)) and any(map(self.has_mode, distances(e))):
            return self.extreme(e)
        if isinstance(e, (sp.floor, sp.ceiling)) and self.has_mode(sp.sin(sp.pi * e.args[0])):
            return self.step(e)
        return e.func(*(self.smooth(argument) for argument in e.args))

    def step(self, e: sp.Expr) -> sp.Expr:
        """Return the whole number below or above: an even or an odd one, by functions that step elsewhere."""
        even, inside = self.mode(sp.sin(sp.pi * e.args[0])), self.smooth(e.args[0])
        half = sp.Rational(1, 2)
        below = 2 * (even * floor((inside + half) / 2) + (1 - even) * floor((inside - half) / 2)) + 1 - even
        return below + 1 if isinstance(e, sp.ceiling) else below

    def extreme(self, e: sp.Expr) -> sp.Expr:
        """Return the largest or smallest argument as a sum in which modes leave one."""
        total = sp.S.Zero
        for first in e.args:
            chosen = sp.S.One
            for second in e.args:
                if second is not first:
                    ahead = first - second if isinstance(e, sp.Max) else second - first
                    chosen *= self.mode(ahead) if self.has_mode(ahead) else sp.Heaviside(ahead, 1)
            total += chosen * self.smooth(first)
        return total

    def condition(self, when: sp.Basic) -> sp.Basic:
        """Return a condition in which comparisons of states are those of modes."""
        if isinstance(when, Relational):
            if not self.has_mode(when.lhs - when.rhs):
                return when
            if not isinstance(when, (*ABOVE, *BELOW)):  # an equality holds at points alone
                return sp.true if isinstance(when, sp.Ne) else sp.false
            mode = self.mode(when.lhs - when.rhs)
            return (
                sp.Gt(mode, sp.Rational(1, 2)) if isinstance(when, ABOVE) else sp.Lt(mode, sp.Rational(1, 2))
            )
        return when.func(*(self.condition(part) for part in when.args)) if when.args else when

    def has_mode(self, function: sp.Expr) -> bool:
        """Tell whether the sign of this function is a mode."""
        return function in self.modes or -function in self.modes

    def mode(self, function: sp.Expr) -> sp.Expr:
        """Return 1 where this function is positive."""
        return self.modes[function] if function in self.modes else 1 - self.modes[-function]
