"""NAND gate of three MOSFETs: capacities that depend on the state, pulses as input.

A stiff implicit ODE C(y) y' = f(t, y).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import sympy as sp
from sympy import Rational

from herk.core import Problem
from herk.model.entries import t
from herk.model.model import Model
from testset.mosfet import Transistor, diode, junction
from testset.pulses import Pulse
from testset.stored import stored

TAGS = ("index0", "circuit", "nonlinear", "stiff", "discontinuous", "state_dependent_mass")
SOURCE = "M. Günther, P. Rentrop; Test Set for IVP Solvers (CWI/Bari), problem nand"
RG, RB, CG, CB, C9 = 4, 10, Rational("6e-5"), Rational("2.4e-5"), Rational("5e-5")
VDD, VBB, LEAK = 5, Rational("-2.5"), Rational("1e-14")
INPUTS = (Pulse(5, ("5", "5", "5", "5")), Pulse(5, ("15", "5", "15", "5")))
START = (5.0, 5.0, -2.5, -2.5, 5.0, 3.62385, 5.0, -2.5, -2.5, 3.62385, 0.0, 3.62385, -2.5, -2.5)
Y = sp.symbols("y1:15", real=True)
DEPLETION = Transistor(*map(Rational, ("-2.43", "0.2", "1.28", "5.35e-4", "5.35e-4")))
# The backward gain differs tenfold in every public program, and so in the reference.
ENHANCEMENT = Transistor(*map(Rational, ("0.2", "0.035", "1.01", "1.748e-3", "1.748e-4")))


def currents() -> list[Any]:
    """Return the right-hand side: the sums of the currents into the nodes."""
    y1, y2, y3, y4, y5, y6, y7, y8, y9, y10, y11, y12, y13, y14 = Y
    (v1, v2), (d1, d2) = [p.signal() for p in INPUTS], [p.slope() for p in INPUTS]
    i1 = DEPLETION.current(y2 - y1, y5 - y1, y3 - y5, y5 - y2, y4 - VDD)
    i2 = ENHANCEMENT.current(y7 - y6, v1 - y6, y8 - y10, v1 - y7, y9 - y5)
    i3 = ENHANCEMENT.current(y12 - y11, v2 - y11, y13, v2 - y12, y14 - y10)
    return [
        (y5 - y1) / RG - i1,
        (VDD - y2) / RG + i1,
        (VBB - y3) / RB + diode(y3 - y5, LEAK),
        (VBB - y4) / RB + diode(y4 - VDD, LEAK),
        (y1 - y5) / RG - diode(y3 - y5, LEAK) + (y7 - y5) / RG - diode(y9 - y5, LEAK),
        CG * d1 + (y10 - y6) / RG - i2,
        CG * d1 + (y5 - y7) / RG + i2,
        (VBB - y8) / RB + diode(y8 - y10, LEAK),
        (VBB - y9) / RB + diode(y9 - y5, LEAK),
        (y6 - y10) / RG - diode(y8 - y10, LEAK) + (y12 - y10) / RG - diode(y14 - y10, LEAK),
        CG * d2 - y11 / RG - i3,
        CG * d2 + (y10 - y12) / RG + i3,
        (VBB - y13) / RB + diode(y13, LEAK),
        (VBB - y14) / RB + diode(y14 - y10, LEAK),
    ]


def capacities() -> sp.Matrix:
    """Return the symmetric matrix of the capacities between nodes.

    Entries are (from, to), and to ground or a fixed potential (to None).
    """
    y3, y4, y5, y8, y9, y10, y13, y14 = (Y[i - 1] for i in (3, 4, 5, 8, 9, 10, 13, 14))
    placed: Sequence[tuple[int, int | None, Any]] = (
        (1, 5, CG),
        (2, 5, CG),
        (3, 5, junction(y3 - y5, CB)),
        (4, None, junction(y4 - VDD, CB)),
        (5, None, C9),
        (9, 5, junction(y9 - y5, CB)),
        (6, None, CG),
        (7, None, CG),
        (8, 10, junction(y8 - y10, CB)),
        (10, None, C9),
        (14, 10, junction(y14 - y10, CB)),
        (11, None, CG),
        (12, None, CG),
        (13, None, junction(y13, CB)),
    )
    C = sp.zeros(14)
    for i, j, value in placed:
        C[i - 1, i - 1] += value
        if j is not None:
            C[j - 1, j - 1] += value
            C[i - 1, j - 1] = C[j - 1, i - 1] = -value
    return C


@cache  # sympy takes seconds to arrange so many pieces
def _model(t_end: float) -> Model:
    return Model("nand_gate", Y, capacities(), currents(), t=t, t_span=(0.0, t_end), y0=START)


def problem(t_end: float = 80.0) -> Problem:
    """Return the gate; the slopes of its inputs jump at the multiples of 5."""
    model = _model(t_end)
    return Problem(
        name="nand_gate",
        title="NAND gate",
        t_span=model.t_span,
        y0=np.array(START),
        source=SOURCE,
        model=model,
        reference=stored("nand_gate", t_end),
        groups={"voltages": tuple(range(14))},
        tags=frozenset(TAGS),
        breakpoints=tuple({time for pulse in INPUTS for time in pulse.breakpoints(t_end)}),
    )
