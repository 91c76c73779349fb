"""Chemical Akzo Nobel problem: two species are mixed while carbon dioxide flows in.

Index 1, mildly stiff at the beginning.
"""

from __future__ import annotations

import numpy as np

from herk.core import Problem
from herk.model.model import Model
from testset.stored import stored

TAGS = ("index1", "chemistry", "nonlinear", "mildly_stiff", "autonomous", "thesis")
SOURCE = "Test Set for IVP Solvers (CWI/Bari), problem chemakzo; S. M. Bäse, thesis of 2017, Section 4.7"
RATES = {
    "r1": "k1*y1**4*sqrt(y2)",
    "r2": "k2*y3*y4",
    "r3": "k2/K*y1*y5",
    "r4": "k3*y1*y4**2",
    "r5": "k4*y6**2*sqrt(y2)",
    "inflow": "klA*(p/H - y2)",
}
ROWS = (
    "-2*r1 + r2 - r3 - r4",
    "-r1/2 - r4 - r5/2 + inflow",
    "r1 - r2 + r3",
    "-r2 + r3 - 2*r4",
    "r2 - r3 + r5",
    "Ks*y1*y4 - y6",
)


def problem(
    t_end: float = 180.0,
    k1: float = 18.7,
    k2: float = 0.58,
    k3: float = 0.09,
    k4: float = 0.42,
    K: float = 34.4,
    klA: float = 3.3,
    Ks: float = 115.83,
    p: float = 0.9,
    H: float = 737.0,
) -> Problem:
    """Return the problem; p is the partial pressure of carbon dioxide."""
    start = (0.444, 0.00123, 0.0, 0.007, 0.0, Ks * 0.444 * 0.007)
    parameters = {"k1": k1, "k2": k2, "k3": k3, "k4": k4, "K": K, "klA": klA, "Ks": Ks, "p": p, "H": H}
    rows = list(ROWS)
    for name, rate in RATES.items():
        rows = [row.replace(name, f"({rate})") for row in rows]
    model = Model(
        "akzo",
        [f"y{i}" for i in range(1, 7)],
        np.diag([1, 1, 1, 1, 1, 0]),
        rows,
        parameters=parameters,
        t_span=(0.0, t_end),
        y0=start,
    )
    return Problem(
        name="akzo",
        title="Chemical Akzo Nobel problem",
        t_span=model.t_span,
        y0=np.array(start),
        source=SOURCE,
        model=model,
        reference=stored("akzo", t_end, **parameters),
        groups={"concentrations": (0, 1, 2, 3, 4), "algebraic": (5,)},
        tags=frozenset(TAGS),
    )
