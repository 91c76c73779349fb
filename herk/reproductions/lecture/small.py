"""The small examples of the lecture through herk.regularize.

Index, hidden constraints, and the solution where it is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import sympy as sp

from herk.core import InputError
from herk.integrate.solve import solve_dae
from herk.model.index_reduction.regularize import Regularization, regularize
from herk.model.model import Model
from herk.reproductions.published import Origin, Row, Verdict

T_END, TOLERANCE, AGREES = 0.5, 1e-10, 1e-8


@dataclass(frozen=True)
class Small:
    """An example: its equations E x' = f, what the lecture says (index, constraints).

    And x(T_END) where it is known.
    """

    case: str
    said: str
    states: tuple[str, ...]
    E: Sequence[Sequence[float | str]]
    f: Sequence[str]
    start: Sequence[float | None]
    index: int
    constraints: tuple[str, ...]
    end: tuple[float, ...]
    parameters: Mapping[str, float] = field(default_factory=dict)

    def model(self) -> Model:
        """Return the model."""
        return Model(
            "small",
            list(self.states),
            self.E,
            list(self.f),
            parameters=dict(self.parameters),
            t_span=(0.0, T_END),
            y0=self.start,
        )


E_1 = math.exp(T_END)
ANGLE = T_END + math.asin(0.6)
SEMI_EXPLICIT = ((1, 0, 0), (0, 1, 0), (0, 0, 0))
CASES = (
    Small(
        "x' = x + 1, x' z + 2 = 0",
        "index 1, z = -2/(x + 1)",
        ("x", "z"),
        ((1, 0), ("z", 0)),
        ("x + 1", "-2"),
        (0.0, None),
        1,
        ("(x + 1)*z + 2",),
        (E_1 - 1, -2 / E_1),
    ),
    Small(
        "p x' + x = 0, p = 2",
        "ODE for p other than 0",
        ("x",),
        (("p",),),
        ("-x",),
        (1.0,),
        0,
        (),
        (math.exp(-T_END / 2),),
        {"p": 2.0},
    ),
    Small(
        "p x' + x = 0, p = 0",
        "DAE for p = 0",
        ("x",),
        (("p",),),
        ("-x",),
        (0.0,),
        1,
        ("x",),
        (0.0,),
        {"p": 0.0},
    ),
    Small(
        "(x1 - x2) x2' + x1 - x2 = 0, x1 and x2 different",
        "ODE x1' = -x1, x2' = -1",
        ("x1", "x2"),
        ((1, 0), (0, "x1 - x2")),
        ("-x1", "x2 - x1"),
        (1.0, 0.75),
        0,
        (),
        (1 / E_1, 0.75 - T_END),
    ),
    Small(
        "x1' + x1 = 0, x1 - x2 = 0",
        "DAE",
        ("x1", "x2"),
        ((1, 0), (0, 0)),
        ("-x1", "x1 - x2"),
        (1.0, None),
        1,
        ("x1 - x2",),
        (1 / E_1, 1 / E_1),
    ),
    Small(
        "x1' = x2, x2' = z, 2 z = x1^2 + x2^2",
        "index 1",
        ("x1", "x2", "z"),
        SEMI_EXPLICIT,
        ("x2", "z", "(x1**2 + x2**2 - 2*z)/2"),
        (0.1, 0.2, None),
        1,
        ("x1**2 + x2**2 - 2*z",),
        (),
    ),
    Small(
        "x1' = x2, x2' = z, x1^2 + x2^2 = 1",
        "index 2, 0 = x1 x2 + x2 z",
        ("x1", "x2", "z"),
        SEMI_EXPLICIT,
        ("x2", "z", "(x1**2 + x2**2 - 1)/2"),
        (0.6, 0.8, None),
        2,
        ("x1**2 + x2**2 - 1", "x1*x2 + x2*z"),
        (math.sin(ANGLE), math.cos(ANGLE), -math.sin(ANGLE)),
    ),
)
SINGULAR = Small(
    "(x1 - x2) x2' + x1 - x2 = 0, x1 = x2",
    "the Jacobian is not invertible",
    ("x1", "x2"),
    ((1, 0), (0, "x1 - x2")),
    ("-x1", "x2 - x1"),
    (1.0, 1.0),
    0,
    (),
    (),
)


def rows(cases: Sequence[Small] = CASES, singular: Small = SINGULAR) -> list[Row]:
    """Return what regularize and solve_dae answer."""
    return [*map(row, cases), singular_row(singular)]


def row(example: Small) -> Row:
    """Judge index and constraints, and the end of the solution where a formula gives it."""
    found = regularize(example.model())
    fits = found.index == example.index and same_constraints(found, example.constraints)
    why = (
        "herk.regularize: " + "; ".join(f"0 = {each}" for each in found.constraints)
        if found.constraints
        else "herk.regularize"
    )
    if example.end:
        sol = solve_dae(example.model(), rtol=TOLERANCE, atol=TOLERANCE)
        off = float(np.abs(sol.y[:, -1] - example.end).max()) if sol.success else math.inf
        fits, why = (
            fits and off <= AGREES,
            f"{why}. herk.solve_dae differs from the formula by {off:.0e} at t = {T_END:g}",
        )
    ours = f"index {found.index}, {len(found.constraints)} constraints" if found.index else "ODE"
    verdict = Verdict.SAME if fits else Verdict.LOST
    return Row(
        "Small examples",
        example.case,
        "index and constraints",
        example.said,
        ours,
        verdict,
        why,
        origin=Origin.SAID,
    )


def singular_row(example: Small) -> Row:
    """Judge the answer where the kind of the equation depends on the state.

    The point must be named, and a run refused.
    """
    told = [line for line in regularize(example.model()).explain().splitlines() if "singular point" in line]
    try:
        solve_dae(example.model(), rtol=TOLERANCE, atol=TOLERANCE)
        refusal = ""
    except InputError as error:
        refusal = str(error)
    fits = bool(told) and "x2" in refusal
    why = (
        f"herk.regularize: {' '.join(told)} herk.solve_dae: {refusal} On x1 = x2 the lecture goes on with the"
        " DAE two rows above"
    )
    ours, verdict = (
        "singular point, no run" if fits else "not noticed",
        Verdict.SAME if fits else Verdict.LOST,
    )
    return Row(
        "Small examples",
        example.case,
        "index and constraints",
        example.said,
        ours,
        verdict,
        why,
        origin=Origin.SAID,
    )


def same_constraints(found: Regularization, wanted: Sequence[str]) -> bool:
    """Tell whether these are the constraints, each up to a constant factor."""
    ours, theirs = ([sp.sympify(str(each)) for each in group] for group in (found.constraints, wanted))
    return len(ours) == len(theirs) and all(any(sp.simplify(a / b).is_number for a in ours) for b in theirs)
