"""Step size control: tolerances mean something, limits are kept, the end is hit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herk
import testset
from herk.integrate.controller import LEAST, next_step
from herk.integrate.steps import Loop
from tests.integrate.systems import ACADEMIC, PENDULUM

PAIRS = [name for name in sorted(herk.METHODS) if herk.METHODS[name].adaptive]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pendulum", "spring_chain", "cv_circuit"])
def test_error_follows_the_tolerance_from_1e_4_to_1e_11(name: str) -> None:
    problem = testset.get(name)
    tolerances = 10.0 ** -np.arange(4, 11.01, 0.25)
    errors = []
    for tolerance in tolerances:
        sol = herk.solve_dae(problem, method="dop853", rtol=tolerance, atol=tolerance)
        assert sol.success
        exact = np.array([problem.reference.exact(t) for t in sol.t]).T
        errors.append(np.max(np.abs(sol.y - exact)))
    slope = np.polyfit(np.log10(tolerances), np.log10(errors), 1)[0]
    assert slope >= 0.8, errors


@pytest.mark.slow
def test_thousand_periods_keep_every_constraint_and_five_digits() -> None:
    problem = testset.get("pendulum", t_end=2000.0)
    sol = herk.solve_dae(problem, method="dop853", rtol=1e-12, atol=1e-12)
    assert sol.success
    assert sol.residual <= 1e-12
    residuals = [np.max(np.abs(problem.dae.g(t, y))) for t, y in zip(sol.t[::50], sol.y.T[::50], strict=True)]
    assert max(residuals) <= sol.residual
    assert np.max(np.abs(sol.y[:, -1] - problem.y0)) <= 1e-5


@pytest.mark.parametrize("method", PAIRS)
def test_every_pair_adapts_its_steps(method: str) -> None:
    sol = herk.solve_dae(PENDULUM.dae, (0.0, 2.0), PENDULUM.y0, method=method, rtol=1e-6, atol=1e-8)
    assert sol.success
    assert np.max(np.abs(sol.y[:, -1] - PENDULUM.y0)) < 1e-3
    steps = np.diff(sol.t)
    assert steps.max() > 1.5 * steps.min()
    assert sol.nstep == sol.t.size - 1
    assert sol.t[-1] == 2.0


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
def test_integration_runs_backward(method: str) -> None:
    options = {"step": 1e-3} if method == "rk4" else {"rtol": 1e-10, "atol": 1e-10}
    sol = herk.solve_dae(PENDULUM.dae, (0.3, -0.5), PENDULUM.exact(0.3), method=method, **options)
    assert sol.success
    assert (np.diff(sol.t) < 0).all()
    assert sol.t[-1] == -0.5
    np.testing.assert_allclose(sol.y[:, -1], PENDULUM.exact(-0.5), atol=1e-8)


def test_a_fixed_step_that_does_not_divide_the_span_is_shortened_at_the_end() -> None:
    sol = herk.solve_dae(ACADEMIC.dae, (0.0, 1.0), [1.0, 1.0], method="rk4", step=0.3)
    np.testing.assert_allclose(sol.t, [0.0, 0.3, 0.6, 0.9, 1.0], rtol=1e-15)
    assert sol.t[-1] == 1.0


@pytest.mark.parametrize("count", [7, 10, 49, 300, 1001])
def test_a_fixed_step_that_divides_the_span_gives_the_expected_number_of_steps(count: int) -> None:
    sol = herk.solve_dae(ACADEMIC.dae, (0.0, 1.0), [1.0, 1.0], method="heun", step=1.0 / count)
    assert sol.nstep == count
    assert sol.t[-1] == 1.0


def test_max_step_and_first_step_are_kept() -> None:
    sol = herk.solve_dae(PENDULUM.dae, (0.0, 2.0), PENDULUM.y0, max_step=0.01, first_step=1e-4)
    steps = np.diff(sol.t)
    assert steps[0] == pytest.approx(1e-4, rel=1e-12)
    assert steps.max() <= 0.01 * (1 + 1e-12)


def test_a_component_with_a_tight_absolute_tolerance_is_computed_better() -> None:
    # Two decoupled decays; only the second is asked for precisely.
    dae = herk.Dae(E=np.eye(2), f=lambda t, y: -y, n=2)
    loose = herk.solve_dae(dae, (0.0, 1.0), [1.0, 1.0], rtol=1e-13, atol=1e-3)
    tight = herk.solve_dae(dae, (0.0, 1.0), [1.0, 1.0], rtol=1e-13, atol=[1e-3, 1e-10])
    assert abs(tight.y[1, -1] - np.exp(-1)) < 1e-9 < abs(loose.y[1, -1] - np.exp(-1))


@given(st.floats(1e-8, 10.0), st.floats(0.0, 1e12), st.booleans(), st.floats(1e-4, 1.0), st.integers(1, 9))
def test_the_controller_never_stalls_or_leaps(
    h: float, error: float, rejected: bool, old: float, order: int
) -> None:
    loop = Loop()
    loop.old_log, loop.exponent, loop.h_tried = float(np.log(old)), 1.0 / (order + 1), h
    loop.error, loop.rejected = error, rejected
    new = next_step(loop)
    assert 0.19 * h < new < 8.1 * h
    assert new <= h if error > 1.0 else True
    assert new <= h * (1 + 1e-15) if rejected and error <= 1.0 else True


def test_the_controller_shortens_a_step_whose_error_is_not_a_number() -> None:
    loop = Loop()
    loop.old_log, loop.exponent, loop.h_tried, loop.error = LEAST, 0.2, 1.0, np.nan
    assert next_step(loop) == pytest.approx(0.2)
