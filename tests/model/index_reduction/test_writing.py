"""How derived formulas are written: equal quotients alike, and as short as they can be."""

from __future__ import annotations

import mpmath
import pytest
import sympy as sp

import herk
from herk.model.index_reduction.writing import expanded, factored, tidy

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


@pytest.mark.parametrize(
    "formula",
    ["z - 1e6*exp(-((t - 5)/1e-6)**2)", "z - cos(1e7*(t - 3)**2)", "(z - 1e8*t)**2 - t", "z - (t - 1e5)**3"],
)
def test_a_constraint_keeps_the_digits_it_was_written_with(formula: str) -> None:
    """Multiplied out, differences of large terms would cancel: exp lost all but three digits."""
    model = herk.Model("one", ["x", "z"], [[1, 0], [0, 0]], ["z", formula], t_span=(0, 9), y0=[0, None])
    t, z, (constraint,) = model.t, model.states[1], herk.regularize(model).constraints
    as_written, derived = (sp.lambdify((t, z), e, "math") for e in (model.f[1], constraint))
    for at, value in ((5.000001, 2.0), (3.0000003, 3.0000003e8), (1.7, 0.1)):
        exact = sp.lambdify((t, z), model.f[1], "mpmath")
        with mpmath.workdps(40):
            right = abs(exact(mpmath.mpf(at), mpmath.mpf(value)))
            least = abs(as_written(at, value) - right)
        assert abs(abs(derived(at, value)) - right) <= 2 * least + 1e-15 * right


UNWIELDY = [
    "exp(38.66*u - 38.66*v)*(u + exp(12.345*v - 7.1*u))/(u*exp(9.87*u) + exp(3.21*v)*v)",
    "(u**1.234 + v**(617/500))/(u**2.3457 - v*u**0.0123)",
    "(u**4000 - v**4000)/(u**3999 + u*v)",
    "(u + v + w + 1)**60/(u - v)",
    "2**(0.1234*u)/(2**(0.4321*v) + u)",
]


@pytest.mark.parametrize("text", UNWIELDY)
def test_powers_of_high_degree_are_symbols_to_polynomial_arithmetic(text: str) -> None:
    """Written out as polynomials each of these takes minutes, or all memory."""
    expr = sp.nsimplify(sp.sympify(text, {name: sp.Symbol(name, real=True) for name in "uvw"}))
    at = {symbol: 1.1 + 0.01 * k for k, symbol in enumerate(sorted(expr.free_symbols, key=str))}
    value = expr.xreplace(at).evalf(30)
    for rewrite in (tidy, factored, expanded):
        assert abs(rewrite(expr).xreplace(at).evalf(30) / value - 1) < 1e-9


def test_a_factor_between_exponentials_is_still_found() -> None:
    u, v = sp.symbols("u v", real=True)
    e = sp.exp(3 * u)
    assert factored(e**2 - 2 * e * v + v**2) in ((e - v) ** 2, (v - e) ** 2)
    assert sp.count_ops(tidy((u * e + v * e) / (u + v))) == sp.count_ops(e)
