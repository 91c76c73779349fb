"""Points (t, y) at which ranks are judged.

The start itself, some near it (they decide), some far (they raise doubts).

Every distance is measured in the sizes of the unknowns, and random numbers have fixed seeds, one per unknown:
the same model gives the same answer in any units and in any order of its unknowns.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mpmath
import sympy as sp

from herk.codegen.numbers import exact
from herk.codegen.tape import Tape
from herk.core.dae import is_large
from herk.linalg.rank import CLEAN, ROUNDING
from herk.model.index_reduction.scales import Scales

if TYPE_CHECKING:
    from herk.model.model import Model

DIGITS = 50
NEAR = (1e-3, 1e-2, 5e-2)
FAR = (0.3, 1.0)
START = -1  # the slot of the start itself
Number = Any  # mpmath.mpf


@dataclass(frozen=True)
class Point:
    """One point, `near` the start or not.

    `slot` says where it came from, `sizes` how large y was on the way.
    """

    t: Number
    y: tuple[Number, ...]
    sizes: tuple[float, ...]
    near: bool
    slot: int


class OutsideError(ArithmeticError):
    """An expression has no finite real value at this point."""


class Evaluator:
    """Expressions at points, with the parameters of the model, in the current precision."""

    def __init__(self, model: Model, expressions: Sequence[sp.Expr]) -> None:
        """Write the operations down."""
        self._tape = Tape((model.t, *model.states, *model.parameters), expressions)
        self._parameters = list(model.parameters.values())
        self._fractions = [exact(value) for value in self._parameters]
        self._span = abs(model.t_span[1] - model.t_span[0])

    def exact(self, point: Point) -> list[Number]:
        """Return the values in many digits."""
        try:
            raw = self._tape([point.t, *point.y, *self._exactly()])
        except (ArithmeticError, ValueError, TypeError) as error:
            raise OutsideError(str(error)) from None
        return [_real(value) for value in raw]

    def _exactly(self) -> list[Number]:
        return [mpmath.mpf(value.p) / value.q for value in self._fractions]

    def floats(self, t: float, y: Sequence[float]) -> list[float]:
        """Return the values in doubles."""
        try:
            raw = [float(value) for value in self._tape.floats([t, *y, *self._parameters])]
        except (ArithmeticError, ValueError, TypeError, NameError) as error:  # no such function of doubles
            raise OutsideError(str(error)) from None
        if not all(value - value == 0.0 for value in raw):
            raise OutsideError("not finite")
        return raw

    def present(self, point: Point) -> None:
        """Raise OutsideError if an expression has no finite real value; doubles are asked first."""
        try:
            self.floats(float(point.t), [float(v) for v in point.y])
        except (OutsideError, OverflowError):
            self.exact(point)

    def sized(self, point: Point) -> list[tuple[Number, Number]]:
        """Return the values with the sizes of their terms."""
        values = [point.t, *point.y, *self._exactly()]
        sizes = [abs(point.t) or self._span, *point.sizes, *map(abs, self._parameters)]
        try:
            raw = self._tape.sized(values, [mpmath.mpf(size) for size in sizes])
        except (ArithmeticError, ValueError, TypeError) as error:
            raise OutsideError(str(error)) from None
        return [(_real(value), size) for value, size in raw]

    def cleaned(self, point: Point) -> list[Number]:
        """Return the values, with zeros for those that are nothing but what cancelling terms leave."""
        limit = ROUNDING if point.slot == START else CLEAN  # start values are doubles
        return [value if abs(value) > limit * size else mpmath.mpf(0) for value, size in self.sized(point)]


def _real(value: Number) -> Number:
    value = mpmath.mpmathify(value)
    if not (isinstance(value, mpmath.mpf) and mpmath.isfinite(value)):
        raise OutsideError("not real and finite")
    return value


def negligible(model: Model, expr: sp.Expr) -> bool:
    """Tell whether a factor made of parameters alone is zero, or the rounding of parameters that cancel."""
    if expr.is_number or not expr.free_symbols <= set(model.parameters):
        return False
    nowhere = Point(mpmath.mpf(0), (mpmath.mpf(0),) * model.n, (0.0,) * model.n, True, 0)
    with mpmath.workdps(DIGITS):
        try:
            ((value, size),) = Evaluator(model, [expr]).sized(nowhere)
        except OutsideError:
            return False
    return bool(abs(value) <= ROUNDING * size)


# Tries in turn: how far from y0, times the wanted spread, and how far a component that is zero may move.
_TRIES = ((1.0, 1.0), (0.1, 1.0), (1.0, 0.0), (3.0, 1.0), (1e-3, 1.0), (10.0, 1.0), (100.0, 1.0), (1e-6, 1.0))


def slots() -> list[tuple[int, bool]]:
    """Return the numbers of the points wanted, and whether they are near."""
    return list(enumerate([True] * len(NEAR) + [False] * len(FAR)))


def starts(model: Model, scales: Scales, slot: int, thorough: bool) -> Iterator[Point]:
    """Yield the starts to try for one point.

    Around y0 and, where that is open, of the size of the unknown.
    """
    spread = (*NEAR, *FAR)[slot]
    near = slot < len(NEAR)
    t0, t1 = model.t_span
    few = 1 if is_large(model.n) else 3  # far points of a large model are rarely reached, and cost most
    for number, (stretch, floor) in enumerate(_TRIES if thorough else _TRIES[:few]):
        clock = random.Random(f"{slot} {number}").random()  # noqa: S311 - points, not secrets
        shift = min(0.01, spread * stretch) * clock if near else clock
        y, sizes = [], []
        for name, value, scale in zip(model.names, model.y0, scales.y, strict=True):
            noise = 2 * random.Random(f"{slot} {number} {name}").random() - 1  # noqa: S311
            if value is None:
                y.append(mpmath.mpf(noise * max(1.0, spread * stretch) * scale))
            else:
                y.append(mpmath.mpf(value + spread * stretch * (abs(value) + floor * scale) * noise))
            sizes.append(max(abs(float(y[-1])), abs(value or 0.0), 1e-6 * scale))
        yield Point(mpmath.mpf(t0 + (t1 - t0) * shift), tuple(y), tuple(sizes), near, slot)


def start(model: Model, scales: Scales, near: Point) -> Point:
    """Return the start itself, with open components as at a point near it."""
    y = tuple(v if given is None else mpmath.mpf(given) for given, v in zip(model.y0, near.y, strict=True))
    sizes = tuple(max(abs(float(v)), scale) for v, scale in zip(y, scales.y, strict=True))
    return Point(mpmath.mpf(model.t_span[0]), y, sizes, True, START)
