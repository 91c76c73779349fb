"""The parts of a large system as compiled steps want them: functions, factors, and when these are renewed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from herk.codegen.on_patterns import Divided
from herk.integrate.steppers.half_explicit.layout import HalfExplicit
from herk.integrate.steppers.half_explicit.parts import Part
from herk.linalg.sparse_lu import SparseLU, operations

CHEAP = 4.0  # iterations that factors may cost where every stage has its own
# Contractions from which on factors are renewed that cost a few iterations, or many.
SLOW, FILLED_SLOW = 0.03, 0.1
MANY = 4.0  # iterations


def put_parts(state: HalfExplicit, divided: Divided | None, factors: Sequence[SparseLU]) -> list[Part]:
    """Let a state have parts with these factors; all constraints are one if they are not divided.

    Parts and factors must live as long as the state is used.
    """
    made, first = [], 0
    for k, each in enumerate(factors):
        part = Part(rows=each.size)
        part.factors, part.first, part.count, part.last = (
            each.address,
            first,
            each.size,
            k == len(factors) - 1,
        )
        part.rows[:] = np.sort(each.row)
        first += each.size
        price = np.divide(*operations(each))
        part.cheap, part.slow = price <= CHEAP, FILLED_SLOW if price > MANY else SLOW
        part.contraction = 0.1
        if divided is None:
            part.at_g, part.at_jac = state.at_g, state.at_jac_g if state.have_jacobian else 0
            part.at_square, part.cheap = part.at_jac, 0
        else:
            name = "last" if part.last else "held"
            part.at_g, part.at_jac = (divided.functions[f"{what}_{name}"].entry for what in ("g", "jac"))
            part.at_square = divided.functions["square"].entry if part.last else part.at_jac
            part.linear = part.last and divided.linear
        made.append(part)
    state.bind("parts", np.array([part.address for part in made], dtype=np.int64))
    return made
