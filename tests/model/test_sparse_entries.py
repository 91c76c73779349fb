"""E may be written as a mapping or a sparse matrix."""

from __future__ import annotations

import re
from typing import Any

import pytest
import scipy.sparse
import sympy as sp

from herk.core import InputError
from herk.model.model import Model


def written(E: Any, n: int = 3) -> Model:
    """Return a model with this E."""
    return Model(
        "m", [f"x{i}" for i in range(n)], E, ["x0"] * n, parameters={"a": 2.0}, t_span=(0, 1), y0=[1.0] * n
    )


def test_every_way_to_write_e_gives_the_same_model() -> None:
    rows = [[1, 0, 0], [0, 0.5, 0], [0, 0, 0]]
    models = [
        written(E)
        for E in (
            rows,
            {(0, 0): 1, (1, 1): 0.5},
            scipy.sparse.csr_array(rows),
            scipy.sparse.coo_matrix(rows),
            sp.SparseMatrix(sp.Matrix(rows)),
            sp.Matrix(rows),
        )
    ]
    assert all(model.E == models[0].E for model in models)
    assert len({model.structure for model in models}) == 1


def test_a_large_e_is_kept_sparse_and_the_rest_is_the_same() -> None:
    model = written({(0, 0): "a", (5, 200): "x1"}, 201)
    assert model.leading[5] == {200: model.states[1]}
    assert model.E[0, 0] == sp.Symbol("a", real=True)
    assert model.E.shape == (201, 201)


@pytest.mark.parametrize("place", [(0, 3), (-1, 0), 7, (0, 1, 2), (0.5, 0)])
def test_a_place_outside_e_is_refused(place: Any) -> None:
    with pytest.raises(InputError, match=re.escape(f"E has an entry at {place!r}; a place is (row, column)")):
        written({place: 1})


@pytest.mark.parametrize("E", [scipy.sparse.eye_array(4), sp.eye(4)])
def test_a_matrix_of_another_size_is_refused(E: Any) -> None:
    with pytest.raises(InputError, match="E is 4 x 4; for 3 states it must be 3 x 3"):
        written(E)
