"""Equations as written become a model: unknowns found, states named, start by name, mistakes named."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import herk
from herk.model.written.start import derivatives, in_order

PENDULUM = ["m*x'' = -2*x*lam", "m*y'' = -2*y*lam - m*g", "0 = x**2 + y**2 - l**2"]
VALUES = {"m": 2.0, "g": 9.81, "l": 1.5}
START = {"x": 1.5, "y": 0, "x'": 0, "y'": 0}


def written(equations=PENDULUM, **options):
    options = {"parameters": VALUES, "start": START, "t_span": (0, 2)} | options
    return herk.Model.from_equations("pendulum", equations, **options)


def by_hand() -> herk.Model:
    return herk.Model(
        "pendulum",
        ["x", "y", "dx", "dy", "lam"],
        [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, "m", 0, 0], [0, 0, 0, "m", 0], [0, 0, 0, 0, 0]],
        ["dx", "dy", "-2*x*lam", "-2*y*lam - m*g", "x**2 + y**2 - l**2"],
        parameters=VALUES,
        t_span=(0, 2),
        y0=(1.5, 0, 0, 0, None),
    )


def test_texts_give_the_model_one_would_write_by_hand() -> None:
    assert written() == by_hand()
    assert written().structure == by_hand().structure


def test_sympy_equations_in_dynamicsymbols_give_the_same_model() -> None:
    x, y, lam = dynamicsymbols("x y lam")
    m, g, l = sp.symbols("m g l")  # noqa: E741 - the textbook's length
    equations = [
        sp.Eq(m * x.diff("t", 2), -2 * x * lam),
        m * y.diff("t", 2) + 2 * y * lam + m * g,
        sp.Eq(0, x**2 + y**2 - l**2),
    ]
    start = {x: 1.5, y: 0, x.diff(): 0, y.diff(): 0}
    assert written(equations, start=start, unknowns=[x, y, lam]).structure == by_hand().structure
    assert written(equations, start=start, unknowns=[x, y, lam]).y0 == by_hand().y0


def test_names_for_latex_become_plain_names() -> None:
    """theta' = -mu theta has the solution exp(-mu t)."""
    theta, mu = dynamicsymbols(r"\theta_{1}"), sp.Symbol(r"\mu")
    model = herk.Model.from_equations(
        "decay", [theta.diff() + mu * theta], parameters={mu: 2}, start={theta: 1}, t_span=(0, 1)
    )
    assert model.names == ("theta_1",)
    assert np.allclose(herk.solve_dae(model, rtol=1e-9).y[0, -1], np.exp(-2), atol=1e-8)


def test_a_matrix_of_formulas_and_an_equation_of_matrices_are_taken_apart() -> None:
    x, y = dynamicsymbols("x y")
    left, right = sp.Matrix([x.diff(), y.diff()]), sp.Matrix([y, -x])
    for equations in ([left - right], [sp.Eq(left, right)]):
        model = herk.Model.from_equations(
            "turn", equations, t_span=(0, 1), start={"x": 1, "y": 0}, unknowns="xy"
        )
        assert model.names == ("x", "y")
        assert list(model.f) == list(model.states[::-1] * np.array([1, -1]))


def test_every_way_to_write_a_derivative_means_the_same() -> None:
    ways = ["x'' = -x", "x''(t) = -x(t)", "der(der(x)) = -x", "der(x') = -x", "x′′ = -x", "0 = -x - x''"]
    models = [
        herk.Model.from_equations("swing", [way], t_span=(0, 1), start={"x": 1, "x'": 0}) for way in ways
    ]
    assert {model.names for model in models} == {("x", "dx")}
    for model in models:
        assert np.allclose(herk.solve_dae(model, rtol=1e-9).y[:, -1], [np.cos(1), -np.sin(1)], atol=1e-8)


def test_the_derivative_of_a_product_is_worked_out() -> None:
    """d/dt (x y) = 1 with x = y has the solution x = sqrt(1 + t)."""
    model = herk.Model.from_equations(
        "root", ["der(x*y) = 1", "x = y"], t_span=(0, 3), start={"x": 1, "y": 1}
    )
    assert np.allclose(herk.solve_dae(model, rtol=1e-9).y[:, -1], 2.0, atol=1e-7)


def test_derivatives_of_third_order_are_chains_of_states() -> None:
    """x''' = x' has the solution exp(t) for x = x' = x'' = 1."""
    model = herk.Model.from_equations("jerk", ["x''' = x'"], t_span=(0, 1), start={"x": 1, "x'": 1, "x''": 1})
    assert model.names == ("x", "dx", "ddx")
    assert np.allclose(herk.solve_dae(model, rtol=1e-9).y[:, -1], np.e, atol=1e-7)


def test_states_are_called_as_the_user_wishes() -> None:
    model = written(names={"x'": "v", "y'": "w"})
    assert model.names == ("x", "y", "v", "w", "lam")
    assert model.y0 == (1.5, 0.0, 0.0, 0.0, None)


def test_a_velocity_of_the_users_own_may_have_the_name_we_would_have_chosen() -> None:
    model = herk.Model.from_equations(
        "swing", ["x' = dx", "dx' = -x"], t_span=(0, 1), start={"x": 1, "dx": 0}
    )
    assert model.names == ("x", "dx")


def test_an_implicit_equation_gets_its_derivative_as_unknown_and_says_so() -> None:
    """x'^2 + x^2 = 1 with x(0) = 0, x'(0) = 1 is solved by sin(t)."""
    model = herk.Model.from_equations("circle", ["x'**2 + x**2 = 1"], t_span=(0, 1), start={"x": 0, "x'": 1})
    assert model.names == ("x", "dx")
    assert any("x' enters equation 0 nonlinearly" in note for note in model.notes)
    assert np.allclose(
        herk.solve_dae(model, rtol=1e-10, atol=1e-10).y[:, -1], [np.sin(1), np.cos(1)], atol=1e-9
    )


def test_an_unknown_derivative_is_computed_if_its_start_is_left_open() -> None:
    """y' + y'^3 = 2 t + 8 t^3 has the solution y = t^2; its derivative at 1 is 2."""
    model = herk.Model.from_equations("cubic", ["y' + y'**3 = 2*t + 8*t**3"], t_span=(1, 2), start={"y": 1})
    sol = herk.solve_dae(model, rtol=1e-10, atol=1e-10)
    assert abs(sol.y[1, 0] - 2.0) < 1e-12
    assert abs(sol.y[0, -1] - 4.0) < 1e-9


def test_what_only_looks_nonlinear_is_not() -> None:
    model = herk.Model.from_equations(
        "sham", ["(x' + 1)**2 - x'**2 = 3 - 2*x"], t_span=(0, 1), start={"x": 0}
    )
    assert model.names == ("x",)
    assert np.allclose(herk.solve_dae(model, rtol=1e-9).y[0, -1], 1 - np.exp(-1), atol=1e-8)


def test_specified_functions_of_time_are_inserted_with_their_derivatives() -> None:
    """x = u, with u = sin(t) given, and v = u' = cos(t)."""
    equations = ["x = u", "v = u'"]
    model = herk.Model.from_equations("path", equations, specified={"u": "sin(t)"}, t_span=(0, 1))
    assert model.names == ("x", "v")
    t = model.t
    assert list(model.f) == [sp.sin(t) - model.states[0], sp.cos(t) - model.states[1]]


def test_start_values_by_name_go_into_the_order_of_any_model() -> None:
    assert in_order(by_hand(), {"y'": 3.0, "x": 2}) == (2, 0.0, 0.0, 3.0, None)
    assert in_order(by_hand(), {"lam": 1.0, "dy": None}) == (1.5, 0.0, 0.0, None, 1.0)
    assert by_hand().with_start({"y'": 3.0}).y0 == (1.5, 0.0, 0.0, 3.0, None)
    assert {str(jet): at for jet, at in derivatives(by_hand()).items()} == {"x'": 2, "y'": 3}


def test_a_model_with_notes_can_be_stored_and_copied() -> None:
    model = written()
    assert pickle.loads(pickle.dumps(model)) == model
    assert pickle.loads(pickle.dumps(model)).notes == model.with_span(3).notes == model.notes != ()


def test_the_equations_are_shown_as_formulas() -> None:
    shown = written()._repr_latex_()
    rows = (
        shown.removeprefix(r"$\displaystyle \begin{aligned} ").removesuffix(r" \end{aligned}$").split(r" \\ ")
    )
    assert rows == [
        r"m \ddot{x} &= - 2 \lambda x",
        r"m \ddot{y} &= - g m - 2 \lambda y",
        r"0 &= - l^{2} + x^{2} + y^{2}",
    ]
    assert r"\dot{x} &= v \\" in written(names={"x'": "v", "y'": "w"})._repr_latex_()
    assert r"0 &= 2 \dot{x} x + 2 \dot{y} y" in herk.regularize(written())._repr_latex_()


def test_a_model_is_printed_as_one_would_type_it() -> None:
    assert str(written()).splitlines() == [
        "Model 'pendulum'",
        "  x' = dx",
        "  y' = dy",
        "  m*dx' = -2*lam*x",
        "  m*dy' = -g*m - 2*lam*y",
        "  0 = -l**2 + x**2 + y**2",
        "  span: t = 0 to 2",
        "  parameters: m = 2, g = 9.81, l = 1.5",
        "  start: x = 1.5, y = 0, dx = 0, dy = 0",
        "  computed: lam",
    ]
    twins = herk.Model("twins", ["u", "v"], [["a + 1", -1], [0, 0]], ["-1e-6*u", "u - v"], parameters={"a": 2.0},
                       t_span=(0, 1), y0=[1, 1])  # fmt: skip
    assert "  (a + 1)*u' - v' = -1.0e-6*u" in repr(twins)
    chain = [f"x{i}' = {' + '.join(['x0'] * (30 if i else 1))}*sin(x{i})" for i in range(40)]
    large = str(herk.Model.from_equations("large", chain, t_span=(0, 1)))
    assert "... 28 more rows" in large
    assert max(map(len, large.splitlines())) <= 110


t, s = sp.symbols("t s")
x = sp.Function("x")


@pytest.mark.parametrize(
    ("equations", "options", "words"),
    [
        (["x' = a*x"], {}, r"1 equation for 2 unknowns \(x, a\); constants get their values in parameters"),
        (["x' = 1", "x = t"], {}, "2 equations for 1 unknown"),
        (["x' = x = 1"], {}, "more than one ="),
        (["x' = x +"], {}, "Equation 0 is .* which is not an equation"),
        (["x' > 1"], {}, "is a condition and not an equation"),
        (["(x*y)' = 1"], {}, "a prime stands right behind a name"),
        (["x'(s) = 1"], {}, r"contains x'\(s\); unknowns are functions of t alone"),
        (["t' = 1"], {}, "t is not an unknown"),
        (["__import__('os')"], {}, "a prime stands|not an equation"),
        ([sp.Eq(1, 1)], {}, "a comparison and not an equation"),
        ([object()], {}, "which is not an equation: give sympy's Eq"),
        ([], {}, "not an empty one"),
        ("x' = 1", {}, "must be a sequence"),
        ([sp.Eq(x(t).diff(t), sp.Symbol("k"))], {}, "contains the symbol k; give its value in parameters"),
        ([x(t, s).diff(t)], {}, "functions of t alone"),
        (["x'' = dx", "dx = x"], {}, r"x' would be called dx.* choose another name, such as names="),
        (["x' = 1"], {"names": {"y'": "v"}}, 'There is no state in these equations named "y\'"'),
        (["x' = 1"], {"names": {3: "v"}}, "names contains 3"),
        (["x' = 1"], {"start": {"z": 1}}, "There is no state of model 'wrong' named 'z'"),
        (["x' = 1"], {"start": {"x'": 1}}, "x' is not a state of model 'wrong'"),
        (["x'' = 1"], {"start": {"x'": 1, "dx": 1}}, "names dx twice"),
        (["x' = 1"], {"start": [1]}, "start must be a mapping"),
        (["x' = 1"], {"unknowns": ["y"]}, "There is no unknown in the list unknowns= named 'x'"),
        (["x' = u"], {"specified": {"u'": "t"}}, "specified names u', which is a derivative"),
    ],
)
def test_a_mistake_is_named_in_a_sentence(equations, options, words) -> None:
    with pytest.raises(herk.InputError, match=words):
        herk.Model.from_equations("wrong", equations, t_span=(0, 1), **options)


def test_start_values_that_nothing_determines_are_asked_for_by_name() -> None:
    model = herk.Model.from_equations("swing", ["x'' = -x", "y = x"], t_span=(0, 1), start={"x": 1})
    with pytest.raises(herk.InputError, match=r"dx, y are left open.*give some of them"):
        herk.solve_dae(model)
