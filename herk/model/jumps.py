"""Which conditions on the state make the equations jump: sign, Heaviside, and pieces that do not meet.

Where pieces meet (Abs, Max, Min, most models of diodes and transistors) the control of errors sees a kink
like any other change of curvature; at a jump its estimates mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from herk.codegen.equations import filled
from herk.core.dae import Array
from herk.model.deciding import distances
from herk.model.index_reduction.scales import scales

if TYPE_CHECKING:
    from herk.model.model import Model

MANY = 24  # conditions; of more it would take seconds to see which of them matter
POINTS, TRIES = 3, 12  # on the surface where a condition changes, near the start
FAR = 0.5  # how far from the start they are looked for, beside the sizes of the state
BESIDE = 1e-7  # from the surface, beside the size of the state: where both sides are compared
JUMP = 1e-2  # beside the size of a term; the square root of BESIDE is still none


def jumping(model: Model) -> tuple[sp.Expr, ...]:
    """Return those of the conditions of a model at which a term of E or f jumps, or may do so."""
    if not 0 < len(model.conditions) <= MANY:
        return ()
    terms = list(
        dict.fromkeys(
            term
            for entry in (*filled(model.E), *model.f)
            for term in sp.Add.make_args(entry)
            if any(True for _ in distances(term))
        )
    )
    near = Neighbourhood(model, terms)
    inside = [{each for s in distances(term) for each in (s, -s)} for term in terms]
    return tuple(
        surface
        for i, surface in enumerate(model.conditions)
        if near.differs(i, [surface in found for found in inside])
    )


class Neighbourhood:
    """Terms of the equations and conditions of a model as numbers, at places near the start."""

    def __init__(self, model: Model, terms: Sequence[sp.Expr]) -> None:
        """Choose the places, the same at every call."""
        self.symbols = [model.t, *model.states]
        values = {p: sp.Float(value) for p, value in model.parameters.items()}
        self.terms = self._function([term.xreplace(values) for term in terms])
        self.signs = self._function([surface.xreplace(values) for surface in model.conditions])
        self.columns = [
            [j for j, state in enumerate(model.states) if state in surface.free_symbols]
            for surface in model.conditions
        ]
        y0 = np.array([0.0 if value is None else value for value in model.y0])
        rng, (t0, t1) = np.random.default_rng(11), model.t_span
        self.units = np.array(scales(model).y)
        away = FAR * rng.standard_normal((TRIES, y0.size)) * (np.abs(y0) + self.units)
        times = t0 + rng.random(TRIES) * (t1 - t0)
        self.places = [(float(t), y0 + row) for t, row in zip(times, away, strict=True)]
        with np.errstate(all="ignore"):
            found = np.array([np.abs(self.terms(*place)) for place in self.places])
        self.sizes = np.where(np.isfinite(found), found, 0.0).max(axis=0)

    def differs(self, which: int, inside: Sequence[bool]) -> bool:
        """Tell whether terms differ on both sides of a surface; yes where that cannot be seen."""
        seen, chosen = 0, np.array(inside)
        with np.errstate(all="ignore"):
            for t, y, j in self._on(which):
                beside = BESIDE * self._size(y, j)
                low, high = (self.terms(t, _moved(y, j, sign * beside))[chosen] for sign in (-1, 1))
                if not np.isfinite(high - low).all():
                    continue
                sizes = np.maximum(np.maximum(np.abs(low), np.abs(high)), self.sizes[chosen])
                if (np.abs(high - low) > JUMP * sizes).any():
                    return True
                seen += 1
                if seen == POINTS:
                    return False
        return True

    def _function(self, formulas: Sequence[sp.Expr]) -> Callable[[float, Array], Array]:
        """Return formulas as a function of time and state; not a number where they are not real."""
        compiled: Any = sp.lambdify(self.symbols, list(formulas), ["scipy", "numpy"])

        def values(t: float, y: Array) -> Array:
            found = np.array(compiled(t, *y), dtype=complex)
            return np.where(found.imag == 0.0, found.real, np.nan)

        return values

    def _on(self, which: int) -> Iterator[tuple[float, Array, int]]:
        """Yield times, states at which a condition changes, and a component along which it does."""
        for t, place in self.places:
            slopes = [self._slope(which, t, place, j) for j in self.columns[which]]
            j = self.columns[which][int(np.argmax(np.abs(np.nan_to_num(slopes))))]
            y = place
            for _ in range(12):
                slope = self._slope(which, t, y, j)
                if not 0.0 < abs(slope) < np.inf:
                    break
                y = _moved(y, j, -self.signs(t, y)[which] / slope)
            else:
                if abs(self.signs(t, y)[which]) < 1e-10 * abs(slope) * self._size(y, j):
                    yield t, y, j

    def _slope(self, which: int, t: float, y: Array, j: int) -> float:
        step = 1e-6 * self._size(y, j)
        ends = [self.signs(t, _moved(y, j, sign * step))[which] for sign in (-1, 1)]
        return float((ends[1] - ends[0]) / (2 * step))

    def _size(self, y: Array, j: int) -> float:
        return float(abs(y[j]) + self.units[j])


def _moved(y: Array, j: int, by: float) -> Array:
    """Return y with one component moved by so much."""
    found = y.copy()
    found[j] += by
    return found
