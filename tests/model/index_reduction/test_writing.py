"""How derived formulas are written: equal quotients alike, and as short as they can be."""

from __future__ import annotations

import pytest
import sympy as sp

from herk.model.index_reduction.writing import tidy

t = sp.Symbol("t")
S, C = sp.sin(2 * t), sp.cos(2 * t)
TAN = S * (S + C) / (C**2 - S**2)  # sin/(cos - sin), extended by sin + cos
DISGUISED = {
    "sines below": (S * C**2 + S * C - S - C**3 + C) / (-S * C + S + 2 * C**3 + C**2 - 2 * C),
    "a sum of two": -((C - S) * C + C) * TAN / ((S - C) * S - C) + (C - S) * S / ((S - C) * S - C),
}


@pytest.mark.parametrize("name", DISGUISED)
def test_a_factor_common_by_the_circle_alone_is_cancelled(name: str) -> None:
    """Both are sin (sin + cos)/cos(4 t); written with sines below, they grew from level to level."""
    written = tidy(DISGUISED[name])
    assert sp.count_ops(written) <= 16
    for at in (0.1, 0.7, 1.9):
        right = sp.sin(2 * at) * (sp.sin(2 * at) + sp.cos(2 * at)) / sp.cos(4 * at)
        assert float(written.subs(t, at)) == pytest.approx(float(right), rel=1e-12)
