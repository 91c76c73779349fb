"""A body on the unit circle under a force that depends on its velocity.

Index 3, reference from the polar form.
"""

from __future__ import annotations

import numpy as np

from herk.core import Problem
from herk.model.model import Model
from testset.stored import stored

TAGS = ("index3", "mechanical", "nonstiff", "holonomic", "autonomous", "second_order", "hessenberg")
SOURCE = (
    "L. Wunderlich, Semi-explicit Systems of Second Order Differential-Algebraic Equations (2005), Section 3,"
    " systems (62) and (64)"
)


def problem(t_end: float = 0.1) -> Problem:
    """Return system (64), as printed; (sin t, cos t) would solve it only with y2^2 in place of y2'^2."""
    start = (0.0, 1.0, 1.0, 0.0, 0.0)
    model = Model(
        "unit_circle",
        ["y1", "y2", "v1", "v2", "lam"],
        [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0]],
        ["v1", "v2", "-y1 - 2*y1*v1*v2 - 2*y1*lam", "-v1 + 2*y1*v2**2 - 2*y2*lam", "y1**2 + y2**2 - 1"],
        t_span=(0.0, t_end),
        y0=start,
    )
    return Problem(
        name="unit_circle",
        title="Body on the unit circle",
        t_span=model.t_span,
        y0=np.array(start),
        source=SOURCE,
        model=model,
        reference=stored("unit_circle", t_end),
        groups={"positions": (0, 1), "velocities": (2, 3), "multipliers": (4,)},
        tags=frozenset(TAGS),
    )
