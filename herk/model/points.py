"""Points (t, y) at which all constraints found so far hold, to many digits: where ranks are decided.

Some lie near the start of the model (they decide), some far from it (they only raise doubts). All are found by Newton's method from
starts with fixed seeds, so that the same model always gives the same answer.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import mpmath
import sympy as sp

from herk.model.gradient import gradient
from herk.model.tape import Tape

if TYPE_CHECKING:
    from herk.model.model import Model

DIGITS = 50
NEAR = (1e-3, 1e-2, 5e-2)
FAR = (0.3, 1.0)
Number = Any  # mpmath.mpf


@dataclass(frozen=True)
class Point:
    """One point; `near` the start of the model or not; `slot` says from which start it came."""

    t: Number
    y: tuple[Number, ...]
    near: bool
    slot: int


class OutsideError(ArithmeticError):
    """An expression has no finite real value at this point."""


def evaluator(model: Model, expressions: Sequence[sp.Expr]) -> Callable[[Point], list[Number]]:
    """Return a function that evaluates the expressions at a point with the parameters of the model, in the current precision."""
    tape = Tape((model.t, *model.states, *model.parameters), expressions)
    parameters = [mpmath.mpf(value) for value in model.parameters.values()]

    def values(point: Point) -> list[Number]:
        try:
            raw = [mpmath.mpmathify(value) for value in tape([point.t, *point.y, *parameters])]
        except (ArithmeticError, ValueError, TypeError) as error:
            raise OutsideError(str(error)) from None
        if not all(isinstance(value, mpmath.mpf) and mpmath.isfinite(value) for value in raw):
            raise OutsideError("not real and finite")
        return raw

    return values


def steady(values: Callable[[Point], list[Number]], point: Point) -> list[Number]:
    """Return the values at a point, with zeros for those that are nothing but the error of the point: a nudge changes them altogether."""
    nudge = mpmath.mpf(10) ** (10 - DIGITS)
    moved = replace(point, y=tuple(v + nudge * (abs(v) + 1) * (1 + (j * 7 % 5)) / 5 * (-1) ** j for j, v in enumerate(point.y)))
    pairs = zip(values(point), values(moved), strict=True)
    return [value if abs(value - other) <= 1e-6 * abs(value) else mpmath.mpf(0) for value, other in pairs]


def negligible(model: Model, expr: sp.Expr) -> bool:
    """Tell whether a factor made of parameters alone is zero, or only the rounding of parameters that cancel."""
    if expr.is_number or not expr.free_symbols <= set(model.parameters):
        return False
    terms = [*sp.Add.make_args(sp.expand(expr)), expr]
    with mpmath.workdps(DIGITS):
        try:
            *parts, value = evaluator(model, terms)(Point(mpmath.mpf(0), (mpmath.mpf(0),) * model.n, True, 0))
        except OutsideError:
            return False
    return bool(abs(value) <= 1e-14 * max(map(abs, parts)))


# Tries for one point in turn: how far from y0 in units of the wanted spread, and how far a component that is zero may move.
_TRIES = ((1.0, 1.0), (0.1, 1.0), (1.0, 0.0), (3.0, 1.0), (1e-3, 1.0), (10.0, 1.0), (100.0, 1.0), (1e-6, 1.0))


def starts(model: Model) -> list[list[Point]]:
    """Return, for each point wanted, the starts to try in turn: around y0 and, where that is missing, anywhere of size one."""
    source = random.Random(20240607)  # noqa: S311 - points, not secrets
    wanted = [(spread, True) for spread in NEAR] + [(spread, False) for spread in FAR]
    return [
        [_start(model, source, spread * stretch, floor, near, slot) for stretch, floor in _TRIES]
        for slot, (spread, near) in enumerate(wanted)
    ]


def _start(model: Model, source: random.Random, spread: float, floor: float, near: bool, slot: int) -> Point:
    t0, t1 = model.t_span
    shift = min(0.01, spread) * source.random() if near else source.random()
    y = []
    for value in model.y0:
        noise = 2 * source.random() - 1
        y.append(mpmath.mpf(noise * max(1.0, spread) if value is None else value + spread * (abs(value) + floor) * noise))
    return Point(mpmath.mpf(t0 + (t1 - t0) * shift), tuple(y), near, slot)


@dataclass
class Projection:
    """Newton's method onto g = 0 at fixed t, with the shortest corrections."""

    model: Model
    constraints: Sequence[sp.Expr]

    def __post_init__(self) -> None:
        """Compile residuals and the entries of the Jacobian that are not zero."""
        slopes = [gradient(c) for c in self.constraints]
        self._places = [(i, j) for i, slope in enumerate(slopes) for j, s in enumerate(self.model.states) if s in slope]
        self._values = evaluator(self.model, [*self.constraints, *(slopes[i][self.model.states[j]] for i, j in self._places)])

    def gradients(self, point: Point) -> list[dict[int, Number]]:
        """Return the rows of g_y, with zeros for entries that vanish where the constraints hold."""
        return self._unpacked(steady(self._values, point))[1]

    def evaluate(self, point: Point) -> tuple[list[Number], list[dict[int, Number]]]:
        """Return g and the rows of g_y."""
        return self._unpacked(self._values(point))

    def _unpacked(self, values: list[Number]) -> tuple[list[Number], list[dict[int, Number]]]:
        m = len(self.constraints)
        rows: list[dict[int, Number]] = [{} for _ in range(m)]
        for (i, j), value in zip(self._places, values[m:], strict=True):
            if value:
                rows[i][j] = value
        return values[:m], rows

    def onto(self, point: Point, digits: int = DIGITS) -> Point | None:
        """Return the point moved onto g = 0, or None if Newton's method does not get there."""
        with mpmath.workdps(digits):
            try:
                residual, rows = self.evaluate(point)
            except OutsideError:
                return None
            before = mpmath.inf
            for _ in range(60):
                step = _shortest(residual, rows, point.y)
                small = max((abs(d) / (abs(v) + 1) for d, v in zip(step, point.y, strict=True)), default=0)
                found = self._damped(point, step, _size(residual, rows), small)
                # Slow convergence close to a solution means a gradient that vanishes there, as that of a square.
                if found is None or (before < 1e-6 and small > before**1.3):
                    return None
                before = small
                point, residual, rows = found
                if small < mpmath.mpf(10) ** (-digits // 2 - 5):
                    return point if _size(residual, rows) < mpmath.mpf(10) ** (8 - digits) else None
        return None

    def _damped(self, point: Point, step: list[Number], size: Number, small: Number) -> tuple[Point, list[Number], Any] | None:
        for halvings in range(12):
            moved = replace(point, y=tuple(v + d / 2**halvings for v, d in zip(point.y, step, strict=True)))
            try:
                residual, rows = self.evaluate(moved)
            except OutsideError:
                continue
            if small < 1e-12 or _size(residual, rows) < size or size == 0:
                return moved, residual, rows
        return None


def _size(residual: list[Number], rows: list[dict[int, Number]]) -> Number:
    """Return the largest residual, each measured in units of its gradient."""
    return max(
        (abs(r) / (max(map(abs, row.values()), default=1) or 1) for r, row in zip(residual, rows, strict=True)), default=mpmath.mpf(0)
    )


def _shortest(residual: list[Number], rows: list[dict[int, Number]], y: Sequence[Number]) -> list[Number]:
    """Return the shortest d (relative to y) with J d = -r, by the normal equations; rows that depend on others are passed over."""
    weights = [abs(v) + 1 for v in y]
    scaled, right = [], []
    for r, row in zip(residual, rows, strict=True):
        largest = max((abs(v) * weights[j] for j, v in row.items()), default=mpmath.mpf(0))
        if largest:
            scaled.append({j: v * weights[j] / largest for j, v in row.items()})
            right.append(-r / largest)
    factors = _solve_gram(scaled, right)
    step = [mpmath.mpf(0)] * len(y)
    for u, row in zip(factors, scaled, strict=True):
        for j, v in row.items():
            step[j] += u * v * weights[j]
    return step


def _solve_gram(rows: list[dict[int, Number]], right: list[Number]) -> list[Number]:
    """Solve (J J^T) u = right by Cholesky's method without roots; pivots at rounding level get u = 0."""
    m = len(rows)
    gram = [[sum((a * b[j] for j, a in rows[i].items() if j in (b := rows[k])), mpmath.mpf(0)) for k in range(i + 1)] for i in range(m)]
    limit = mpmath.mpf(10) ** (-(mpmath.mp.dps * 3) // 5)
    x = list(right)
    for i in range(m):
        for k in range(i):
            if gram[i][k] and gram[k][k]:
                factor = gram[i][k] / gram[k][k]
                for c in range(k + 1, i + 1):
                    gram[i][c] -= factor * (gram[c][k] if c < i else gram[i][k])
                x[i] -= factor * x[k]
        if abs(gram[i][i]) < limit:
            gram[i][i] = mpmath.mpf(0)
    return _back(gram, x)


def _back(gram: list[list[Number]], x: list[Number]) -> list[Number]:
    u = list(x)
    for i in reversed(range(len(u))):
        if not gram[i][i]:
            u[i] = mpmath.mpf(0)
            continue
        u[i] = (x[i] - sum((gram[k][i] * u[k] for k in range(i + 1, len(u))), mpmath.mpf(0))) / gram[i][i]
    return u
