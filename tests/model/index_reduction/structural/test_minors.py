"""Rows with moving factors, solved by Cramer's rule: against numpy, and without divisions where rows vanish."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from herk.codegen.shapes import Catalogue
from herk.model.index_reduction.structural.minors import by_minors
from herk.model.index_reduction.structural.quality import quality, steadiness

STATES = sp.symbols("y0:24", real=True)
T = sp.Symbol("t", real=True)


def solved(rows: list[dict[int, sp.Expr]], right: list[sp.Expr], values: list[dict[int, np.ndarray]]):  # type: ignore[no-untyped-def]
    """Return pivots, entries and right sides as expressions."""
    catalogue = Catalogue(T, STATES)
    leading = {i: {j: catalogue.read(e) for j, e in row.items()} for i, row in enumerate(rows)}
    found = by_minors(
        catalogue, leading, {i: catalogue.read(e) for i, e in enumerate(right)}, dict(enumerate(values))
    )
    assert found is not None
    pivots, entries, sides = found
    written = {i: {j: catalogue.written(e) for j, e in row.items()} for i, row in entries.items()}
    return pivots, written, {i: catalogue.written(e) for i, e in sides.items()}


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_regular_rows_are_solved_as_numpy_solves_them(size: int) -> None:
    dice = np.random.default_rng(size)
    numbers, f = dice.uniform(-1.0, 1.0, (size, size)), dice.uniform(-1.0, 1.0, size)
    rows = [{j: STATES[size * i + j] for j in range(size)} for i in range(size)]
    right = [STATES[size * size + i] for i in range(size)]
    values = [{j: np.full(3, numbers[i, j]) for j in range(size)} for i in range(size)]
    pivots, entries, sides = solved(rows, right, values)
    known = dict(zip(STATES, [*numbers.ravel(), *f], strict=False))
    rate = [sides[pivots[j]].xreplace(known) / entries[pivots[j]][j].xreplace(known) for j in range(size)]
    np.testing.assert_allclose(np.array(rate, dtype=float), np.linalg.solve(numbers, f), rtol=1e-9)


def test_rows_that_turn_leave_a_constraint_without_poles_and_zeros() -> None:
    """cos(s) (1, 2) and sin(s) (1, 2): the combination is sin(s), -cos(s), whatever the column."""
    y, f = STATES[0], STATES[1:3]
    rows = [{0: sp.cos(y), 1: 2 * sp.cos(y)}, {0: sp.sin(y), 1: 2 * sp.sin(y)}]
    numbers = np.array([0.3, 0.4, 0.7])
    values = [{0: np.cos(numbers), 1: 2 * np.cos(numbers)}, {0: np.sin(numbers), 1: 2 * np.sin(numbers)}]
    pivots, _, sides = solved(rows, list(f), values)
    (lost,) = {0, 1} - set(pivots.values())
    left = sp.Matrix([sides[lost]]).jacobian(sp.Matrix(f))
    ratio = sp.simplify(left[0] / sp.sin(y)), sp.simplify(left[1] / sp.cos(y))
    assert ratio[0] == -ratio[1]
    assert ratio[0].is_number


def test_what_stands_in_all_factors_of_a_combination_is_left_out() -> None:
    """Rows z (cos y) and z (sin y) of one derivative: where z vanishes, the constraint still says something."""
    y, z, f = STATES[0], STATES[3], STATES[1:3]
    numbers = np.array([0.3, 0.4, 0.7])
    values = [{0: np.cos(numbers)}, {0: np.sin(numbers)}]
    pivots, _, sides = solved([{0: z * sp.cos(y)}, {0: z * sp.sin(y)}], list(f), values)
    (lost,) = {0, 1} - set(pivots.values())
    assert z not in sides[lost].free_symbols


def test_rows_of_too_many_derivatives_are_left_to_pivots() -> None:
    catalogue = Catalogue(T, STATES)
    leading = {i: {i: catalogue.read(STATES[i])} for i in range(5)}
    values = {i: {i: np.ones(3)} for i in range(5)}
    assert by_minors(catalogue, leading, {i: catalogue.read(T) for i in range(5)}, values) is None


def test_a_factor_that_changes_its_sign_along_the_span_is_no_steady_pivot() -> None:
    """Values at two points near the start, along the span, and elsewhere."""
    turning, steady = np.array([1.0, 1.0, 0.5, -0.5, 1.0]), np.array([1.0, 1.0, 1.5, 2.0, 1.0])
    assert steadiness(turning) == 0.0
    assert steadiness(steady) > 0.0
    row = {0: turning, 1: steady}
    assert quality(row, 1) > quality(row, 0)
    assert quality({0: turning[[0, 1, 4]]}, 0) > quality(row, 0)  # nothing depends on time
