"""Functions in formulas: they keep their values, and have derivatives that code can compute."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
import sympy as sp

import herk
from herk.codegen.code import lines
from herk.codegen.scope import PYTHON
from herk.model.functions import FUNCTIONS, differentiable
from herk.model.model import Model
from herk.model.parse import parse

X = sp.Symbol("x", real=True)
INSIDE = (-2.5, -0.25, 0.75, 3.5)
INNER, OUTER, POSITIVE = (-0.25, 0.75), (-2.5, 3.5), (0.2, 3.5)
WHERE = {"acosh": (1.5, 3.5), "asech": (0.2, 0.75), "Mod": (-2.25, -0.25, 0.75, 3.5)}
WHERE |= dict.fromkeys(("asin", "acos", "atanh"), INNER) | dict.fromkeys(("asec", "acsc", "acoth"), OUTER)
WHERE |= dict.fromkeys(("log", "ln", "sqrt", "gamma"), POSITIVE)
EXACT: dict[str, Callable[[float], float]] = {
    "abs": abs, "Abs": abs, "floor": math.floor, "ceiling": math.ceil, "ln": math.log,
    "sec": lambda x: 1 / math.cos(x), "csc": lambda x: 1 / math.sin(x), "cot": lambda x: 1 / math.tan(x),
    "sech": lambda x: 1 / math.cosh(x), "csch": lambda x: 1 / math.sinh(x),
    "coth": lambda x: 1 / math.tanh(x), "acot": lambda x: math.atan(1 / x),
    "asec": lambda x: math.acos(1 / x), "acsc": lambda x: math.asin(1 / x),
    "asech": lambda x: math.acosh(1 / x), "acsch": lambda x: math.asinh(1 / x),
    "acoth": lambda x: math.atanh(1 / x), "sign": lambda x: math.copysign(1, x),
    "Mod": lambda x: x % 1.25, "Heaviside": lambda x: float(x > 0), "atan2": lambda x: math.atan2(x, 1.25),
    "max": lambda x: max(x, 1.25), "min": lambda x: min(x, 1.25),
    "Max": lambda x: max(x, 1.25), "Min": lambda x: min(x, 1.25),
}  # fmt: skip
TWO = ("Mod", "max", "min", "Max", "Min", "atan2")


def evaluated(expression: sp.Expr, x: float) -> float:
    """Return the value by generated lines of Python, which is what is compiled."""
    scope = {name: getattr(math, name) for name in dir(math)} | {"max": max, "min": min, "abs": abs, "x": x}
    scope |= {name: PYTHON[name] for name in ("round_down", "round_up", "modulo")}
    exec("\n".join(lines([("out", expression)], {X: "x"}, "v")), scope)
    return float(scope["out"])


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"Rational"}))
def test_every_function_has_its_value_and_its_slope_in_code(name: str) -> None:
    text = f"{name}(x, 1.25)" if name in TWO else f"{name}(x)"
    model = Model("m", ["x"], [[1]], [text], t_span=(0, 1), y0=[1])
    exact = EXACT.get(name) or getattr(math, name)
    for value in WHERE.get(name, INSIDE):
        assert evaluated(model.f[0], value) == pytest.approx(exact(value), rel=1e-12)
        slope = (exact(value + 1e-6) - exact(value - 1e-6)) / 2e-6
        assert evaluated(sp.diff(model.f[0], X), value) == pytest.approx(slope, rel=1e-6, abs=1e-6)


KINKS = [sp.floor, sp.ceiling, lambda x: sp.Mod(x, 3), sp.acot, sp.Abs, sp.sign, sp.Heaviside]


@pytest.mark.parametrize("make", KINKS)
def test_formulas_of_sympy_are_rewritten_as_texts_are(make: Callable[[sp.Expr], sp.Expr]) -> None:
    model = Model("m", ["x"], [[1]], [make(2 * X + 1)], t_span=(0, 1), y0=[1])
    assert not sp.diff(model.f[0], X).has(sp.Derivative, sp.DiracDelta, sp.Subs)
    for value in INSIDE:
        assert evaluated(model.f[0], value) == pytest.approx(float(make(sp.Float(2 * value + 1))))


def test_jumps_in_time_and_in_states_are_solved() -> None:
    f = ["floor(t)", "z - 2*ceiling(x + 1/2)"]
    model = Model("steps", ["x", "z"], [[1, 0], [0, 0]], f, t_span=(0, 2.5), y0=[0, None])
    sol = herk.solve_dae(model, max_step=0.01)
    assert sol.success
    assert sol.y[0, -1] == pytest.approx(0 + 1 + 2 * 0.5, abs=0.02)  # over 0..1, 1..2, 2..2.5
    assert sol.y[1, -1] == 2 * math.ceil(sol.y[0, -1] + 0.5)


NESTED = {
    "Max(-0.5, Min(0.5, cos(1e6*t)))": lambda t, x: max(-0.5, min(0.5, math.cos(1e6 * t))),
    "Min(0.5, Max(-0.5, sin(1e6*t) + x))": lambda t, x: min(0.5, max(-0.5, math.sin(1e6 * t) + x)),
    "Abs(Max(x, Min(0.5, cos(1e6*t))) - 0.25)": lambda t, x: abs(max(x, min(0.5, math.cos(1e6 * t))) - 0.25),
    "sign(Abs(cos(1e6*t)) - 0.5)*Max(0, 1 - Abs(x))": lambda t, x: (
        math.copysign(1.0, abs(math.cos(1e6 * t)) - 0.5) * max(0.0, 1.0 - abs(x))
    ),
    "Heaviside(Min(x, 1) - Max(0.2, sin(1e6*t)))": lambda t, x: float(
        min(x, 1.0) > max(0.2, math.sin(1e6 * t))
    ),
}


@pytest.mark.parametrize("text", NESTED)
def test_limits_within_limits_are_written_by_pieces_at_once_and_have_their_values(text: str) -> None:
    """sympy looked for all times at which cos(1e6 t) is below a limit, which did not end."""
    t, x = sp.symbols("t x", real=True)
    written = differentiable(parse(text, {"t": t, "x": x}))
    assert not written.has(sp.Max, sp.Min, sp.Abs, sp.sign, sp.Heaviside)
    value, chance = sp.lambdify((t, x), written, "numpy"), np.random.default_rng(7)
    for at, state in (chance.uniform(-2.0, 2.0, (60, 2)) * [1e-5, 1.0]).tolist():
        assert float(value(at, state)) == pytest.approx(NESTED[text](at, state), abs=1e-15)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("x", [0.01, 0.3, 1.3, 9.5, 1e4, -0.3, -3.7, -5.9, -6.2, -20.3])
def test_derivatives_of_gamma_have_their_values_in_code(order: int, x: float) -> None:
    exact = float(mpmath.psi(order, x))
    assert evaluated(sp.polygamma(order, X), x) == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"Rational"}))
@pytest.mark.parametrize("method", ["dopri5", "radau5"])
def test_every_function_may_stand_in_a_constraint_that_is_differentiated(name: str, method: str) -> None:
    """x' = 1/4, z = f(x), w = z'."""
    text, exact = f"{name}(x, 1.25)" if name in TWO else f"{name}(x)", EXACT.get(name) or getattr(math, name)
    begin = max(WHERE.get(name, INSIDE)) - 0.3
    equations = ["x' = 1/4", f"z = {text}", "w = z'"]
    model = Model.from_equations("m", equations, start={"x": begin}, t_span=(0, 1))
    sol = herk.solve_dae(model, method=method, rtol=1e-8, atol=1e-10)
    assert sol.success, sol.message
    x, z, w = (sol.y[model.names.index(each), -1] for each in "xzw")
    assert (x, z) == pytest.approx((begin + 0.25, exact(begin + 0.25)), rel=1e-7)
    assert w == pytest.approx((exact(x + 1e-6) - exact(x - 1e-6)) / 8e-6, rel=1e-6, abs=1e-6)
