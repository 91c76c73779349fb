"""The smaller slips of the thesis, each checked by numbers."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from herk.integrate.steppers.half_explicit.tableaus import METHODS
from herk.reproductions.published import Erratum
from herk.reproductions.thesis.examples import START, pendulum_jacobian, selected


def slips() -> list[Erratum]:
    """Check the smaller slips by numbers."""
    A = METHODS["rk4"].A
    small = np.array([[2.0, 1.0], [1.0, 3.0]])
    good, bad = small[1, 0] / small[0, 0], small[1, 0] / small[1, 1]
    return [
        *_starts(),
        Erratum(
            "Section 3.1, explicit methods",
            "a_ij = 0 for i >= j",
            "a_ij = 0 for j >= i",
            f"RK4: {np.count_nonzero(np.tril(A))} entries with i >= j, {np.count_nonzero(np.triu(A))} with j"
            " >= i",
            bool(np.tril(A).any()) and not np.triu(A).any(),
        ),
        Erratum(
            "Procedure 3.11, step 3",
            "L_ji = J_ji / J_jj",
            "L_ji = J_ji / J_ii",
            f"[2 1; 1 3]: the entry left below the pivot is {1 - bad * 2:.2f} as printed, {1 - good * 2:.0f}"
            " corrected",
            1 - good * 2 == 0 != 1 - bad * 2,
        ),
        _increment(),
    ]


def _starts() -> list[Erratum]:
    """Put the printed starts of two examples into their constraints."""
    x, y, v, w = START[:4]
    residual, corrected = 2 * x * v - 2 * y * (1 / 9) ** 0.5, 2 * x * v + 2 * y * w
    start = (1.0, 2.0, 2.0)
    gap = (2 * start[0] + start[1], start[0] + start[1] / 2 + start[2])
    fixed = (2 * start[0] - start[1], start[0] + start[1] / 2 - start[2])
    return [
        Erratum(
            "Example 2.13 (continued), start",
            "w = -(1/9)^(1/2)",
            "w = -(1/12)^(1/2)",
            f"2xv + 2yw = {residual:.3f} as printed, {corrected:.0e} corrected",
            abs(residual) > 0.07 and abs(corrected) < 1e-15,
        ),
        Erratum(
            "Example 3.13, start",
            "2 x1 + x2 and x1 + x2/2 + x3",
            "2 x1 - x2 and x1 + x2/2 - x3",
            f"the printed constraints are {gap} at (1, 2, 2), the corrected {fixed}",
            gap == (4.0, 4.0) and fixed == (0.0, 0.0),
        ),
    ]


def _increment() -> Erratum:
    """Solve a Newton equation by the printed formula and by the right one."""
    jacobian = pendulum_jacobian(START)
    block, g = jacobian[:, list(selected(jacobian, (4,)))], np.array([1.0, 2.0, 3.0])
    P, L, U = scipy.linalg.lu(block)
    step, other = -np.linalg.solve(U, np.linalg.solve(L, P.T @ g)), -np.linalg.solve(U, g)
    wrong, right = float(np.abs(block @ other + g).max()), float(np.abs(block @ step + g).max())
    return Erratum(
        "Definition 3.14, Remark 3.15",
        "increment -R^-1 g",
        "-R^-1 L^-1 P g",
        f"residual of the Newton equation {wrong:.1f} as printed, {right:.0e} corrected",
        right < 1e-12 < 1 < wrong,
    )
