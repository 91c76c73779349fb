"""Every method fulfils the order conditions it claims, over all rooted trees.

Before its coefficients are rounded.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import mpmath
import numpy as np
import pytest
import scipy.integrate

from herk.core import InputError
from herk.integrate.steppers.half_explicit import tableaus
from herk.integrate.steppers.half_explicit.tableaus import METHODS, exact, get, number

MP = mpmath.mp.clone()
MP.dps = 50
ALL = tuple(METHODS)
# Orders of the embedded formulas as their authors give them; dop853 has two (fifth and third order).
EMBEDDED = {"bs32": (2,), "dopri5": (4,), "tsit5": (4,), "dop853": (5, 3), "verner98": (8,)}
ORDERS = {"euler": 1, "heun": 2, "kutta3": 3, "herk3": 3, "rk4": 4, "rk38": 4, "hem4": 4} | {
    "bs32": 3, "dopri5": 5, "tsit5": 5, "dop853": 8, "verner98": 9}  # fmt: skip
# What the published digits allow: (step and estimator, dense output). Methods not named here are rational and
# must fit exactly.
DIGITS = {
    "hem4": (1e-48, 1e-48),
    "tsit5": (1e-47, 1e-46),
    "dop853": (1e-27, 1e-25),
    "verner98": (1e-38, 1e-34),
}


# Rooted trees: a tree is the tuple of the subtrees that hang on its root.


@cache
def trees(order):
    """Return all rooted trees with this many nodes."""
    return forests(order - 1, order - 1)


@cache
def forests(nodes, largest):
    """Return all multisets of trees with `nodes` nodes in all and at most `largest` nodes each."""
    if nodes == 0:
        return ((),)
    if largest == 0:
        return ()
    return tuple(
        big + small
        for count in range(nodes // largest + 1)
        for big in combinations_with_replacement(trees(largest), count)
        for small in forests(nodes - count * largest, largest - 1)
    )


def size(tree):
    return 1 + sum(map(size, tree))


@cache
def density(tree):
    return size(tree) * math.prod(map(density, tree))


def symmetry(tree):
    return math.prod(
        math.factorial(count) * symmetry(branch) ** count for branch, count in Counter(tree).items()
    )


class Exact:
    """Coefficients without rounding, all stages in one matrix.

    Those of the step, the derivative at its end, those of dense output.
    """

    def __init__(self, name):
        raw = exact(name)
        convert = _mpf if name in DIGITS else _fraction
        vector = lambda numbers: np.array([convert(each) for each in numbers], dtype=object)
        self.zero, self.one = convert(number("0")), convert(number("1"))
        self.s = len(raw.b)
        self.total = self.s + 1 + len(raw.dense_c)
        self.A = np.array([self.pad(vector(row)) for row in [*raw.A, raw.b, *raw.dense_A]], dtype=object)
        self.b, self.c = (
            self.pad(vector(raw.b)),
            np.concatenate([vector(raw.c), [self.one], vector(raw.dense_c)]),
        )
        self.embedded = [self.b - self.pad(vector(row)) for row in raw.error]
        self.P = np.array([vector(row) for row in raw.dense_P], dtype=object)
        self.weights = {}

    def pad(self, row):
        return np.concatenate([row, [self.zero] * (self.total - len(row))])

    def weight(self, tree):
        """Return the elementary weights of the stages.

        The product over the branches of A times their weights.
        """
        if tree not in self.weights:
            product = np.array([self.one] * self.total, dtype=object)
            for branch in tree:
                product = product * self.A.dot(self.weight(branch))
            self.weights[tree] = product
        return self.weights[tree]

    def defect(self, weights, order):
        """Return the largest |sum_j w_j Phi_j(tree) - 1/density| over the trees of this order."""
        return max(abs(weights.dot(self.weight(tree)) - self.one / density(tree)) for tree in trees(order))

    def dense_defect(self, order):
        """Return the same for the dense output: for all theta, that is for each power of theta."""
        worst = self.zero
        for tree in trees(order):
            found = [*self.weight(tree).dot(self.P)] + [self.zero] * (order - self.P.shape[1])
            wanted = [self.one / density(tree) if d + 1 == order else self.zero for d in range(len(found))]
            worst = max(worst, *(abs(x - y) for x, y in zip(found, wanted, strict=True)))
        return worst


def _mpf(value):
    rational, factor = (MP.mpf(q.numerator) / q.denominator for q in (value.rational, value.factor))
    return rational + factor * MP.sqrt(value.radicand)


def _fraction(value):
    assert not value.factor
    return value.rational


method = cache(Exact)
allowed = lambda name: DIGITS.get(name, (0, 0))


def test_rooted_trees_are_all_there():
    assert [len(trees(n)) for n in range(1, 11)] == [1, 1, 2, 4, 9, 20, 48, 115, 286, 719]
    for n in range(1, 10):  # the labellings of all trees of order n are (n-1)! (Hairer, Norsett, Wanner II.2)
        assert sum(
            Fraction(math.factorial(n), symmetry(tree) * density(tree)) for tree in trees(n)
        ) == math.factorial(n - 1)


def test_every_promised_method_is_there_with_its_order():
    assert ORDERS.items() <= {name: METHODS[name].order for name in ALL}.items()


@pytest.mark.parametrize("name", ALL)
def test_order_conditions_hold_up_to_the_claimed_order(name):
    it = method(name)
    assert max(it.defect(it.b, order) for order in range(1, METHODS[name].order + 1)) <= allowed(name)[0]


@pytest.mark.parametrize("name", ALL)
def test_order_is_not_higher_than_claimed(name):
    it = method(name)
    assert it.defect(it.b, METHODS[name].order + 1) > 1e-7


def test_exactly_the_pairs_have_estimators():
    assert {name: len(METHODS[name].error) for name in ALL if METHODS[name].adaptive} == {
        name: len(q) for name, q in EMBEDDED.items()
    }


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_formulas_have_their_order_and_no_more(name):
    it = method(name)
    for weights, order in zip(it.embedded, EMBEDDED[name], strict=True):
        assert max(it.defect(weights, n) for n in range(1, order + 1)) <= allowed(name)[0]
        assert it.defect(weights, order + 1) > 1e-7


@pytest.mark.parametrize("name", EMBEDDED)
def test_error_order_is_the_power_of_h_in_the_estimate(name):
    first, *third = EMBEDDED[name]
    # err5^2 / sqrt(err5^2 + 0.01 err3^2) behaves like h^(2 * 6 - 4)
    assert METHODS[name].error_order + 1 == (2 * (first + 1) - (third[0] + 1) if third else first + 1)


@pytest.mark.parametrize("name", ALL)
def test_dense_output_has_its_order_for_every_theta(name):
    it, order = method(name), METHODS[name].dense_order
    assert order >= min(METHODS[name].order, 4)
    assert max(it.dense_defect(n) for n in range(1, order + 1)) <= allowed(name)[1]
    assert it.dense_defect(order + 1) > 1e-7


@pytest.mark.parametrize("name", ALL)
def test_dense_output_meets_the_step_and_its_tangents_at_both_ends(name):
    it, slack = method(name), allowed(name)[1]
    powers = np.arange(1, it.P.shape[1] + 1)
    assert max(map(abs, it.P.sum(axis=1) - it.b)) <= slack
    assert list(it.P[:, 0]) == [it.one] + [it.zero] * (it.total - 1)
    assert (
        max(map(abs, it.P.dot(powers) - [it.one if j == it.s else it.zero for j in range(it.total)])) <= slack
    )


@pytest.mark.parametrize("name", ALL)
def test_stages_are_explicit_and_their_rows_sum_to_the_nodes(name):
    it = method(name)
    assert all(it.A[i, j] == 0 for i in range(it.total) for j in range(i, it.total))
    assert max(map(abs, it.A.sum(axis=1) - it.c)) <= allowed(name)[0]


def test_only_pairs_made_for_reuse_look_at_the_new_point():
    reuse = {
        name for name in EMBEDDED if any(len(row) == METHODS[name].stages + 1 for row in METHODS[name].error)
    }
    assert reuse == {"bs32", "dopri5", "tsit5"}
    assert all(METHODS[name].error[0][-1] != 0 for name in reuse)
    assert [METHODS[name].stages for name in ("bs32", "dopri5", "tsit5", "dop853", "verner98")] == [
        3,
        6,
        6,
        12,
        16,
    ]


@pytest.mark.parametrize("name", ALL)
def test_floats_are_the_exact_coefficients_rounded(name):
    table, raw = METHODS[name], exact(name)
    for entry, numbers in raw._asdict().items():
        floats, wanted = (
            np.ravel(np.concatenate([np.ravel(x) for x in getattr(table, entry)] or [[]])),
            _flat(numbers),
        )
        assert len(floats) == len(wanted)
        for value, number_ in zip(floats, wanted, strict=True):
            assert abs(MP.mpf(value) - _mpf(number_)) <= 0.5001 * np.spacing(abs(value))


@pytest.mark.parametrize("name", ALL)
def test_bernstein_form_gives_the_dense_weights_to_rounding(name):
    it, B = method(name), METHODS[name].dense_B
    degree = B.shape[1] - 1
    for theta in np.linspace(0, 1, 9):  # exact in binary
        basis = [math.comb(degree, i) * theta**i * (1 - theta) ** (degree - i) for i in range(degree + 1)]
        wanted = it.P.dot([it.one * int(theta * 8) ** d / 8**d for d in range(1, degree + 1)])
        np.testing.assert_allclose(B @ basis, wanted.astype(float), rtol=0, atol=4e-15)


def _flat(numbers):
    return [each for row in numbers for each in row] if numbers and isinstance(numbers[0], list) else numbers


def test_a_wrong_digit_would_be_noticed():
    it = Exact("verner98")
    it.A[9, 5] += MP.mpf("1e-25")
    assert max(it.defect(it.b, order) for order in range(1, 10)) > 100 * DIGITS["verner98"][0]


# Figures of others


def test_tsit5_interpolant_agrees_with_the_printed_digits():
    printed = {  # b_i(theta) = leading factor * theta^2 (theta - r)(theta - s), Tsitouras 2011
        3: (-16.54810288924490272, 1.21712927295533244, 0.61620406037800089),
        4: (47.37952196281928122, 1.203071208372362603, 0.658047292653547382),
        5: (-34.87065786149660974, 1.2, 0.666666666666666667),
    }
    for row, (factor, r, s) in printed.items():
        assert METHODS["tsit5"].dense_P[row] == pytest.approx(
            [0, factor * r * s, -factor * (r + s), factor], rel=1e-14
        )


@pytest.mark.parametrize(("name", "rival"), [("bs32", "RK23"), ("dopri5", "RK45"), ("dop853", "DOP853")])
def test_step_and_dense_output_agree_with_scipy(name, rival):
    def rate(t, y):
        return np.array([y[1], (1 - y[0] ** 2) * y[1] - y[0] + np.cos(t)])

    table, h, start = METHODS[name], 0.1, np.array([2.0, -0.5])
    solver = getattr(scipy.integrate, rival)(rate, 0.3, start, 1.0, first_step=h, rtol=1e-1, atol=1e-1)
    solver.step()
    assert solver.t - solver.t_old == pytest.approx(h)
    k = [rate(0.3, start)]
    rows = [*table.A[1:], table.b, *table.dense_A]
    for row, c in zip(rows, [*table.c[1:], 1.0, *table.dense_c], strict=True):
        k.append(rate(0.3 + c * h, start + h * np.tensordot(row[: len(k)], k, 1)))
    for theta in (0.1, 0.37, 0.5, 0.92, 1.0):
        powers = theta ** np.arange(1, table.dense_P.shape[1] + 1)
        y = start + h * np.tensordot(table.dense_P @ powers, k, 1)
        assert y == pytest.approx(solver.dense_output()(0.3 + theta * h), rel=1e-13)


def test_listing_the_methods_reads_none(monkeypatch):
    monkeypatch.setattr(tableaus, "_table", None)
    assert "rk4" in METHODS
    assert "rk5" not in METHODS
    assert len(METHODS) == len(list(METHODS)) >= 12


def test_get_takes_names_and_tableaus_and_suggests_the_nearest_name():
    assert get("dopri5") is METHODS["dopri5"] is get(METHODS["dopri5"])
    for ask in (get, exact):
        with pytest.raises(InputError, match=r"no method named 'dopri'.*'dopri5'"):
            ask("dopri")
    with pytest.raises(InputError, match="no method named 5"):
        get(5)
    with pytest.raises(KeyError):
        METHODS["dopri"]


@pytest.mark.parametrize("text", ["", "1/0", "x", "1 + sqrt(6)", "1/2 - 1/3*sqrt(x)"])
def test_a_coefficient_that_cannot_be_read_is_refused(text):
    with pytest.raises(InputError, match="not a coefficient"):
        number(text)
