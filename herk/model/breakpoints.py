"""Times at which a model shows that it is not smooth: where a condition on time alone changes."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from herk.model.equations import Equations


def switching_times(system: Equations) -> list[sp.Expr]:
    """Return formulas, in the parameters, for the times at which conditions a t + b < 0 of pieces change."""
    conditions = set().union(*(part.atoms(sp.core.relational.Relational) for part in (system.E, system.f)))
    known = {system.t, *system.parameters}
    found = []
    for condition in sorted(conditions, key=sp.default_sort_key):
        if system.t not in condition.free_symbols or not condition.free_symbols <= known:
            continue
        distance = condition.lhs - condition.rhs
        slope = sp.diff(distance, system.t)
        if system.t not in slope.free_symbols and not slope.is_zero:
            found.append(-distance.xreplace({system.t: sp.S.Zero}) / slope)
    return list(dict.fromkeys(found))


def breakpoints(formulas: Sequence[sp.Expr], values: dict[sp.Symbol, float]) -> tuple[float, ...]:
    """Return the finite ones of these times for values of the parameters."""
    numbers = [complex(formula.evalf(subs=values)) for formula in formulas]
    return tuple(sorted({number.real for number in numbers if not number.imag and abs(number.real) < 1e300}))
