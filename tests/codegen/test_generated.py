"""A generated form evaluates its equations exactly, for all values of its parameters with one code.

And can be pickled.
"""

from __future__ import annotations

import functools
import pickle
from collections import OrderedDict

import numpy as np
import pytest
import sympy as sp

from herk.codegen import generated
from herk.codegen.equations import Equations
from herk.codegen.generated import GeneratedForm
from herk.codegen.texts import residual_text
from herk.core import InputError
from herk.jit.native import Native

t = sp.Symbol("t", real=True)
STATES = x, y, v, w, lam = sp.symbols("x y v w lam")
TIME, POINT = 0.3, [0.6, -0.7, 0.4, 0.3, 4.0]


def pendulum(mass: float = 2.0) -> Equations:
    """Thesis (4.5) with a length that changes in time and an E that depends on the state."""
    matrix = sp.ImmutableDenseMatrix
    g = matrix(
        [
            x**2 + y**2 - (1 + t) ** 2,
            2 * x * v + 2 * y * w - sp.sin(t),
            2 * v**2 + 2 * w**2 - 4 / mass * (x**2 + y**2) * lam - 19.62 * y,
        ]
    )
    E = matrix(
        [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, mass, x, 0], [0, 0, 0, mass + y**2, 0], [0, 0, 0, 0, 0]]
    )
    return Equations(
        t, STATES, E, matrix([v, w, -2 * x * lam, -2 * y * lam - mass * 9.81 * sp.exp(-t), g[0]]), g
    )


def oscillator() -> Equations:
    a, b = sp.symbols("a b")
    matrix = sp.ImmutableDenseMatrix
    return Equations(t, (a, b), matrix([[4, 0], [0, 2]]), matrix([b, -a]), matrix(0, 1, []))


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(generated, "_codes", OrderedDict())


def exact(matrix):
    at = {s: sp.Rational(value) for s, value in zip((t, *STATES), (TIME, *POINT), strict=True)}
    return np.array([[float(sp.N(e.xreplace(at), 30)) for e in row] for row in sp.Matrix(matrix).tolist()])


EXPECTED = {
    "f": lambda e: exact(e.f).ravel(),
    "g": lambda e: exact(e.g).ravel(),
    "E": lambda e: exact(e.E),
    "jac_g": lambda e: exact(e.g.jacobian(STATES)),
    "g_t": lambda e: exact(e.g.diff(t)).ravel(),
    "jac_f": lambda e: exact(e.f.jacobian(STATES)),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_functions_equal_thirty_digit_evaluation(name):
    form = GeneratedForm("pendulum", pendulum)
    np.testing.assert_allclose(
        form.callable(name)(TIME, POINT), EXPECTED[name](pendulum()), rtol=1e-14, atol=1e-15
    )


def test_compiled_and_interpreted_functions_agree():
    form = GeneratedForm("pendulum", pendulum)
    for name, function in (form.functions() | {"jac_f": form.derivatives()["jac_f"]}).items():
        one, other = np.full(25, 7.0), np.full(25, 7.0)
        function(TIME, np.array(POINT), one)
        function.py_func(TIME, np.array(POINT), other)
        np.testing.assert_allclose(one, other, rtol=1e-14, err_msg=name)


def test_the_derivative_of_E_times_a_vector_is_exact():
    rates = [0.2, -0.5, 1.5, 2.5, -1.0]
    out = np.empty(25)
    GeneratedForm("pendulum", pendulum).derivatives()["jac_Ey"](TIME, np.array(POINT), np.array(rates), out)
    product = pendulum().E * sp.Matrix([sp.Rational(r) for r in rates])
    np.testing.assert_allclose(out.reshape(5, 5), exact(product.jacobian(STATES)), rtol=1e-14)


def test_the_residual_with_constraints_is_that_without_them_and_g():
    form = GeneratedForm("pendulum with constraints", pendulum)
    code, rates = form.code, np.array([0.5, -0.25, 2.0, 1.5, 0.0])
    out, f, g, E = np.zeros(8), np.zeros(5), np.zeros(3), np.zeros(25)
    both = generated.build_text(residual_text(code.equations, constrained=True), ("residual", "jacobian"))
    both["residual"](TIME, np.array(POINT), rates, form.parameters, out)
    for name, part in (("f", f), ("g", g), ("E", E)):
        code.functions[name](TIME, np.array(POINT), form.parameters, part)
    wanted = np.concatenate([E.reshape(5, 5) @ rates - f, g])
    assert out == pytest.approx(wanted, rel=1e-14, abs=1e-14)


def test_constants_describe_the_system():
    form = GeneratedForm("pendulum", pendulum)
    assert (form.n, form.m, form.names) == (5, 3, ("x", "y", "v", "w", "lam"))
    np.testing.assert_array_equal(form.structure, [[1, 1, 0, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])
    assert form.required == (4,)
    assert not form.constant_E


def test_a_system_without_constraints_has_empty_parts():
    form = GeneratedForm("oscillator", oscillator)
    assert form.structure.shape == (0, 2)
    assert form.callable("g")(0.0, [1.0, 2.0]).shape == (0,)
    assert form.callable("jac_g")(0.0, [1.0, 2.0]).shape == (0, 2)
    assert form.constant_E
    assert form.stage([], scalar=True).differential == (0, 1)


def test_a_general_E_has_no_required_components():
    def equations() -> Equations:
        system = oscillator()
        return Equations(
            t,
            system.states,
            sp.ImmutableDenseMatrix([[1, 1], [0, 0]]),
            system.f,
            sp.ImmutableDenseMatrix([system.states[0] - t]),
        )

    assert GeneratedForm("general", equations).required is None


def test_equations_are_asked_for_once():
    calls = []

    def counted() -> Equations:
        calls.append(1)
        return pendulum()

    form = GeneratedForm("pendulum", counted)
    form.functions()
    form.derivatives()
    form.stage([0, 2, 4], scalar=True)
    assert calls == [1]


def test_one_code_serves_all_values_of_the_parameters():
    mass = sp.Symbol("mass", real=True)

    def symbolic() -> Equations:
        system = pendulum(mass)
        return Equations(system.t, system.states, system.E, system.f, system.g, (mass,))

    made = []
    for value in (2.0, 3.0, 0.5):
        form = GeneratedForm("parametric", symbolic, (value,))
        for name in ("f", "g", "E", "jac_g"):
            np.testing.assert_allclose(
                form.callable(name)(TIME, POINT), EXPECTED[name](pendulum(value)), rtol=1e-14, atol=1e-15
            )
        np.testing.assert_allclose(exact(form.equations().f), exact(pendulum(value).f), rtol=1e-15)
        made.append(Native.compilations)
    assert made[1:] == made[:-1]


def test_callables_accept_sequences_and_read_only_or_strided_arrays():
    function = GeneratedForm("pendulum", pendulum).callable("g")
    fixed = np.array(POINT)
    fixed.setflags(write=False)
    for state in (POINT, tuple(POINT), fixed, np.repeat(fixed, 2)[::2], fixed.astype(np.longdouble)):
        np.testing.assert_array_equal(function(TIME, state), function(TIME, POINT))


@pytest.mark.parametrize("state", [[1.0], np.zeros((5, 1)), np.zeros(6), 3.0])
def test_a_state_of_the_wrong_shape_is_refused(state):
    with pytest.raises(InputError, match="5 numbers"):
        GeneratedForm("pendulum", pendulum).callable("f")(TIME, state)


def test_an_unknown_function_is_refused():
    with pytest.raises(InputError, match="jac_g"):
        GeneratedForm("pendulum", pendulum).callable("jacobian")


def test_forms_and_callables_survive_pickling():
    form = GeneratedForm("pendulum", functools.partial(pendulum, 3.0))
    function = form.callable("f")
    value = function(TIME, POINT)
    copy = pickle.loads(pickle.dumps(function))
    np.testing.assert_array_equal(copy(TIME, POINT), value)
    assert copy == function
    assert pickle.loads(pickle.dumps(form)) == form
