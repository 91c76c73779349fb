"""Generated text means the same to LLVM, to Python and to the formulas it was written from."""

from __future__ import annotations

import gc
import math
from functools import cache

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from herk.codegen.code import lines
from herk.codegen.scope import PYTHON, SHARED
from herk.codegen.thunks import with_parameters
from herk.core import InputError
from herk.jit.native import Native, bound, build

X = sp.symbols("x0:3", real=True)
NAMES = {X[i]: f"y{i}" for i in range(3)}
ATOMS = st.sampled_from([*X, sp.Integer(2), sp.Rational(1, 3), sp.Float("0.7"), sp.pi, sp.Integer(-3)])
UNARY = [
    sp.sin,
    sp.cos,
    sp.tan,
    sp.asin,
    sp.acos,
    sp.atan,
    sp.sinh,
    sp.cosh,
    sp.tanh,
    sp.asinh,
    sp.acosh,
    sp.atanh,
    sp.exp,
    sp.log,
    sp.sqrt,
    sp.erf,
    sp.erfc,
    sp.gamma,
    sp.loggamma,
    sp.Abs,
    sp.sign,
    sp.Heaviside,
    sp.floor,
    sp.ceiling,
    sp.sec,
    sp.csc,
    sp.cot,
    lambda e: e**2,
    lambda e: e**5,
    lambda e: e**-3,
    lambda e: e ** sp.Rational(3, 2),
    lambda e: e**17,
]
BINARY = [
    sp.Add,
    sp.Mul,
    lambda a, b: a - b,
    lambda a, b: a / b,
    sp.Max,
    sp.Min,
    sp.atan2,
    sp.Mod,
    lambda a, b: sp.Piecewise((a, a > b), (b, True)),
    lambda a, b: sp.Piecewise((sp.log(a), a > 0), (b, b > 1), (a * b, True)),
    lambda a, b: sp.Abs(a) ** b,
    lambda a, b: sp.Piecewise((a, sp.And(a > 0, sp.Not(b > 0))), (b, sp.Or(a > 1, b < 0)), (a + b, True)),
]
FORMULAS = st.recursive(
    ATOMS,
    lambda parts: (
        st.builds(lambda f, a: f(a), st.sampled_from(UNARY), parts)
        | st.builds(lambda f, a, b: f(a, b), st.sampled_from(BINARY), parts, parts)
    ),
    max_leaves=6,
)


def function_of(formulas: list[sp.Expr]) -> Native:
    """Return the formulas as machine code f(t, y, out)."""
    body = [f"y{i} = y[{i}]" for i in range(3)] + lines(
        [(f"out[{k}]", e) for k, e in enumerate(formulas)], NAMES, "c"
    )
    text = "def f(t, y, out):\n" + "".join(f"    {line}\n" for line in body)
    return build(text, ("f",), {}, SHARED, PYTHON)["f"]


def exact(formula: sp.Expr, point: list[float]) -> float | None:
    """Return the value with 40 digits.

    None where there is no finite real one or doubles cannot be expected to find it.
    """
    with mpmath.workdps(40):
        try:
            values = [
                sp.sympify(formula)
                .xreplace(dict(zip(X, (sp.Float(v + d, 40) for v in point), strict=True)))
                .evalf(40)
                for d in (0.0, 1e-13)
            ]
            numbers = [complex(value) for value in values]
        except (TypeError, ValueError, ZeroDivisionError, OverflowError):
            return None
    value, shifted = numbers
    if (
        value.imag
        or not math.isfinite(value.real)
        or abs(value) > 1e12
        or abs(shifted - value) > 1e-9 * (abs(value) + 1e-3)
    ):
        return None
    return value.real


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    formula=FORMULAS,
    point=st.lists(st.floats(-3, 3).map(lambda v: round(v, 3) + 1e-4), min_size=3, max_size=3),
)
def test_random_formulas_have_the_value_mpmath_gives_them(formula, point):
    if not isinstance(formula, sp.Expr) or formula.has(sp.nan, sp.zoo, sp.oo, sp.I):
        return
    wanted = exact(formula, point)
    if wanted is None:
        return
    function, out, plain = function_of([formula]), np.zeros(1), np.zeros(1)
    function(0.0, np.array(point), out)
    with np.errstate(all="ignore"):
        function.py_func(0.0, np.array(point), plain)
    assert out[0] == pytest.approx(wanted, rel=1e-8, abs=1e-11)
    assert plain[0] == pytest.approx(out[0], rel=1e-12, abs=1e-14)


def test_every_function_has_the_value_mpmath_gives_it():
    formulas = [f(X[0]) for f in UNARY] + [f(X[0], X[1]) for f in BINARY]
    function, out, compared = function_of(formulas), np.zeros(len(formulas)), [0] * len(formulas)
    for point in np.random.default_rng(0).uniform(-2.5, 2.5, (12, 3)).round(3):
        for scaled in (point, 0.3 * point + 1e-3, np.abs(point) + 1.0):
            function(0.0, scaled, out)
            for k, formula in enumerate(formulas):
                wanted = exact(formula, list(scaled))
                if wanted is not None:
                    compared[k] += 1
                    assert out[k] == pytest.approx(wanted, rel=1e-10, abs=1e-12), (formula, scaled)
    assert min(compared) >= 6, [str(f) for f, n in zip(formulas, compared, strict=True) if n < 6]


def test_a_branch_that_does_not_apply_leaves_no_trace():
    x = X[0]
    function, out = (
        function_of([sp.Piecewise((sp.log(x) / (x + 1), x > 0), (sp.sqrt(-x), True))]),
        np.zeros(1),
    )
    for value, wanted in ((-4.0, 2.0), (-1.0, 1.0), (1.0, 0.0)):
        function(0.0, np.array([value, 0.0, 0.0]), out)
        assert out[0] == wanted


def test_arithmetic_is_that_of_ieee_and_nothing_raises():
    function, out = function_of([1 / X[0], sp.sqrt(X[1]), sp.exp(X[2])]), np.zeros(3)
    function(0.0, np.array([0.0, -1.0, 1e4]), out)
    assert out[0] == np.inf
    assert np.isnan(out[1])
    assert out[2] == np.inf


LOOPS = """
def inner(t, y, work):
    total = 0.0
    for i in range(4):
        if y[i] < 0.0:
            break
        total += y[i]
    else:
        total = total + 100.0
    return (total, 2.0 * t)

def f(t, y, out):
    total, twice = inner(t, y, out)
    out[0] = total
    out[1] = twice if total > 50.0 else -twice
    out[2] = max(total, twice, 7.0)
    out[3] = min(total, twice, 7.0)
    count = 0
    for i in range(3):
        count += 1
    out[4] = count
    return
"""


@pytest.mark.parametrize("y", [(1.0, 2.0, 3.0, 4.0), (1.0, -2.0, 3.0, 4.0)])
def test_loops_breaks_and_choices_do_what_python_does(y):
    function = build(LOOPS, ("f",), {}, {}, {})["f"]
    found, wanted = np.zeros(5), np.zeros(5)
    function(1.5, np.array(y), found)
    function.py_func(1.5, np.array(y), wanted)
    np.testing.assert_array_equal(found, wanted)


def test_linear_algebra_is_reached_from_generated_code():
    text = "def f(t, y, out):\n    p = solve_leveled(y, 2)\n    out[0] = p\n    out[1] = y[4]\n    out[2] = y[5]\n"
    function = build(text, ("f",), {}, SHARED, PYTHON)["f"]
    out, right, units = np.zeros(3), [6.0, 7.0], [1.0, 1.0]
    function(
        0.0, np.array([0.0, 2.0, 4.0, 1.0, *right, *units, 0.0, 0.0]), out
    )  # [[0, 2], [4, 1]] z = (6, 7)
    np.testing.assert_allclose(out, [1.0, 1.0, 3.0])  # no row has a larger entry than its pivot


def test_machine_code_is_called_by_the_convention_of_numba_too():
    function, out = function_of([X[0] + 10 * X[1] + 100 * X[2]]), np.zeros(1)
    with_parameters(function)(0.0, np.array([1.0, 2.0, 3.0]), np.zeros(1), out)
    assert out[0] == 321.0


def test_bound_parameters_are_read_at_run_time():
    text = "def f(t, y, par, out):\n    out[0] = par[0] * y[0] + t\n"
    values = np.array([3.0])
    function = bound(build(text, ("f",), {}, {}, {})["f"], values)
    out = np.zeros(1)
    function(0.5, np.array([2.0]), out)
    assert out[0] == 6.5
    values[0] = 4.0
    function(0.5, np.array([2.0]), out)
    assert out[0] == 8.5
    function.py_func(0.5, np.array([2.0]), out)
    assert out[0] == 8.5


def test_what_is_unknown_is_named():
    with pytest.raises(InputError, match="no function bessel"):
        build("def f(t, y, out):\n    out[0] = bessel(t)\n", ("f",), {}, {}, {})
    with pytest.raises(InputError, match="nothing is called q"):
        build("def f(t, y, out):\n    out[0] = q\n", ("f",), {}, {}, {})


def test_code_that_is_dropped_leaves_no_memory_behind():
    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    text = "def f(t, y, out):\n    out[0] = sin(t) * {0}\n"
    for k in range(20):
        build(text.format(float(k)), ("f",), {}, {}, {})
    gc.collect()
    before = resident()
    for k in range(100):
        build(text.format(float(k)), ("f",), {}, {}, {})
    gc.collect()
    assert resident() - before < 20e6


INLINED = """
@inline
def parted(y0, y1):
    if y1 == 0.0:
        return (-1, nan, nan)
    whole = round_down(y0 / y1)
    return (1 if whole > 0.0 else 0, whole, y0 - y1 * whole)


def either(t, y, out):
    found, out[0], out[1] = parted(y[0], y[1])
    if found < 0:
        out[2] = -1.0
    else:
        out[2] = out[0] if found > 0 else 7.0
"""


@cache
def _inlined() -> Native:
    return build(INLINED, ["either"], {}, SHARED, PYTHON)["either"]


@given(st.integers(-50, 50), st.integers(-5, 5))
@settings(deadline=None, max_examples=60)
def test_an_inlined_function_gives_all_its_results_by_either_way_out(top: int, under: int) -> None:
    out = np.zeros(3)
    _inlined()(0.0, np.array([float(top), float(under)]), out)
    if under == 0:
        assert np.isnan(out[:2]).all()
        assert out[2] == -1.0
        return
    whole, rest = divmod(top, under)
    assert out.tolist() == [whole, rest, whole if whole > 0 else 7.0]
