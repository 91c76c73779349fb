"""Blocks come in an order in which each needs only what is known, and are as small as the pattern allows."""

from __future__ import annotations

import random

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from herk.codegen.block_form import Block, constraint_blocks, is_zero, rate_blocks, required, triangular
from herk.codegen.equations import Equations
from herk.core import InputError

t = sp.Symbol("t", real=True)
a, b, c, d = STATES = sp.symbols("a b c d", real=True)


def system(g, E=None, f=None, states=STATES):
    n = len(states)
    matrix = sp.ImmutableDenseMatrix
    return Equations(
        t, states, matrix(sp.eye(n) if E is None else E), matrix(f or [0] * n), matrix(len(g), 1, g)
    )


patterns = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.sets(st.integers(0, n - 1)), min_size=n, max_size=n)
)


@settings(max_examples=300, deadline=None)
@given(patterns)
def test_any_pattern_falls_into_irreducible_blocks_in_solving_order(pattern):
    n = len(pattern)
    dense = np.array([[j in row for j in range(n)] for row in pattern], dtype=int)
    matching = maximum_bipartite_matching(csr_matrix(dense), perm_type="column")
    parts = triangular(pattern)
    assert (parts is None) == bool((matching < 0).any())
    if parts is None:
        return
    assert sorted(r for rows, _ in parts for r in rows) == list(range(n))
    assert sorted(q for _, columns in parts for q in columns) == list(range(n))
    known: set[int] = set()
    for rows, columns in parts:
        assert len(rows) == len(columns)
        known |= set(columns)
        assert all(pattern[r] <= known for r in rows)
    assert len(parts) == connected_components(csr_matrix(dense[:, matching]), connection="strong")[0]


def test_a_long_chain_needs_no_recursion():
    n = 3000
    assert len(triangular([{i, (i + 1) % n} for i in range(n)]) or ()) == 1
    assert len(triangular([{i, min(i + 1, n - 1)} for i in range(n)]) or ()) == n


def test_levels_of_the_pendulum_become_three_scalar_blocks():
    x, y, v, w, lam = states = sp.symbols("x y v w lam")
    g = [x**2 + y**2 - 1, 2 * x * v + 2 * y * w, 2 * v**2 + 2 * w**2 - 4 * (x**2 + y**2) * lam - 2 * y]
    pendulum = system(g, sp.diag(1, 1, 1, 1, 0), states=states)
    assert constraint_blocks(pendulum, [0, 2, 4]) == [
        Block((0,), (0,), False),
        Block((1,), (2,), True),
        Block((2,), (4,), True),
    ]
    assert [(block.rows, block.linear) for block in constraint_blocks(pendulum, [0, 1, 4])] == [
        ((0, 1), False),
        ((2,), True),
    ]
    assert required(pendulum.E) == (4,)


def test_a_block_is_linear_if_its_own_unknowns_enter_affinely():
    g = [a * d + b * d**2 - 1, a - b * sp.sin(d)]
    (block,) = constraint_blocks(system(g), [0, 1])
    assert block.linear
    (block,) = constraint_blocks(system([a * b - 1, a + b]), [0, 1])
    assert not block.linear


def test_squares_that_cancel_leave_a_linear_block():
    (block,) = constraint_blocks(system([(a + b) ** 2 - a**2 - 1]), [0])
    assert block.linear


def test_a_component_that_cancels_is_no_dependency():
    assert is_zero((a + 1) ** 2 - a**2 - 2 * a - 1)
    blocks = constraint_blocks(system([a * (b + 1) - a * b - d, b - a]), [0, 1])
    assert [block.rows for block in blocks] == [(0,), (1,)]


def test_a_choice_without_assignment_is_refused_by_name():
    with pytest.raises(InputError, match="a, c"):
        constraint_blocks(system([a + b, a - d]), [0, 2])


@pytest.mark.parametrize("algebraic", [[0], [0, 1, 2], [0, 0], [0, 9]])
def test_a_choice_of_the_wrong_size_is_refused(algebraic):
    with pytest.raises(InputError, match="2 constraints"):
        constraint_blocks(system([a + b, a - d]), algebraic)


@pytest.mark.parametrize(
    ("E", "expected"),
    [
        (sp.eye(2), ()),
        (sp.zeros(2), (0, 1)),
        (sp.diag(2, 0), (1,)),
        (sp.Matrix([[0, 3], [0, 0]]), (0,)),
        (sp.Matrix([[1, 1], [1, -1]]), ()),
        (sp.Matrix([[1, 1], [0, 0]]), None),
        (sp.Matrix([[1, 1], [1, 1]]), None),
        (sp.Matrix([[1, 0], [1, 0]]), None),
        (sp.Matrix([[a, b], [a * b, b**2]]), None),
        (sp.Matrix([[a, b], [b, -a]]), ()),
        (sp.Matrix([[sp.Float(0), sp.Float(2)], [0, 0]]), (0,)),
    ],
)
def test_zero_columns_are_required_if_the_rest_of_E_is_regular(E, expected):
    assert required(sp.ImmutableDenseMatrix(E)) == expected


def test_equations_no_wanted_derivative_needs_are_left_out():
    E = sp.Matrix([[2, 0, 0, 0], [1, -1, 0, 0], [0, 0, 1, 1], [0, 0, 1, -1]])
    equations = system([], E)
    assert rate_blocks(equations, [0]) == [Block((0,), (0,), True)]
    assert rate_blocks(equations, [1]) == [Block((0,), (0,), True), Block((1,), (1,), True)]
    assert [block.rows for block in rate_blocks(equations, [3])] == [(2, 3)]
    assert rate_blocks(equations, []) == []


def test_a_derivative_that_E_does_not_contain_is_refused_by_name():
    with pytest.raises(InputError, match="derivative of d"):
        rate_blocks(system([], sp.diag(1, 1, 1, 0)), [0, 3])
    with pytest.raises(InputError, match="regularly reducible"):
        rate_blocks(system([], sp.ones(4)), [0])


@pytest.mark.parametrize("seed", range(8))
def test_a_leading_matrix_is_regular_or_not_in_any_units(seed: int) -> None:
    dice = random.Random(seed)
    unit = [sp.Integer(10) ** dice.randint(-15, 15) for _ in range(6)]
    for last, wanted in ((7, ()), (6, None)):  # the determinant of [[1, 2], [3, last]] is last - 6
        core = sp.Matrix([[1, 2, 0], [3, last, 0], [1, 1, 1]])
        E = sp.ImmutableDenseMatrix(3, 3, lambda i, j, core=core: core[i, j] * unit[i] * unit[3 + j])
        assert required(E) == wanted
