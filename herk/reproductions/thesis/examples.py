"""The worked examples of Chapters 2 and 3.

Hidden constraints by computer algebra, selectors by the program's own factorisation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

import testset
from herk.core.dae import Array
from herk.model.index_reduction.regularize import regularize
from herk.reproductions.published import Origin, Row, Verdict
from herk.thesis.selectors import select

NAMES = ("x", "y", "v", "w", "lam")
START = (
    0.5,
    -((3 / 4) ** 0.5),
    -0.5,
    -((1 / 12) ** 0.5),
    5.0,
)  # Example 2.13 with the w that fits the printed Jacobian
PASSING = (0.0, -1.0, -(3.5**0.5), 0.0, 7.33)
CIRCUIT = ("e1 - sin(omega*t)", "q1 - e1 + e2", "q2 - e2", "2*e1 + e2 + 2*iV + omega*cos(omega*t)")
PENDULUM = ("x**2 + y**2 - l**2", "2*x*v + 2*y*w", "2*v**2 + 2*w**2 - 4/m*(x**2 + y**2)*lam - 2*g*y")


def pendulum_jacobian(state: Sequence[float], g: float = 11.16, m: float = 1.0) -> Array:
    """Return dg/dx of system (2.9)."""
    x, y, v, w, lam = state
    third = [-8 / m * x * lam, -8 / m * y * lam - 2 * g, 4 * v, 4 * w, -4 / m * (x**2 + y**2)]
    return np.array([[2 * x, 2 * y, 0, 0, 0], [2 * v, 2 * w, 2 * x, 2 * y, 0], third])


def selected(jacobian: Array, required: Sequence[int]) -> tuple[int, ...]:
    """Return the algebraic components the program chooses for this Jacobian, in the order of its pivots."""
    m, n = jacobian.shape
    order = np.arange(n)
    select(
        jacobian.T.ravel().copy(),
        m,
        n,
        order,
        np.array(sorted(required), dtype=np.int64),
        len(required),
        1e-15,
    )
    return tuple(int(j) for j in order[:m])


def same_set(name: str, formulas: Sequence[str]) -> bool:
    """Tell whether regularize finds exactly these constraints.

    Up to constant factors and the constraints before.
    """
    model = testset.get(name).model
    names = {str(s): sp.Symbol(str(s)) for s in (*model.states, model.t, *model.parameters)}
    found = [_plain(c) for c in regularize(model).constraints]
    wanted = [_plain(sp.sympify(text, names)) for text in formulas]
    return len(found) == len(wanted) and all(any(_proportional(a, b) for b in found) for a in wanted)


def _plain(expression: sp.Expr) -> sp.Expr:
    """Replace symbols by symbols without assumptions, so that texts and formulas compare."""
    return expression.xreplace({s: sp.Symbol(s.name) for s in expression.free_symbols})


def _proportional(a: sp.Expr, b: sp.Expr) -> bool:
    ratio = sp.simplify(a / b)
    return not ratio.free_symbols - {sp.Symbol(name) for name in ("m", "l", "g", "omega")} and ratio != 0


def rows() -> list[Row]:
    """Return what becomes of Examples 2.7, 2.13 and 3.13."""
    found = []
    for part, name, formulas in (
        ("Example 2.7", "cv_circuit", CIRCUIT),
        ("Example 2.13", "pendulum", PENDULUM),
    ):
        levels = [len(level) for level in regularize(testset.get(name).model).levels]
        word = Verdict.SAME if same_set(name, formulas) else Verdict.LOST
        shown, why = f"{len(formulas)} constraints", "found by herk.regularize"
        found.append(
            Row(part, name, "constraints per level", shown, f"{levels}", word, why, origin=Origin.PRINTED)
        )
    return [*found, *_pendulum_rows(), _third_row()]


def _pendulum_rows() -> list[Row]:
    """Return the components chosen in Example 2.13, at its start and at the bottom."""
    found, start, passing = [], pendulum_jacobian(START), pendulum_jacobian(PASSING)
    missed, equal = "lambda is missed, as the thesis says", "order of w and y: equal pivots"
    for case, jacobian, required, wanted, why in (
        ("complete pivoting", start, (), {"x", "w", "y"}, missed),
        ("the program's pivoting", start, (4,), {"lam", "w", "y"}, equal),
        ("the program's pivoting, passing", passing, (4,), {"lam", "x", "y"}, ""),
    ):
        ours = {NAMES[j] for j in selected(jacobian, required)}
        word = Verdict.SAME if ours == wanted else Verdict.LOST
        shown, text = ", ".join(sorted(wanted)), ", ".join(sorted(ours))
        origin = (
            Origin.PRINTED if case == "complete pivoting" else Origin.OURS
        )  # printed for Procedure 3.11, see selection.example_rows
        found.append(Row("Example 2.13", case, "algebraic components", shown, text, word, why, origin=origin))
    return found


def _third_row() -> Row:
    """Return the components chosen in Example 3.13."""
    chosen = selected(np.array([[2.0, 1.0, 0.0], [1.0, 0.5, 1.0]]), (2,))
    word = Verdict.SAME if chosen == (2, 0) else Verdict.LOST
    text = ", ".join(f"x{j + 1}" for j in chosen)
    case = "the program's pivoting"
    return Row("Example 3.13", case, "algebraic components", "x3, x1", text, word, origin=Origin.OURS)
