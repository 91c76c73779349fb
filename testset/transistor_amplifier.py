"""Two-stage transistor amplifier.

Eight node voltages, a singular capacitance matrix of rank five, exponential characteristics. Index 1.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from herk.core import Problem
from herk.model.entries import t
from herk.model.model import Model
from testset.stored import stored

TAGS = ("index1", "circuit", "nonlinear", "mildly_stiff", "oscillatory", "singular_mass")
SOURCE = "P. Rentrop, M. Roche, G. Steinebach 1989; Test Set for IVP Solvers (CWI/Bari), problem transamp"


def problem(
    t_end: float = 0.2, Ub: float = 6.0, UF: float = 0.026, alpha: float = 0.99, beta: float = 1e-6,
    R0: float = 1000.0, R: float = 9000.0, amplitude: float = 0.1,
) -> Problem:  # fmt: skip
    """Return the amplifier with operating voltage Ub, fed by amplitude*sin(200 pi t)."""
    y = sp.symbols("y1:9", real=True)
    supply, thermal, gain, leak, inner, outer, high = parameters = sp.symbols(
        "Ub UF alpha beta R0 R amplitude", real=True
    )
    first, second = (
        leak * (sp.exp((y[j] - y[j + 1]) / thermal) - 1) for j in (1, 4)
    )  # currents of the two transistors
    f = [
        (y[0] - high * sp.sin(200 * sp.pi * t)) / inner,
        y[1] / outer + (y[1] - supply) / outer + (1 - gain) * first,
        y[2] / outer - first,
        (y[3] - supply) / outer + gain * first,
        y[4] / outer + (y[4] - supply) / outer + (1 - gain) * second,
        y[5] / outer - second,
        (y[6] - supply) / outer + gain * second,
        y[7] / outer,
    ]
    start = (0.0, Ub / 2, Ub / 2, Ub, Ub / 2, Ub / 2, Ub, 0.0)
    values = (Ub, UF, alpha, beta, R0, R, amplitude)
    numbers = dict(zip(parameters, values, strict=True))
    model = Model(
        "transistor_amplifier", y, _capacities(), f, t=t, parameters=numbers, t_span=(0.0, t_end), y0=start
    )
    return Problem(
        name="transistor_amplifier",
        title="Transistor amplifier",
        t_span=model.t_span,
        y0=np.array(start),
        source=SOURCE,
        model=model,
        reference=stored("transistor_amplifier", t_end, **{s.name: value for s, value in numbers.items()}),
        groups={"voltages": tuple(range(8))},
        tags=frozenset(TAGS),
    )


def _capacities() -> sp.Matrix:
    """Return E: coupling capacities between nodes 1-2, 4-5, 7-8, capacities to ground at nodes 3 and 6.

    C_k = k micro-farads.
    """
    coupling, micro = sp.Matrix([[-1, 1], [1, -1]]), sp.Rational(1, 10**6)
    return micro * sp.diag(coupling, sp.Matrix([[-2]]), 3 * coupling, sp.Matrix([[-4]]), 5 * coupling)
