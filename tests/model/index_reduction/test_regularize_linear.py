"""Random linear DAEs of known index (Weierstrass form, mixed by unimodular matrices).

Index, levels and solution are known in advance.
"""

from __future__ import annotations

import numpy as np
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from herk.model.entries import t
from herk.model.index_reduction.regularize import regularize
from herk.model.model import Model

SMALL = st.integers(-2, 2)


@st.composite
def unimodular(draw, n: int) -> sp.Matrix:
    """Return L U with ones on both diagonals: integers, determinant one."""
    lower = sp.Matrix(n, n, lambda i, j: 1 if i == j else draw(SMALL) if i > j else 0)
    upper = sp.Matrix(n, n, lambda i, j: 1 if i == j else draw(SMALL) if i < j else 0)
    return lower * upper


def nilpotent(blocks: list[int]) -> sp.Matrix:
    return sp.diag(*[sp.Matrix(k, k, lambda i, j: int(j == i + 1)) for k in blocks])


@st.composite
def linear_daes(draw, *, turning: bool) -> tuple[Model, list[int], sp.Matrix]:
    """Return P diag(I, N) Q y' = P (diag(J, I) Q y + h - diag(I, N) Q' y), the Jordan blocks of N.

    And one solution y.
    """
    blocks = draw(
        st.lists(st.integers(1, 3), min_size=1, max_size=2)
        if turning
        else st.lists(st.integers(1, 4), min_size=1, max_size=3)
    )
    free = draw(st.integers(1, 2 if turning else 3))
    n = free + sum(blocks)
    P, mixing = draw(unimodular(n)), draw(unimodular(n))
    turn = (
        sp.diag(sp.Matrix([[sp.cos(t), sp.sin(t)], [-sp.sin(t), sp.cos(t)]]), sp.eye(n - 2))
        if turning
        else sp.eye(n)
    )
    Q = mixing * turn
    N, D = nilpotent(blocks), sp.diag(sp.eye(free), nilpotent(blocks))
    chosen = sp.Matrix([draw(SMALL) * t**2 + draw(SMALL) * sp.exp(-t) for _ in range(free)])
    J = sp.Matrix(free, free, lambda *_: draw(SMALL))
    h = sp.Matrix([draw(SMALL) * sp.sin(t) + draw(SMALL) * t for _ in range(sum(blocks))])
    forced = -sp.Add(*[N**i * h.diff(t, i) for i in range(max(blocks))], evaluate=False).doit()
    y = sp.Matrix(sp.symbols(f"y:{n}", real=True))
    right = (
        sp.diag(J, sp.eye(n - free)) * Q * y
        + sp.Matrix([*(chosen.diff(t) - J * chosen), *h])
        - D * Q.diff(t) * y
    )
    solution = turn.T * mixing.inv() * sp.Matrix([*chosen, *forced])
    model = Model(
        "linear",
        list(y),
        P * D * Q,
        list(P * right),
        t_span=(0, 1),
        y0=[float(v.subs(t, 0)) for v in solution],
    )
    return model, blocks, solution


def check(case: tuple[Model, list[int], sp.Matrix]) -> None:
    model, blocks, solution = case
    found = regularize(model)
    assert found.index == max(blocks)
    # A Jordan block of size k gives one constraint on each of the levels 0, ..., k - 1.
    assert [len(level) for level in found.levels] == [
        sum(k > level for k in blocks) for level in range(max(blocks))
    ]
    g = sp.Matrix(found.constraints)
    stacked = sp.Matrix([*model.E.tolist(), *g.jacobian(sp.Matrix(model.states)).tolist()])
    values = sp.lambdify([t, model.states], [g, stacked])
    exact = sp.lambdify(t, list(solution))
    for at in (0.0, 0.3, 0.9):
        y = exact(at)
        residual, matrix = values(at, y)
        scale = np.abs(matrix[model.n :]) @ np.abs(y) + 1.0
        assert np.max(np.abs(residual[:, 0]) / scale) < 1e-10
        assert np.linalg.matrix_rank(matrix) == model.n
    assert not [note for note in found.notes if "Doubtful" in note]


@settings(max_examples=15, deadline=None, derandomize=True)
@given(linear_daes(turning=False))
def test_random_constant_linear_daes_give_their_index_levels_and_solution(case) -> None:
    check(case)


@settings(max_examples=8, deadline=None, derandomize=True)
@given(linear_daes(turning=True))
def test_random_time_dependent_linear_daes_give_their_index_levels_and_solution(case) -> None:
    check(case)
