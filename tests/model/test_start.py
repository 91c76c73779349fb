"""Consistent starts: the same digits in any units, from models as from DAEs; refusals name the equation."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import herk
import testset
from herk.core import Dae, InputError
from herk.model.contradiction import check_constraints
from herk.model.evaluate import Linearisation
from herk.model.forms.forms import rates
from herk.model.index_reduction.regularize import regularize
from herk.model.model import Model
from herk.model.start import completed_start, consistent_start, undetermined
from tests.fuzz.linear import make
from tests.model.test_units import in_units


def numbers(model: Model) -> Dae:
    """Return the overdetermined form by sympy's own functions: nothing is compiled."""
    g = sp.Matrix(regularize(model).constraints)
    values = dict(model.parameters)
    parts = [model.E, model.f, g, g.jacobian(sp.Matrix(model.states)), g.diff(model.t)]
    E, f, c, jac, c_t = (sp.lambdify([model.t, model.states], part.xreplace(values)) for part in parts)
    return Dae(
        E=E,
        f=lambda t, y: f(t, y)[:, 0],
        g=lambda t, y: c(t, y)[:, 0],
        jac_g=jac,
        g_t=lambda t, y: c_t(t, y)[:, 0],
        n=model.n,
        m=len(g),
        names=model.names,
    )


def pendulum(y0: list[float | None], **values: float) -> Model:
    f = ["v", "w", "-2*x*lam", "-2*y*lam - m*g", "x**2 + y**2 - l**2"]
    E = sp.diag(1, 1, sp.Symbol("m"), sp.Symbol("m"), 0)
    data = {"m": 1.0, "l": 1.0, "g": 9.81} | values
    return Model("pendulum", ["x", "y", "v", "w", "lam"], E, f, parameters=data, t_span=(0, 10), y0=y0)


@pytest.mark.parametrize("seed", range(6))
def test_open_start_values_have_the_same_digits_in_any_units(seed: int) -> None:
    # x v + y w = 0 gives w = 3, and lam = m (v^2 + w^2 - g y) / 2 l^2.
    model = pendulum([0.6, -0.8, 4.0, None, None])
    other, units = in_units(model, seed)
    y = completed_start(numbers(other), other.t_span[0], other.y0) * np.array([float(u) for u in units])
    np.testing.assert_allclose(y, [0.6, -0.8, 4.0, 3.0, (25.0 + 9.81 * 0.8) / 2], rtol=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_a_start_is_repaired_alike_in_any_units(seed: int) -> None:
    model = pendulum([0.66, -0.88, 0.4, 0.3, 0.0])
    other, units = in_units(model, seed)
    here = consistent_start(numbers(model), 0.0, model.y0)
    there = consistent_start(numbers(other), other.t_span[0], other.y0) * np.array([float(u) for u in units])
    assert abs(here[0] ** 2 + here[1] ** 2 - 1) < 1e-14
    np.testing.assert_allclose(there[:4], here[:4], rtol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_an_unknown_that_is_rounding_moves_before_a_given_one(seed: int) -> None:
    # A charge q = c u that goes on, a current that jumps from nothing to s - a u: nothing else may change.
    model = Model(
        "jump",
        ["q", "u", "i"],
        sp.diag(1, 0, 0),
        ["i", "q - 1.6e-12*u", "i + 6.4e-7*u - 2.9e-3"],
        t_span=(0, 1e-6),
        y0=[1.44e-11, 9.0, 1.8e-19],
    )
    other, units = in_units(model, seed)
    y = consistent_start(numbers(other), other.t_span[0], other.y0) * np.array([float(u) for u in units])
    np.testing.assert_allclose(y, [1.44e-11, 9.0, 2.9e-3 - 5.76e-6], rtol=1e-12)


@pytest.mark.parametrize("l", [0.9, 1.0, 1.1])
def test_an_open_value_that_is_zero_is_zero_to_the_last_digit(l: float) -> None:  # noqa: E741
    """Rounding such as 7e-33 would be taken for the size of an unknown later."""
    model = testset.get("pendulum").model.with_parameters(l=l)
    found = completed_start(model.form("overdetermined"), 0.0, [0.6, None, 0.0, None, None])  # x v + y w = 0
    assert found[3] == 0.0


def test_given_values_stay_where_open_ones_can_be_computed() -> None:
    """At the first guess y = 0 only x would move; it need not, since y = 0.8 or -0.8 fits."""
    found = consistent_start(pendulum([0.6, None, 0.0, None, None]))
    np.testing.assert_allclose([found[0], abs(found[1]), *found[2:4]], [0.6, 0.8, 0.0, 0.0], rtol=1e-14)


def test_an_open_value_that_is_small_but_no_rounding_is_kept() -> None:
    model = Model("small", ["x", "y"], [[1, 0], [0, 0]], ["y", "y + 1e-20"], t_span=(0, 1), y0=[1.0, None])
    assert completed_start(numbers(model), 0.0, model.y0)[1] == -1e-20


def test_an_unknown_that_enters_by_its_square_is_found_in_any_units() -> None:
    for size in (1e-12, 1.0, 1e12):
        dae = Dae(
            E=np.diag([1.0, 0.0]),
            f=lambda t, y: y,
            g=lambda t, y, s=size: np.array([y[1] ** 2 - y[0] * s]),
            n=2,
            m=1,
            jac_g=lambda t, y, s=size: np.array([[-s, 2 * y[1]]]),
        )
        assert abs(completed_start(dae, 0.0, [4 * size, None])[1]) == pytest.approx(2 * size, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["pendulum", "cv_circuit", "spring_chain", "wind_pendulum"])
def test_constraints_of_a_model_fit_its_equations_in_any_units(name: str, seed: int) -> None:
    problem = testset.get(name)
    other, _ = in_units(problem.model.with_start(problem.y0.tolist()), seed)
    assert check_constraints(numbers(other), other.t_span[0], other.y0) == []


def test_constraints_of_a_fast_circuit_with_small_capacitors_fit() -> None:
    f = ["u - sin(6283185307.179586*t)", "(u - w)/R", "i - (u - w)/R"]
    E = [[0, 0, 0], [0, "C", 0], [0, 0, 0]]
    data = {"R": 1e3, "C": 1e-12}
    model = Model("rc", ["u", "w", "i"], E, f, parameters=data, t_span=(0, 1e-8), y0=[0, 0, 0])
    assert check_constraints(numbers(model), 0.0, [0.0, 0.0, 0.0]) == []


def test_a_pendulum_at_rest_is_no_contradiction_but_a_wrong_constraint_is() -> None:
    rest = pendulum([0.0, -1.0, 0.0, 0.0, 9.81 / 2])
    right = numbers(rest)
    assert check_constraints(right, 0.0, rest.y0) == []
    drifting = Dae(
        E=right.E, f=right.f, g=lambda t, y: right.g(t, y) + np.array([t, 0, 0]), n=5, m=3, jac_g=right.jac_g
    )
    (sentence,) = check_constraints(drifting, 0.0, rest.y0)
    assert "Row 0 of g contradicts E y' = f: along the flow its derivative is 1 instead of 0" in sentence


def test_models_problems_and_forms_are_taken_with_their_own_start() -> None:
    model = pendulum([0.6, -0.8, 4.0, None, None])
    for system in (model, model.form("overdetermined")):
        np.testing.assert_allclose(herk.consistent_start(system)[3], 3.0, rtol=1e-13)
        assert herk.check_constraints(system) == []
    problem = testset.get("academic")
    np.testing.assert_allclose(herk.consistent_start(problem), problem.y0, rtol=1e-14)
    with pytest.raises(InputError, match=r"call consistent_start\(dae, t0, y0\)"):
        herk.consistent_start(numbers(model))
    with pytest.raises(
        InputError, match=r"takes a herk\.Dae, a herk\.Model or a problem of the test set, not list"
    ):
        herk.check_constraints([1, 2])


def test_an_inconsistent_start_is_refused_with_the_equation_and_the_remedy() -> None:
    model = pendulum([1.1, 0, 0, 0, None])
    with pytest.raises(
        InputError, match=r"row 0 of g, 0 = -l\*\*2 \+ x\*\*2 \+ y\*\*2, is 0.21 .*consistent=\"project\""
    ) as caught:
        herk.solve_dae(model)
    assert "row 1" not in str(caught.value)


def test_given_values_need_not_be_exact_for_open_ones_to_be_computed() -> None:
    # u = 10 sin(40 pi t) at t = 1/20, rounded; the current follows from the charge.
    f = ["-i - u/R", "u - 10*sin(125.66370614359172*t)"]
    data = {"C": 1e-6, "R": 10.0}
    model = Model(
        "rc", ["u", "i"], [["C", 0], [0, 0]], f, parameters=data, t_span=(0.05, 1), y0=[3.3e-16, None]
    )
    y = completed_start(numbers(model), 0.05, model.y0)
    assert y[0] == 3.3e-16
    assert y[1] == pytest.approx(-1e-6 * 10 * 125.66370614359172, rel=1e-9)


def test_an_unknown_without_a_real_value_is_told_by_its_equation() -> None:
    model = Model("square", ["x", "z"], [[1, 0], [0, 0]], ["-x", "z**2 + 1 + x"], t_span=(0, 1), y0=[1, None])
    with pytest.raises(
        InputError, match=r"start values of z cannot be computed .* 0 = x \+ z\*\*2 \+ 1, stays at 2\."
    ):
        completed_start(model.form(), 0.0, model.y0)


def test_a_derivative_that_is_left_open_is_told_in_any_units() -> None:
    for size in (1e-200, 1.0, 1e200):
        dae = Dae(E=np.diag([size, 0.0]), f=lambda t, y: y, g=lambda t, y: y[:1], n=2, m=1, names=("x", "z"))
        here = Linearisation(dae.E, np.zeros(2), np.zeros(1), np.array([[1 / size, 0.0]]), np.zeros(1))
        sentence = undetermined(dae, here)
        assert sentence is not None
        assert (
            "has rank 1, not n = 2. z takes part in none of them there. Add the missing (hidden) constraints"
            in sentence
        )
        full = Linearisation(dae.E, np.zeros(2), np.zeros(1), np.array([[0.0, 1 / size]]), np.zeros(1))
        assert undetermined(dae, full) is None


@pytest.mark.parametrize("seed", [*range(10), 9027, 9028, 9030])
def test_rates_at_the_start_are_those_of_the_solution_in_any_units(seed: int) -> None:
    member = make(seed)
    model = member.model()
    (t0, t1), sizes = member.t_span, np.array(member.sizes)
    found = rates(numbers(model), t0, np.array(model.y0)) * (t1 - t0) / sizes
    h = 1e-4 * (t1 - t0)
    y = member.truth(np.array([t0, t0 + h, t0 + 2 * h, t0 + 3 * h, t0 + 4 * h]))
    wanted = y @ np.array([-25, 48, -36, 16, -3]) / (12 * h) * (t1 - t0) / sizes  # of order four
    np.testing.assert_allclose(found, wanted, atol=1e-6 * max(1.0, np.abs(wanted).max()))
