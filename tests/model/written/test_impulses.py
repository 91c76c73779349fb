"""Derivatives of what jumps: impulses are refused in a sentence, slopes between jumps are values."""

from __future__ import annotations

import math

import pytest
import sympy as sp

import herk
from herk.core import InputError
from herk.model.model import Model

t = sp.Symbol("t")
x = sp.Function("x")(t)
IMPULSES = {
    "Heaviside": ("x' = der(Heaviside(t - 1))", "Heaviside(t - 1)"),
    "of the state": ("x' = der(sign(x - 0.5))", "sign(x - 1/2)"),
    "floor": ("x' = der(floor(t))", "floor(t)"),
    "a product": ("x' = der((1 + ceiling(x))*t)", "ceiling(x)"),
    "a kink twice": ("x' = der(der(abs(t - 1)))", "sign(t - 1)"),
    "sympy": (sp.Eq(x.diff(t), sp.Derivative(sp.Heaviside(t - 1), t)), "Heaviside(t - 1)"),
    "sympy, carried out": (sp.Eq(x.diff(t), sp.DiracDelta(t - 1)), "a function that jumps where 0 = t - 1"),
}


@pytest.mark.parametrize("name", IMPULSES)
def test_the_derivative_of_a_jump_is_refused_as_an_impulse(name: str) -> None:
    equation, jumping = IMPULSES[name]
    with pytest.raises(InputError) as caught:
        Model.from_equations("m", [equation], start={"x": 0}, t_span=(0, 2))
    assert f"Equation 0 contains the derivative of {jumping}: where it jumps" in str(caught.value)


@pytest.mark.parametrize("formula", ["Heaviside(t - 1)", "floor(t)", "2*sign(t - 1) + t"])
def test_so_is_that_of_a_specified_function(formula: str) -> None:
    with pytest.raises(InputError, match="that is an impulse"):
        Model.from_equations("m", ["x' = q'"], specified={"q": formula}, start={"x": 0}, t_span=(0, 2))


def test_what_the_sentence_advises_has_the_jump() -> None:
    """w = x - Heaviside(t - 1), w' = -x: x jumps by one at t = 1 and decays."""
    equations = ["w' = -x", "w = x - Heaviside(t - 1)"]
    sol = herk.solve_dae(Model.from_equations("m", equations, start={"w": 1}, t_span=(0, 2)), rtol=1e-8)
    wanted = math.exp(-2) + math.exp(-1)
    assert sol.y[sol.names.index("x"), -1] == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    ("equation", "end"),
    [("x' = der(sign(p)*t)", 2.0), ("x' = der(Mod(t, 0.5))", 2.0), ("x' = der(abs(t - 1))", 0.0)],
)
def test_constants_remainders_and_kinks_have_slopes(equation: str, end: float) -> None:
    options = {"parameters": {"p": 3.0}} if "p)" in equation else {}
    model = Model.from_equations("m", [equation], start={"x": 0}, t_span=(0, 2), **options)
    assert herk.solve_dae(model).y[0, -1] == pytest.approx(end, abs=1e-6)


@pytest.mark.parametrize("equation", ["pi' = -pi", "x' = pi(t)"])
def test_an_unknown_called_like_a_number_is_refused(equation: str) -> None:
    with pytest.raises(InputError, match="with pi as an unknown, but pi is a number in texts"):
        Model.from_equations("m", [equation], start={"pi": 1}, t_span=(0, 1))
    with pytest.raises(InputError, match="with pi as an unknown"):
        Model.from_equations("m", ["x' = -pi"], unknowns=["x", "pi"], t_span=(0, 1))


def test_a_parameter_may_be_called_pi_and_an_unknown_e() -> None:
    model = Model.from_equations("m", ["e' = -pi*e"], parameters={"pi": 2}, start={"e": 1}, t_span=(0, 1))
    sol = herk.solve_dae(model, rtol=1e-9, atol=1e-11)
    assert sol.y[0, -1] == pytest.approx(math.exp(-2), rel=1e-7)


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_powers_of_zero_have_no_derivatives_which_is_said(start: float) -> None:
    model = Model.from_equations("m", ["x' = 1", "z = 0**x"], start={"x": start}, t_span=(0, 1))
    with pytest.raises(herk.RegularizationError, match=r"derivatives of 0 = 0\*\*x - z have no finite value"):
        herk.solve_dae(model)
