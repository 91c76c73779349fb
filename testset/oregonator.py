"""Oregonator: the Belousov-Zhabotinsky reaction as a stiff limit cycle.

An ODE, here because other suites list it among the DAEs.
"""

from __future__ import annotations

import numpy as np

from herk.core import Problem
from herk.model.model import Model
from testset.stored import stored

TAGS = ("index0", "chemistry", "nonlinear", "stiff", "oscillatory", "autonomous")
SOURCE = "R. J. Field, R. M. Noyes 1974; Test Set for IVP Solvers (CWI/Bari), problem orego"


def problem(t_end: float = 360.0, s: float = 77.27, q: float = 8.375e-6, w: float = 0.161) -> Problem:
    """Return the reaction; references are stored for t_end = 30 and 360."""
    start, parameters = (1.0, 2.0, 3.0), {"s": s, "q": q, "w": w}
    model = Model(
        "oregonator",
        ["y1", "y2", "y3"],
        np.eye(3, dtype=int),
        ["s*(y2 + y1*(1 - q*y1 - y2))", "(y3 - (1 + y1)*y2)/s", "w*(y1 - y3)"],
        parameters=parameters,
        t_span=(0.0, t_end),
        y0=start,
    )
    return Problem(
        name="oregonator",
        title="Oregonator",
        t_span=model.t_span,
        y0=np.array(start),
        source=SOURCE,
        model=model,
        reference=stored("oregonator", t_end, **parameters),
        groups={"concentrations": (0, 1, 2)},
        tags=frozenset(TAGS),
    )
