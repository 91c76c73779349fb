"""Robertson's autocatalytic reaction with conservation of mass as the constraint.

Index 1, extremely stiff, over eleven decades of time.
"""

from __future__ import annotations

import numpy as np

from herk.core import Problem
from herk.model.model import Model
from testset.stored import stored

TAGS = ("index1", "chemistry", "nonlinear", "stiff", "autonomous")
SOURCE = (
    "H. H. Robertson 1966; Test Set for IVP Solvers (CWI/Bari), problem rober; as a DAE in the examples of"
    " SUNDIALS"
)


def problem(t_end: float = 1e11, k1: float = 0.04, k2: float = 3e7, k3: float = 1e4) -> Problem:
    """Return the reaction; references are stored for t_end = 0.4, 40, 4e3, 1e5, 1e7, 4e10 and 1e11.

    y2 is of size 1e-5 at first and 1e-13 at last: an absolute tolerance that is to mean anything is far
    smaller for it.
    """
    start, parameters = (1.0, 0.0, 0.0), {"k1": k1, "k2": k2, "k3": k3}
    model = Model(
        "robertson",
        ["y1", "y2", "y3"],
        np.diag([1, 1, 0]),
        ["-k1*y1 + k3*y2*y3", "k1*y1 - k3*y2*y3 - k2*y2**2", "y1 + y2 + y3 - 1"],
        parameters=parameters,
        t_span=(0.0, t_end),
        y0=start,
    )
    return Problem(
        name="robertson",
        title="Robertson's reaction",
        t_span=model.t_span,
        y0=np.array(start),
        source=SOURCE,
        model=model,
        reference=stored("robertson", t_end, **parameters),
        groups={"fast": (1,), "slow": (0, 2)},
        tags=frozenset(TAGS),
        sizes=(1.0, 1e-6, 1.0),
    )
