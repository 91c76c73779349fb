"""Generated text computes what sympy means, to rounding, and says in a sentence what it cannot write."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import sympy as sp

from herk.codegen.code import lines, literal, power, prepared
from herk.codegen.equations import Equations
from herk.codegen.scope import PYTHON
from herk.core import InputError
from herk.jit.native import build

t = sp.Symbol("t", real=True)
x, y, z = sp.symbols("x y z", real=True)
NAMES = {t: "t", x: "y0", y: "y[1]", z: "y2"}

EXPRESSIONS = {
    "polynomial": x**2 + 3 * x * y**3 - sp.Rational(1, 7) * z**5 + x**16,
    "high power": (x + 1) ** 17 / 10**4,
    "nested powers": ((x + y) ** 3 + z) ** 2 + (x + y) ** 3,
    "quotient": -x / (y * z) + 1 / (x + 2) - 3 / (y**2 + 1) ** 2,
    "square roots": sp.sqrt(x)
    + x ** sp.Rational(3, 2)
    + y ** sp.Rational(-5, 2)
    + (x + z) ** sp.Rational(-1, 2),
    "other powers": x ** sp.Rational(1, 3) + 2**y + x**z,
    "signs": -(x + y) - (-x) * (y - z) * (-(z - 4)),
    "constants": sp.pi * sp.sqrt(2) * x + sp.E + sp.Rational(1, 3) - 10**30 * x / 10**30,
    "trigonometry": sp.sin(x) * sp.cos(y)
    + sp.tan(z)
    + sp.atan2(x, -y)
    + sp.asin(x / 9)
    + sp.acos(y / 9)
    + sp.atan(z),
    "reciprocals": sp.sec(x) + sp.csc(y) + sp.cot(z) + sp.sech(x) + sp.csch(y) + sp.coth(z),
    "hyperbolic": sp.sinh(x) + sp.cosh(y) - sp.tanh(z) + sp.asinh(x) + sp.acosh(y + 1) + sp.atanh(z / 9),
    "exponentials": sp.exp(-x) * sp.log(y) + sp.exp(x * y) / sp.exp(z),
    "special": sp.erf(x) + sp.erfc(y) + sp.gamma(z) + sp.loggamma(x + 1),
    "absolute values": sp.Abs(x - y)
    + sp.sign(x - y) * z
    + sp.sign(y - x)
    + sp.Max(x, y, z)
    - sp.Min(x, 2 * y),
    "branches": sp.Piecewise((x, x < y), (y**2, sp.And(x > y, z < 1)), (z, True))
    + sp.Piecewise((1, sp.Or(x > 9, sp.Not(y > z))), (2, True)),
    "nested branches": sp.sin(sp.Piecewise((sp.Piecewise((x, y > z), (z, True)) + 1, x > z), (x * y, True))),
    "branches in conditions": sp.Piecewise(
        (x, sp.Piecewise((y, x > 1), (z, True)) > 1), (sp.Piecewise((y, x > 1), (z, True)), True)
    ),
    "guarded logarithm": sp.Piecewise((sp.log(x - y) + sp.log(x - y) ** 2, x > y), (0, True)),
    "jumps": sp.Heaviside(x - y)
    + sp.diff(sp.Max(x, y), x)
    + sp.diff(sp.Abs(x - z) ** 3, x)
    + sp.floor(3 * x)
    + sp.ceiling(3 * y)
    + sp.Mod(x, y),
    "time": sp.sin(3 * t) * x + t**3,
}


def statements_as_function(statements: list[str], count: int):
    body = ["y0 = y[0]", "y2 = y[2]", *statements, f"return ({', '.join(f'r{i}' for i in range(count))},)"]
    scope = dict(vars(math)) | {name: PYTHON[name] for name in ("round_down", "round_up", "modulo")}
    exec("def evaluate(t, y):\n" + "\n".join("    " + line for line in body), scope)
    return scope["evaluate"]


@pytest.fixture(scope="module")
def evaluate():
    assignments = [(f"r{i}", e) for i, e in enumerate(EXPRESSIONS.values())]
    return statements_as_function(lines(assignments, NAMES, "c"), len(assignments))


def points():
    source = random.Random(5)
    return [(source.uniform(0.1, 3), [source.uniform(0.1, 3) for _ in range(3)]) for _ in range(20)]


def exact(expression, time, values):
    at = {t: time, x: values[0], y: values[1], z: values[2]}
    return float(sp.N(expression.xreplace({s: sp.Rational(v) for s, v in at.items()}), 30))


def scale(expression, time, values):
    """Return the size of the largest term: rounding is relative to it."""
    return max(abs(exact(sp.sympify(term), time, values)) for term in sp.Add.make_args(expression))


@pytest.mark.parametrize("number", range(len(EXPRESSIONS)), ids=list(EXPRESSIONS))
def test_generated_numbers_equal_thirty_digit_evaluation(number, evaluate):
    expression = list(EXPRESSIONS.values())[number]
    for time, values in points():
        error = abs(evaluate(time, values)[number] - exact(expression, time, values))
        assert error <= 1e-14 * max(scale(expression, time, values), 1e-3)


def test_machine_code_agrees_with_everything_that_is_printed(evaluate):
    body = [
        "y0 = y[0]",
        "y2 = y[2]",
        *lines([(f"out[{i}]", e) for i, e in enumerate(EXPRESSIONS.values())], NAMES, "c"),
    ]
    text = "def f(t, y, out):\n" + "\n".join("    " + line for line in body)
    fast = build(text, ("f",), {}, {}, {})["f"]
    for time, values in points():
        out = np.empty(len(EXPRESSIONS))
        fast(time, np.array(values), out)
        np.testing.assert_allclose(out, evaluate(time, values), rtol=1e-13)


def test_common_parts_are_computed_once():
    text = "\n".join(lines([("a", sp.sin(x * y) + 1), ("b", sp.sin(x * y) ** 2)], NAMES, "c"))
    assert text.count("sin(") == 1


def test_small_powers_are_products_without_a_call():
    text = "\n".join(lines([("a", x**2 + (x + y) ** 4 + z ** (-3))], NAMES, "c"))
    assert "pow" not in text
    assert "**" not in text
    assert "1.0/(y2*y2*y2)" in text


@pytest.mark.parametrize("exponent", range(1, 17))
def test_power_is_that_power(exponent):
    assert eval(power("x", exponent), {"x": 3}) == 3**exponent


def test_a_part_of_a_branch_is_not_evaluated_where_its_condition_fails():
    guarded = sp.Piecewise((sp.log(x - y) * (1 + sp.log(x - y)), x > y), (7, True))
    assert statements_as_function(lines([("r0", guarded)], NAMES, "c"), 1)(0.0, [1.0, 2.0, 0.0]) == (7.0,)


def test_no_branch_that_holds_gives_nan():
    value = statements_as_function(lines([("r0", sp.Piecewise((1, x > y)))], NAMES, "c"), 1)(
        0.0, [1.0, 2.0, 0.0]
    )
    assert math.isnan(value[0])


@pytest.mark.parametrize(
    "number",
    [sp.Rational(1, 3), sp.Float(0.1), sp.pi, -sp.sqrt(2), sp.Integer(10) ** 22, sp.Rational(1, 10**300)],
)
def test_literals_are_the_nearest_double(number):
    value = sp.Rational(float(literal(number)))
    spacing = sp.Rational(math.ulp(float(value)))
    assert abs(sp.N(number - value, 40)) <= spacing / 2


@pytest.mark.parametrize(
    ("expression", "word"),
    [
        (sp.LambertW(x), "LambertW"),
        (sp.Function("u")(x), "u"),
        (sp.I * x, "real"),
        (sp.zoo * x, "real"),
        (sp.Symbol("mass") * x, "mass"),
        (sp.Derivative(sp.Function("u")(x), x), "derivative"),
        (sp.Integer(10) ** 400, "too large"),
    ],
)
def test_what_cannot_be_written_is_named(expression, word):
    with pytest.raises(InputError, match=word):
        lines([("a", expression)], NAMES, "c")


def test_preparation_makes_symbols_real_and_numbers_exact():
    a, b = sp.symbols("a b")
    one = sp.ImmutableDenseMatrix
    given = Equations(t, (a, b), one(sp.eye(2)), one([sp.Abs(a) ** 2.0, 0.1 * b**0.5]), one([a**0.3 - b]))
    ready, names = prepared(given)
    real_a, real_b = ready.states
    assert ready.f[0] == real_a**2
    assert ready.f[1] == sp.Rational(0.1) * sp.sqrt(real_b)
    assert [names[s] for s in (ready.t, *ready.states)] == ["t", "y0", "y1"]


def test_a_symbol_without_value_is_named_before_anything_is_written():
    one = sp.ImmutableDenseMatrix
    with pytest.raises(InputError, match="mass"):
        prepared(Equations(t, (x,), one([[sp.Symbol("mass")]]), one([x]), one(0, 1, [])))
