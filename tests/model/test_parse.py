"""Texts of formulas: what they mean, and that nothing but a formula is read, at once and with a sentence."""

from __future__ import annotations

import contextlib
import math
import time

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from herk.codegen.numbers import FormulaError
from herk.core import InputError
from herk.model import entries, parse
from herk.model.model import Model

X, Z, T, M = sp.symbols("x z t m", real=True)
NAMES = {s.name: s for s in (X, Z, T, M)}
COMMA = "Piecewise((1, x > 0), (2, True))"


def read(text: str) -> sp.Basic:
    return parse.parse(text, NAMES)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("-x**2", -(X**2)),
        ("2**-x", 2 ** (-X)),
        ("x**z**2", X ** (Z**2)),
        ("x/z/2", X / (2 * Z)),
        ("x - z - t", X - Z - T),
        ("- - x", X),
        ("+x", X),
        ("x*-z", -X * Z),
        (".5*x", X / 2),
        ("1/3*x", X / 3),
        ("1.5e-3", sp.Rational(3, 2000)),
        ("pi*x", sp.pi * X),
        ("log(x) + ln(z)", sp.log(X) + sp.log(Z)),
        ("atan2(x, z)", sp.atan2(X, Z)),
        ("abs(x) + Abs(z)", sp.Abs(X) + sp.Abs(Z)),
        ("max(x, z) - Min(x, z)", sp.Max(X, Z) - sp.Min(X, Z)),
        ("x + (\n  z\n)", X + Z),
        (COMMA, sp.Piecewise((1, X > 0), (2, True))),
    ],
)
def test_a_text_means_what_it_means_in_python(text: str, meant: sp.Basic) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("0 < x <= 1", sp.And(X > 0, X <= 1)),
        ("x > 0 and not z > 1 or t < 0", ((X > 0) & (Z <= 1)) | (T < 0)),
        ("(x > 0) & ~(z > 1) | (t < 0)", ((X > 0) & (Z <= 1)) | (T < 0)),
        ("And(Gt(x, 0), Ne(z, 1))", sp.And(X > 0, sp.Ne(Z, 1))),
        ("Or(x == 0, Not(z >= 1))", sp.Or(sp.Eq(X, 0), Z < 1)),
    ],
)
def test_conditions_of_pieces_mean_what_they_mean_in_python(text: str, meant: sp.Basic) -> None:
    assert read(f"Piecewise((1, {text}), (2, True))") == sp.Piecewise((1, meant), (2, True))


def test_numbers_are_kept_as_written() -> None:
    assert read("0.1") == sp.Rational(1, 10)
    assert read("1e-9*1e-7*1e16") == 1
    assert read("0.1234567890123456789012") == sp.Rational(1234567890123456789012, 10**22)
    assert read("123456789012345678901") == 123456789012345678901


def test_formulas_are_not_expanded() -> None:
    pulse = read("z - 100*exp(-((t-5)/0.01)**2)")
    [peak] = pulse.atoms(sp.exp)
    assert isinstance(peak.args[0].args[1], sp.Pow)
    for at, height in ((5.0, 1.0), (5.01, math.exp(-1)), (4.98, math.exp(-4))):
        assert float(pulse.subs({T: at, Z: 0})) == pytest.approx(-100 * height, rel=1e-9)


def test_names_of_the_model_come_first() -> None:
    wanted = ("E", "I", "S", "N", "pi", "gamma", "beta", "lambda", "µ", "θ", "x̄", "v⃗")
    own = {name: sp.Symbol(name, real=True) for name in wanted}
    for name, symbol in own.items():
        assert parse.parse(f"2*{name}", own) == 2 * symbol
    model = Model("m", list(own), sp.eye(len(own)), list(own), t_span=(0, 1), y0=[0] * len(own))
    assert list(model.f) == list(model.states)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("().__class__.__base__.__subclasses__()", "missing before '\\)'|character '.'"),
        ("x.real", "character '.'"),
        ("x[0]", r"character '\['"),
        ("__import__('os').system('true')", "no texts"),
        ("lambda: 1", "character ':'"),
        ("[x for x in z]", r"character '\['"),
        ("{x}", "character '{'"),
        ("x if x else 1", "operator"),
        ("f'{x}'", "no texts"),
        ("x := 1", "character ':'"),
        ("x; z", "character ';'"),
        ("x # z", "character '#'"),
        ("x ^ 2", r"powers are written \*\*"),
        ("x²", r"powers are written \*\*"),
        ("x − 1", "written -"),
        ("2·x", r"written \*"),
        ("2×x", r"written \*"),
        ("x = 2", "a - b"),
        ("x % 2", "Mod"),
        ("x // 2", "missing before '/'"),
        ("2x", "operator, such as \\*, is missing before 'x'"),
        ("2j", "missing before 'j'"),
        ("x z", "missing before 'z'"),
        ("(x", r"a \) is missing before the end"),
        ("x)", "missing before '\\)'"),
        ("x, z", "missing before ','"),
        ("x +", "missing before the end"),
        ("", "missing before the end"),
        ("x(t)", "x is a name of this model and not a function"),
        ("sin", "sin stands without its argument"),
        ("sin(x, z)", "sin takes 1 argument, not 2"),
        ("atan2(x)", "atan2 takes 2 arguments, not 1"),
        ("Piecewise(x)", "pairs"),
        ("Piecewise((x, z))", "condition is expected"),
        ("Piecewise((1, x > 0 & z > 0), (2, True))", "parentheses"),
        ("x*(z > 1)", "formula is expected"),
        ("1/0", "divides by zero"),
        ("1/(1 - 1)", "divides by zero"),
        ("0**-1", "divides by zero"),
        ("Mod(x, 0)", "divides by zero"),
        ("log(0)", "no finite real value"),
        ("sqrt(-1)", "no finite real value"),
        ("(-8)**(1/3)", "no finite real value"),
        ("Rational(x, 2)", "whole numbers"),
    ],
)
def test_what_is_no_formula_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(FormulaError, match=why):
        read(text)


MONSTERS = {
    "tower": "9**9**9",
    "small tower": "2**-10**9",
    "large number": "1e400",
    "very large number": "1e999999999999",
    "small number": "1e-400",
    "many digits": "1" * 5000,
    "many characters": "x+" * 500_000 + "x",
    "parentheses": "(" * 90_000,
    "closed parentheses": "(" * 40_000 + "x" + ")" * 40_000,
    "signs": "-" * 90_000 + "x",
    "coefficient": "(2*x)**10**9",
    "coefficient, float": "(2*x)**1e9",
    "cancelled": "2**(x - x + 10**9)",
    "split exponent": "2**(x + 10**9)*2**(-x)",
    "near one": "(1 + 1/10**10)**10**10",
    "exponentials": "exp(exp(exp(10)))",
    "power in disguise": "exp(10**9*log(2))",
    "power of a state in disguise": "exp(10**9*log(2*x))",
    "factorial": "gamma(10**9)",
    "double factorial": "gamma(1/2 - 10**9)",
    "hidden in a piece": "2**Piecewise((10**9, True))",
    "underflow": "0.1**1e9",
    "hidden underflow": "sech(1e9) + x",
    "huge quotient": "Mod(1, sech(1e300))",
    "polynomial": "Min(x, Piecewise((t, 2 <= x**1000000), (z, True)))",
    "root": "sqrt(-x**1e9)",
    "product": "*".join(["10**300"] * 300),
    "product with a state": "x*" + "*".join(["10**300"] * 300),
}


@pytest.mark.parametrize("name", MONSTERS)
def test_monsters_end_in_a_sentence_at_once(name: str) -> None:
    began = time.perf_counter()
    with pytest.raises(InputError) as caught:
        entries.expression(MONSTERS[name], NAMES, "f[0]")
    assert time.perf_counter() - began < 1.0  # milliseconds on a machine of its own
    message = str(caught.value)
    assert message.startswith("f[0] is ")
    assert message.endswith(".")
    assert len(message) < 400


def test_powers_with_unwieldy_fractions_are_read_at_once_and_right() -> None:
    began = time.perf_counter()
    found = read("(x/123456789012345678901234567890)**(99999/1000000)")
    assert time.perf_counter() - began < 1.0
    assert float(found.subs(X, 2)) == pytest.approx((2 / 123456789012345678901234567890) ** 0.099999)
    assert read("2**(t/1000000)") == 2 ** (T / 1000000)
    assert read("(8*x**3)**(1/3)") == 2 * sp.cbrt(X**3)


def test_long_formulas_of_sensible_size_are_read() -> None:
    text = " + ".join(f"m**{k % 5}*sin({k}*x)/(1 + z**2)" for k in range(1, 300))
    found = float(read(text).subs({X: 0.3, Z: 0.5, M: 1.1}).evalf())
    wanted = sum(1.1 ** (k % 5) * math.sin(k * 0.3) / 1.25 for k in range(1, 300))
    assert found == pytest.approx(wanted, rel=1e-10)


def terms() -> st.SearchStrategy[str]:
    leaves = st.sampled_from(["x", "z", "t", "2", "0.5", "3", "1.25"])

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        signs = st.sampled_from(["+", " - ", "*", "/"])
        shapes = ["-{}", "({})", "({})**2", "sin({})", "cos({})"]
        pairs = st.builds(lambda a, sign, b: f"{a}{sign}{b}", inner, signs, inner)
        others = st.builds(lambda shape, a: shape.format(a), st.sampled_from(shapes), inner)
        return pairs | others

    return st.recursive(leaves, larger, max_leaves=12)


@given(text=terms())
@settings(derandomize=True, deadline=None, max_examples=150)
def test_values_are_those_of_the_same_text_in_python(text: str) -> None:
    at = {"x": 0.37, "z": 1.83, "t": -0.71}
    try:
        wanted = eval(text, {"__builtins__": {}, "sin": math.sin, "cos": math.cos}, dict(at))
    except (ZeroDivisionError, OverflowError):
        return
    try:
        found = sp.lambdify([X, Z, T], read(text), "math")(*at.values())
    except ZeroDivisionError:
        return
    if abs(wanted) < 1e8:  # beyond, something nearly vanishes in a denominator, or sums cancel
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-6)


@given(text=st.text(alphabet="xzt019.+-*/()<>=,&|~^%[]{}'\"_eE \n:!@#$", max_size=30))
@settings(derandomize=True, deadline=None, max_examples=300)
def test_any_text_is_a_formula_or_a_sentence(text: str) -> None:
    with contextlib.suppress(InputError):
        assert isinstance(entries.expression(text, NAMES, "f[0]"), sp.Expr)
