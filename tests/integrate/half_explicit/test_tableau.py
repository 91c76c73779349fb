"""A tableau is read-only, survives pickling and refuses coefficients that contradict each other."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from herk.core import InputError
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.integrate.steppers.half_explicit.tableaus import METHODS


def test_tableaus_cannot_be_changed_not_even_their_copies():
    for table in (METHODS["hem4"], pickle.loads(pickle.dumps(METHODS["hem4"]))):
        arrays = (
            table.A,
            table.b,
            table.c,
            table.dense_A,
            table.dense_c,
            table.dense_P,
            table.dense_B,
            *METHODS["tsit5"].error,
        )
        assert not any(array.flags.writeable for array in arrays)
    np.testing.assert_array_equal(table.A, METHODS["hem4"].A)


def test_bernstein_form_is_computed_where_it_is_not_given():
    for name in ("dopri5", "rk4"):
        np.testing.assert_allclose(
            replace(METHODS[name], dense_B=None).dense_B, METHODS[name].dense_B, rtol=0, atol=1e-13
        )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"name": ""}, "needs a name"),
        ({"order": 0}, "order must be a whole number"),
        ({"A": [[0, 0, 0], [0.5, 0, 0], [0, 0.75, 0.1]]}, r"A\[2,2\] is not zero"),
        ({"A": [[0, 0], [1, 0]]}, r"A has shape \(2, 2\)"),
        ({"A": "abc"}, "A is not an array of numbers"),
        ({"b": [0.2, 0.3, 0.4]}, "b sums to 0.9"),
        ({"b": []}, "at least one weight"),
        ({"b": [0.2, 0.3, math.nan]}, "not finite"),
        ({"c": [0, 0.5, 0.7]}, "row 2 of A sums to 0.75"),
        ({"error": ()}, "give both, or neither"),
        ({"error_order": 0}, "give both, or neither"),
        ({"error": ([1.0, -1.0],)}, "must have 3 or 4 entries"),
        ({"error": ([1.0, 0.0, 0.0],)}, "an error estimator sums to 1"),
        ({"error": ([0.0, 0.0, 0.0],)}, "accept every step"),
        ({"error": ([1, -1, 0],) * 3}, "one or two error estimators"),
        ({"dense_B": np.ones((4, 4))}, "different polynomials"),
        ({"dense_B": np.ones((4, 3))}, "dense_B has shape"),
        ({"dense_P": None, "dense_order": 0}, "no meaning without dense_P"),
        ({"dense_P": None}, "no meaning without dense_P"),
        ({"dense_order": 4}, "dense_order must lie between 1 and the order 3"),
        ({"dense_P": np.ones((4, 2))}, "no matrix with at least 3 powers"),
        ({"dense_P": np.ones((4, 3))}, "at theta = 1 row 0 of dense_P sums to 3"),
        ({"dense_P": np.ones((5, 3))}, "dense_P has shape"),
        ({"dense_c": [0.5]}, "dense_A has shape"),
        ({"dense_c": [0.5], "dense_A": [[0, 0, 0, 0, 0.5]]}, "before it is computed"),
        ({"dense_c": [0.5], "dense_A": [[0, 0, 0, 0.4, 0]]}, "row 0 of dense_A sums to 0.4"),
    ],
)
def test_a_tableau_that_contradicts_itself_is_refused_with_the_reason(change, sentence):
    assert isinstance(replace(METHODS["bs32"]), Tableau)
    with pytest.raises(InputError, match=sentence):
        replace(METHODS["bs32"], **change)
