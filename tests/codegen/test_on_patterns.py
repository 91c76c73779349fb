"""Constraints in two parts on patterns: together they are all constraints."""

from __future__ import annotations

import numpy as np

import testset
from herk.codegen.on_patterns import OnPatterns


def test_parts_of_constraints_write_what_all_of_them_write() -> None:
    dae = testset.get("cloth", N=4).model.form("overdetermined")
    sparse: OnPatterns = dae.generated.sparse
    divided = sparse.divided
    assert divided is not None
    held, last = divided.rows
    assert sorted([*held, *last]) == list(range(dae.m))
    assert len(last) == 4 * 4 + 4 * 3  # a multiplier for each rod
    assert divided.linear  # rods accelerate as their forces say
    y, parameters = np.random.default_rng(1).standard_normal(dae.n), dae.generated.parameters
    pattern = sparse.patterns["jac_g"]
    for name, size in (("g", dae.m), ("jac", pattern.nnz)):
        whole, parts = np.full(size, np.nan), np.full(size, np.nan)
        sparse.functions["jac_g" if name == "jac" else "g"](0.5, y, parameters, whole)
        for part in ("held", "last"):
            divided.functions[f"{name}_{part}"](0.5, y, parameters, parts)
        assert np.isfinite(whole).all()
        assert (whole == parts).all()
    square = np.full(pattern.nnz, np.nan)
    divided.functions["square"](0.5, y, parameters, square)
    free = np.isin(pattern.rows, last) & (pattern.indices >= 2 * 48)
    assert (np.isfinite(square) == free).all()
    assert (square[free] == whole[free]).all()
