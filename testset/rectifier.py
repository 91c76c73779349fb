"""Bridge rectifier: four diodes between a source of alternating voltage and a load with capacitor. Index 1.

Two of the diodes conduct while the source charges the capacitor, none while the load discharges it. Small
capacitors beside the diodes, which suppress interference in practice, give the fast time constants.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from herk.core import Problem
from herk.model.entries import t
from herk.model.model import Model
from testset.stored import stored

TAGS = ("index1", "circuit", "nonlinear", "mildly_stiff", "oscillatory", "further")
SOURCE = (
    "Textbook circuit (L. Graetz 1897) with exponential diodes (W. Shockley 1949) and a capacitor beside"
    " each; elements chosen for this set"
)


def problem(
    t_end: float = 0.034, U: float = 5.0, Rs: float = 10.0, R: float = 1000.0, C: float = 1e-5,
    Cd: float = 1e-6, Is: float = 1e-6, UT: float = 0.052,
) -> Problem:  # fmt: skip
    """Return the rectifier, fed by U sin(100 pi t) through Rs; e3 is the voltage of the load.

    A diode carries Is (exp(u/UT) - 1), the capacitor beside it Cd u'.
    """
    values = {"U": U, "Rs": Rs, "R": R, "C": C, "Cd": Cd, "Is": Is, "UT": UT}
    e1, e2, e3, current = states = sp.symbols("e1 e2 e3 iS", real=True)
    high, inner, load, capacity, small, saturation, thermal = symbols = sp.symbols(list(values), real=True)

    def diode(u: sp.Expr) -> sp.Expr:
        return saturation * (sp.exp(u / thermal) - 1)

    f = [
        current - diode(e1 - e3) + diode(-e1),
        -current - diode(e2 - e3) + diode(-e2),
        diode(e1 - e3) + diode(e2 - e3) - e3 / load,
        e1 - e2 + inner * current - high * sp.sin(100 * sp.pi * t),
    ]
    inside = small * sp.Matrix([[2, 0, -1], [0, 2, -1], [-1, -1, 2]])
    E = sp.diag(inside + sp.diag(0, 0, capacity), 0)
    numbers = dict(zip(symbols, values.values(), strict=True))
    model = Model("rectifier", states, E, f, t=t, parameters=numbers, t_span=(0.0, t_end), y0=(0.0,) * 4)
    return Problem(
        name="rectifier",
        title="Bridge rectifier",
        t_span=model.t_span,
        y0=np.zeros(4),
        source=SOURCE,
        model=model,
        reference=stored("rectifier", t_end, **values),
        groups={"voltages": (0, 1, 2), "currents": (3,)},
        tags=frozenset(TAGS),
    )
