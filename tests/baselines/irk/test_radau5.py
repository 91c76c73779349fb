"""Radau5 is right, counts honestly, and fails with a reason."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import baselines
import testset
from baselines.irk.radau5 import Functions, Ready
from baselines.reached import JACOBIAN, RESIDUAL, CalledBack, reached
from herk.core import Problem, Reason, Settings
from herk.model.model import Model

RADAU5 = baselines.get("radau5")


def problem_of(model: Model) -> Problem:
    return Problem(
        name=model.name, title="", t_span=model.t_span, y0=np.array(model.y0), source="", model=model
    )


def ode(
    name: str, states: list[str], f: list[str], t_end: float, y0: tuple[float, ...], **parameters: float
) -> Problem:
    return problem_of(
        Model(
            name, states, np.eye(len(states), dtype=int), f, parameters=parameters, t_span=(0.0, t_end), y0=y0
        )
    )


def van_der_pol() -> Problem:
    return ode("van_der_pol", ["y1", "y2"], ["y2", "((1 - y1**2)*y2 - y1)/eps"], 2.0, (2.0, 0.0), eps=1e-6)


def robertson(t_end: float) -> Problem:
    f = ["-0.04*y1 + 1e4*y2*y3", "0.04*y1 - 1e4*y2*y3 - 3e7*y2**2", "3e7*y2**2"]
    return ode("robertson_ode", ["y1", "y2", "y3"], f, t_end, (1.0, 0.0, 0.0))


def oscillator() -> Problem:
    """x = sin t, and its E depends on the state: (2 + x) x' = (2 + x) v, v' = -x."""
    E = [["2 + x", 0], [0, "1"]]
    return problem_of(
        Model("varying_E", ["x", "v"], E, ["(2 + x)*v", "-x"], t_span=(0.0, 10.0), y0=(0.0, 1.0))
    )


def solve(problem: Problem, tolerance: float, form: str = "ode", **more):
    return RADAU5.solve(
        RADAU5.prepare(problem, form), Settings(rtol=tolerance, atol=more.pop("atol", tolerance), **more)
    )


@pytest.mark.parametrize(("tolerance", "evaluations", "jacobians"), [(1e-6, 2766, 258), (1e-8, 5447, 533)])
def test_counts_are_those_of_the_original_code(tolerance, evaluations, jacobians):
    """The Fortran code on the normalised pendulum, index 3, analytic Jacobian, first step 1e-3.

    SEEDS, 002.
    """
    sol = solve(testset.get("pendulum_unit"), tolerance, "index3", options={"first_step": 1e-3})
    assert sol.success
    assert sol.nfev == pytest.approx(evaluations, rel=0.15)
    assert sol.njev == pytest.approx(jacobians, rel=0.15)


@pytest.mark.parametrize("form", ["index1", "index2", "index3", "ggl", "baumgarte", "ode"])
def test_every_form_of_the_pendulum_reaches_the_exact_solution(form):
    problem = testset.get("pendulum_unit", t_end=5.0)
    sol = solve(problem, 1e-10, form)
    assert sol.success
    assert np.abs(sol.y[:4, -1] - problem.reference.y[:4]).max() < 2e-6
    assert np.abs(sol.y[4, -1] - problem.reference.y[4]) < (2e-3 if form == "index3" else 2e-5)


def test_van_der_pol_reaches_the_reference_of_the_test_set():
    sol = solve(van_der_pol(), 1e-8)
    np.testing.assert_allclose(sol.y[:, -1], [1.706167732170483, -0.8928097010247975], rtol=1e-6)


def test_robertson_reaches_the_reference_of_hairer_and_wanner():
    sol = solve(robertson(40.0), 1e-8, atol=1e-13)
    np.testing.assert_allclose(sol.y[:, -1], [0.7158270688, 0.9185534765e-5, 0.2841637456], rtol=1e-7)


def test_robertson_conserves_mass_and_lasts_to_1e11():
    sol = solve(robertson(1e11), 1e-6, atol=1e-14)
    assert sol.success
    assert abs(sol.y[:, -1].sum() - 1.0) < 1e-9
    np.testing.assert_allclose(sol.y[0, -1], 0.2083340149701255e-7, rtol=1e-3)


@pytest.mark.parametrize(
    "problem", [robertson(1e4), van_der_pol(), testset.get("akzo")], ids=lambda problem: problem.name
)
def test_steps_are_within_a_factor_of_three_of_scipys_radau(problem):
    scipy = baselines.get("scipy_radau")
    settings = Settings(rtol=1e-6, atol=1e-10)
    ours, theirs = (solver.solve(solver.prepare(problem, "ode"), settings) for solver in (RADAU5, scipy))
    assert ours.success
    assert theirs.success
    assert theirs.nstep / 3 < ours.nstep < 3 * theirs.nstep


def test_error_follows_the_tolerance_with_the_order_of_the_method():
    """The tolerance becomes 0.1 tol^(2/3), the estimate has order 4 in h, the error 5.

    So it should shrink like tol^(2/3 * 5/4).
    """
    problem = ode("turn", ["x", "v"], ["v", "-x"], 10.0, (0.0, 1.0))
    errors = [
        np.abs(solve(problem, tol).y[:, -1] - [math.sin(10.0), math.cos(10.0)]).max() for tol in (1e-5, 1e-11)
    ]
    assert math.log10(errors[0] / errors[1]) == pytest.approx(6 * 2 / 3 * 5 / 4, abs=1.0)


def test_dense_output_is_nearly_as_accurate_as_the_steps():
    times = np.linspace(0.0, 10.0, 173)
    sol = solve(oscillator(), 1e-9, "ode", t_eval=times)
    np.testing.assert_array_equal(sol.t, times)
    np.testing.assert_allclose(sol.y, [np.sin(times), np.cos(times)], atol=2e-6)


def test_a_matrix_that_depends_on_the_state_is_followed():
    sol = solve(oscillator(), 1e-10)
    np.testing.assert_allclose(sol.y[:, -1], [math.sin(10.0), math.cos(10.0)], atol=1e-8)


def test_a_matrix_that_depends_on_the_state_costs_no_extra_steps():
    """The error estimate needs E at the current point.

    With that of an older Jacobian it would be of first order.
    """
    same = ode("turn", ["x", "v"], ["v", "-x"], 10.0, (0.0, 1.0))
    assert solve(oscillator(), 1e-9).nstep == pytest.approx(solve(same, 1e-9).nstep, rel=0.1)


def test_time_may_run_backwards():
    problem = testset.get("pendulum_unit", t_end=3.0)
    prepared = RADAU5.prepare(problem, "index1")
    back = replace(prepared, t_span=(3.0, 0.0), start=prepared.form.start(problem.reference.y, 3.0))
    sol = RADAU5.solve(back, Settings(rtol=1e-9, atol=1e-9, t_eval=np.array([3.0, 1.0, 0.0])))
    assert sol.success
    np.testing.assert_allclose(sol.y[:, -1], problem.y0, atol=1e-6)
    np.testing.assert_allclose(sol.y[:, 1], problem.reference.exact(1.0), atol=1e-6)


def counted(prepared: Ready) -> tuple[Ready, dict[str, int]]:
    """Return the same with functions in Python that count their calls."""
    calls = {"residual": 0, "jacobian": 0}
    residual_of, jacobian_of, _, matrix, parameters = prepared.functions

    def residual(t, z, zp, out):
        calls["residual"] += 1
        residual_of.py_func(t, z, zp, parameters, out)

    def jacobian(t, z, zp, cj, out):
        calls["jacobian"] += 1
        jacobian_of.py_func(t, z, zp, cj, parameters, out)

    again = replace(prepared)
    again.__dict__["functions"] = Functions(residual, jacobian, None, matrix, parameters)
    return again, calls


def test_python_that_is_called_back_gives_the_steps_of_machine_code():
    prepared = RADAU5.prepare(testset.get("pendulum_unit", t_end=1.0), "index3")
    fast, slow = (
        RADAU5.solve(each, Settings(rtol=1e-5, atol=1e-5)) for each in (prepared, counted(prepared)[0])
    )
    assert fast.stats == slow.stats
    np.testing.assert_allclose(slow.y, fast.y, rtol=1e-9, atol=1e-9)


def test_what_a_function_raises_ends_the_run_with_its_points():
    prepared, _ = counted(RADAU5.prepare(testset.get("pendulum_unit", t_end=1.0), "index3"))
    residual, *others = prepared.functions

    def late(t, z, zp, out):
        if t > 0.5:
            raise ArithmeticError("too late")
        residual(t, z, zp, out)

    prepared.__dict__["functions"] = Functions(late, *others)
    sol = RADAU5.solve(prepared, Settings(rtol=1e-5, atol=1e-5))
    assert (sol.reason, sol.message) == (Reason.EXCEPTION, "ArithmeticError: too late")
    assert 0.0 < sol.t[-1] <= 0.5


def test_callables_that_numba_compiled_are_reached_without_python():
    """The chain is given by functions for numba; its residual and Jacobian have entries for machine code."""
    problem = testset.get("hanging_chain", N=4, t_end=0.1)
    prepared = RADAU5.prepare(problem, "index2")
    entries = [reached(f, p) for f, p in zip(prepared.functions, (RESIDUAL, JACOBIAN), strict=False)]
    assert not [each for each in entries if isinstance(each, CalledBack)]
    z, zp = prepared.start
    for entry, size, more in zip(entries, (len(z), len(z) ** 2), ((), (2.0,)), strict=True):
        ours, theirs = np.empty(size), np.empty(size)
        entry(0.0, z, zp, *more, np.zeros(1), ours)
        prepared.functions[entries.index(entry)](0.0, z, zp, *more, theirs)
        np.testing.assert_array_equal(ours, theirs)


def test_counts_are_the_calls_that_were_made():
    prepared, calls = counted(RADAU5.prepare(testset.get("pendulum_unit", t_end=1.0), "index3"))
    sol = RADAU5.solve(prepared, Settings(rtol=1e-6, atol=1e-6))
    assert (sol.nfev, sol.njev) == (calls["residual"], calls["jacobian"])
    assert sol.nfev >= 3 * sol.nit + sol.nstep
    assert sol.nstep == len(sol.t) - 1


def test_a_linear_problem_keeps_its_jacobian():
    problem = ode("turn", ["x", "v"], ["v", "-x"], 10.0, (0.0, 1.0))
    sol = solve(problem, 1e-8)
    assert sol.njev <= 1 + sol.nreject
    assert sol.nlu < 2 * sol.nstep


def test_errors_of_multipliers_count_less_in_forms_of_higher_index():
    """Without index-dependent weights the step size of index 3 would collapse (Hairer & Wanner II, VII.7)."""
    problem = testset.get("pendulum_unit", t_end=5.0)
    prepared = RADAU5.prepare(problem, "index3")
    flat = replace(prepared, form=replace(prepared.form, variable_index=(1,) * 5))
    settings = Settings(rtol=1e-8, atol=1e-8, options={"max_steps": 4000})
    weighed, unweighed = RADAU5.solve(prepared, settings), RADAU5.solve(flat, settings)
    assert weighed.success
    assert not unweighed.success or unweighed.nstep > 3 * weighed.nstep


def test_a_solution_that_blows_up_ends_with_a_reason_and_its_points():
    sol = solve(ode("blow_up", ["y"], ["y**2"], 2.0, (1.0,)), 1e-6)
    assert not sol.success
    assert sol.reason in (Reason.STEP_UNDERFLOW, Reason.NEWTON, Reason.NONFINITE)
    assert "t = 0.99" in sol.message or "t = 1.0" in sol.message
    assert np.isfinite(sol.y).all()
    assert sol.t[-1] == pytest.approx(1.0, abs=1e-3)


def test_a_singular_newton_matrix_is_named():
    prepared = RADAU5.prepare(testset.get("akzo", t_end=1.0), "index1")
    prepared.__dict__["functions"] = Functions(
        lambda t, z, zp, out: out.fill(0.0),
        lambda t, z, zp, cj, out: out.fill(0.0),
        None,
        np.zeros((6, 6)),
        np.zeros(1),
    )
    sol = RADAU5.solve(prepared, Settings())
    assert sol.reason is Reason.SINGULAR
    assert "singular" in sol.message


def test_a_first_step_below_rounding_ends_with_a_reason():
    sol = solve(testset.get("circular_track"), 1e-6, "index1", options={"first_step": 1e-30}, time_limit=5.0)
    assert (sol.reason, sol.nstep) == (Reason.STEP_UNDERFLOW, 0)


def test_a_tiny_first_step_does_not_spoil_the_constraints_of_later_ones():
    """A rate of convergence found with a tiny step would let one Newton iteration pass for enough.

    And leave g far from zero.
    """
    problem = testset.get("car_axis")
    sol = solve(problem, 1e-4, "index3", atol=1e-7)
    assert sol.success, sol.message
    np.testing.assert_allclose(sol.y[:4, -1], problem.reference.y[:4], atol=5e-3)


def test_limits_end_a_run():
    prepared = RADAU5.prepare(testset.get("pendulum_unit"), "index1")
    sol = RADAU5.solve(prepared, Settings(options={"max_steps": 7}))
    assert (sol.reason, sol.nstep) == (Reason.MAX_STEPS, 7)
    short = RADAU5.solve(prepared, Settings(options={"max_step": 0.01}))
    assert np.diff(short.t).max() <= 0.01 + 1e-12


def test_an_unknown_option_is_refused_with_the_nearest_one():
    prepared = RADAU5.prepare(testset.get("pendulum_unit"), "index1")
    sol = RADAU5.solve(prepared, Settings(options={"firststep": 1.0}))
    assert sol.reason is Reason.UNSUPPORTED
    assert "first_step" in sol.message


def test_a_problem_too_large_for_full_matrices_is_refused():
    problem = testset.get("akzo")
    huge = replace(
        problem,
        y0=np.zeros(1001),
        groups={},
        model=None,
        given_dae=problem.dae,
        given_forms={"index1": problem.form("index1")},
    )
    supported, reason = RADAU5.supports(huge, "index1")
    assert not supported
    assert "1001" in reason


@pytest.mark.parametrize("form", ["index1", "ode"])
def test_steps_grow_with_the_smoothness_of_a_stiff_solution(form: str) -> None:
    """It shares Newton, estimate and controller with `solve_dae`, and needs about as many steps."""
    problem = testset.get("akzo")
    sol = RADAU5.solve(RADAU5.prepare(problem, form), Settings(rtol=1e-6, atol=1e-6))
    assert sol.reason is Reason.FINISHED
    assert sol.nstep < 60
