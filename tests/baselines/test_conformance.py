"""Every registered solver, ours and foreign, keeps the protocol and is right.

On the thesis problems, in every form it takes.
"""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import baselines
import testset
from herk.core import InputError, Problem, Reason, Settings, Solution, Solver

SPANS = {"pendulum": 0.5, "spring_chain": 3.0, "cv_circuit": 0.05, "akzo": 180.0}
FORMS = ("overdetermined", "index1", "index2", "index3", "ggl", "baumgarte", "ode", "second_order")
STEPS = {1e-4: 1000, 1e-6: 8000, 1e-8: 16000}  # fixed steps in place of tolerances
FLOOR = 1e-8  # the tighter tolerance itself: runs at the looser one may be more exact than asked for
ELSEWHERE = ("exudyn_alpha", "exudyn_trapezoidal")  # fixed steps at a millisecond each: test_exudyn.py
# the others take callables and no model: test_underlying.py
NAMES = [name for name in baselines.names() if baselines.get(name).forms != ("underlying",)]
CASES = [
    (name, problem, form)
    for name in NAMES
    if name not in ELSEWHERE
    for problem in SPANS
    if problem != "spring_chain" or "own_clock" not in baselines.get(name).tags  # a program each: seconds
    for form in baselines.get(name).forms
]
FAILS = {  # what a rival cannot do, in its own words
    ("rumoca_bdf", "spring_chain"): "structurally singular",
    ("rumoca_rk", "spring_chain"): "structurally singular",
}


@cache
def problem_of(name: str) -> Problem:
    return testset.get(name, t_end=SPANS[name])


def usable(name: str, problem: str = "") -> Solver:
    """Return the solver, skip if it is not installed.

    HERK runs on generated kernels once, else on the one that is compiled already.
    """
    solver = baselines.get(name)
    available, reason = solver.available()
    if not available:
        pytest.skip(reason)
    generated = solver.family != "herk" or (name, problem) == ("herk_dopri5", "pendulum")
    return solver if generated else replace(solver, options={"generate": False})


def settings(solver: Solver, problem: Problem, tolerance: float, **more) -> Settings:
    if not solver.adaptive:
        finer = (8 if problem.name == "akzo" else 1) * (
            8 if solver.order == 1 else 1
        )  # a quick start; slow convergence
        more["step"] = abs(problem.t_span[1] - problem.t_span[0]) / (STEPS[tolerance] * finer)
    return Settings(rtol=tolerance, atol=tolerance / 100, time_limit=5.0, **more)


def controlled(prepared, n: int) -> np.ndarray:
    """Unknowns of index above one are left out of error control in forms of index 2 and 3.

    Hence also here.
    """
    form = prepared.form
    index = np.array(getattr(form, "variable_index", ()) or (1,) * form.n)
    high = (
        [form.kept[j] for j in range(len(form.kept)) if index[j] > 1] if getattr(form, "index", 0) > 1 else []
    )
    return np.array([j for j in range(n) if j not in high])


def end_error(problem: Problem, prepared, sol: Solution) -> float:
    places = controlled(prepared, len(problem.y0))
    return float(
        (np.abs(sol.y[:, -1] - problem.reference.y) / (1 + np.abs(problem.reference.y)))[places].max()
    )


def residual(problem: Problem, sol: Solution) -> float:
    some = slice(None, None, 1 + len(sol.t) // 500)
    return max(
        float(np.abs(problem.dae.g(t, y)).max()) for t, y in zip(sol.t[some], sol.y.T[some], strict=True)
    )


@pytest.mark.parametrize(("name", "problem_name", "form"), CASES)
def test_end_error_is_small_and_shrinks_with_the_tolerance(name, problem_name, form):
    solver, problem = usable(name, problem_name), problem_of(problem_name)
    supported, reason = solver.supports(problem, form)
    if not supported:
        assert len(reason) > 20
        return
    prepared = solver.prepare(problem, form)
    sols = {tolerance: solver.solve(prepared, settings(solver, problem, tolerance)) for tolerance in STEPS}
    if (name, problem_name) in FAILS:
        assert all(not sol.success and FAILS[name, problem_name] in sol.message for sol in sols.values())
        return
    for sol in sols.values():
        assert (sol.reason, sol.status) == (Reason.FINISHED, 0), sol.message
        assert sol.y.shape == (len(problem.y0), len(sol.t))
        assert (sol.t[0], sol.t[-1]) == problem.t_span or name == "casadi_idas"
        assert sol.nstep > 0 or "uncounted" in solver.tags
        assert sol.nfev > 0 or "uncounted" in solver.tags
    assert sols[1e-8].nstep >= sols[1e-4].nstep
    errors = {tolerance: end_error(problem, prepared, sol) for tolerance, sol in sols.items()}
    assert errors[1e-6] < 1e-3
    assert errors[1e-8] < max(errors[1e-4] / 10, FLOOR)
    drift = residual(problem, sols[1e-6])
    assert np.isfinite(drift)
    if form == "overdetermined":
        assert drift < 1e-11 * (1 + np.abs(sols[1e-6].y).max())
    elif prepared.form.index < 2:  # above, multipliers are not controlled
        assert drift < 0.1


@pytest.mark.parametrize(
    ("name", "problem_name", "form"),
    [
        (name, problem, form)
        for name, problem, form in CASES
        if problem == "pendulum" or (problem == "cv_circuit" and "own_clock" not in baselines.get(name).tags)
    ],
)
def test_output_times_are_honoured_and_right(name, problem_name, form):
    solver, problem = usable(name, problem_name), problem_of(problem_name)
    if not solver.supports(problem, form)[0]:
        return
    t0, t1 = problem.t_span
    uneven = np.array([0.0, 0.1, 0.11, 0.5, 0.93, 1.0])
    times = t0 + (t1 - t0) * (np.linspace(0, 1, 6) if "even_output" in solver.tags else uneven)
    prepared = solver.prepare(problem, form)
    sol = solver.solve(prepared, settings(solver, problem, 1e-6, t_eval=times))
    assert sol.success, sol.message
    np.testing.assert_array_equal(sol.t, times)
    places = controlled(prepared, len(problem.y0))
    exact = np.array([problem.reference.exact(t) for t in times]).T
    assert (np.abs(sol.y - exact) / (1 + np.abs(exact)))[places].max() < 1e-3
    inner = solver.solve(prepared, settings(solver, problem, 1e-6, t_eval=times[1:-1]))
    np.testing.assert_array_equal(inner.t, times[1:-1])


@pytest.mark.parametrize("name", NAMES)
def test_solver_and_prepared_form_survive_pickling(name):
    solver = usable(name)
    problem = next(
        known for known in map(problem_of, ("akzo", "pendulum")) if solver.supports(known, solver.forms[0])[0]
    )
    if name in ELSEWHERE:
        problem = testset.get("pendulum", t_end=1e-3)
    prepared = solver.prepare(problem, solver.forms[0])
    first = solver.solve(prepared, settings(solver, problem, 1e-6))
    again, ready, copy = pickle.loads(pickle.dumps((solver, prepared, first)))
    np.testing.assert_array_equal(again.solve(ready, settings(again, problem, 1e-6)).y, first.y)
    np.testing.assert_array_equal(copy.y, first.y)


@pytest.mark.parametrize("name", NAMES)
def test_solver_says_what_it_is_and_why_it_does_not_fit(name):
    solver, given = baselines.get(name), testset.get("wind_pendulum_printed")
    assert isinstance(solver, Solver)
    assert solver.name == name
    assert solver.order >= 1
    available, reason = solver.available()
    assert available or "install" in reason
    for form in set(FORMS) - set(solver.forms):
        supported, reason = solver.supports(problem_of("pendulum"), form)
        assert not supported
        assert form in reason
    for form in set(solver.forms) - {"overdetermined"}:
        supported, reason = solver.supports(given, form)
        assert not supported
        assert "callables" in reason


def hands_out_steps(name: str) -> bool:
    """Tell whether a rival calls us while it solves, and shows how far it got."""
    solver = baselines.get(name)
    return solver.adaptive and name != "casadi_idas" and not {"ends_only", "uncounted"} & solver.tags


@pytest.mark.parametrize("name", list(filter(hands_out_steps, NAMES)))
def test_time_limit_ends_a_long_run_with_the_points_reached(name):
    solver, problem = usable(name), testset.get("pendulum", t_end=20_000.0)
    form = solver.forms[0]
    prepared = usable(name).prepare(problem_of("pendulum"), form)
    prepared = replace(prepared, t_span=problem.t_span)
    sol = solver.solve(prepared, Settings(rtol=1e-10, atol=1e-10, time_limit=0.1))
    assert (sol.reason, sol.success) == (Reason.TIME_LIMIT, False), sol.message
    assert len(sol.t) > 1
    assert sol.t[-1] < problem.t_span[1]
    assert np.isfinite(sol.y).all()


@pytest.mark.parametrize("name", ["ida_scikits", "ida_sundae", "scipy_lsoda"])
def test_a_failing_library_prints_nothing_and_its_reason_is_translated(name, capfd):
    solver, problem = usable(name), problem_of("pendulum")
    prepared = solver.prepare(problem, solver.forms[0])
    far = (
        {"max_step": 1e-16}
        if name == "scipy_lsoda"
        else {"max_steps" if name == "ida_scikits" else "max_num_steps": 3}
    )
    sol = solver.solve(prepared, Settings(t_eval=np.array([0.5]), options=far, time_limit=1.0))
    assert not sol.success
    assert sol.reason in (Reason.MAX_STEPS, Reason.STEP_UNDERFLOW, Reason.TIME_LIMIT)
    assert capfd.readouterr() == ("", "")


def test_an_option_the_library_does_not_know_is_a_reason_not_a_crash():
    solver, problem = usable("scipy_radau"), problem_of("pendulum")
    prepared = solver.prepare(problem, "ode")
    sol = solver.solve(prepared, Settings(step=0.1))
    assert (sol.reason, len(sol.t)) == (Reason.UNSUPPORTED, 1)


def test_a_method_of_fixed_step_asks_for_the_step():
    solver, problem = usable("herk_rk4"), problem_of("pendulum")
    sol = solver.solve(solver.prepare(problem, "overdetermined"), Settings())
    assert sol.reason is Reason.UNSUPPORTED
    assert "step" in sol.message


def test_an_unknown_solver_is_named_with_the_nearest_one():
    with pytest.raises(InputError, match="ida_scikits"):
        baselines.get("ida_scikit")


def memory() -> float:
    """Return the resident memory of this process in MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


@pytest.mark.parametrize(
    "name",
    ["herk_dopri5", "scipy_dop853", "scipy_lsoda", "ida_scikits_jac", "ida_sundae_jac", "solve_dae_bdf"],
)
def test_a_thousand_solves_do_not_leak(name):
    solver, problem = usable(name), testset.get("cv_circuit", t_end=1e-3)
    prepared = solver.prepare(problem, solver.forms[0])
    asked = Settings(rtol=1e-3, atol=1e-3)
    for _ in range(100):
        solver.solve(prepared, asked)
    before = memory()
    for _ in range(1000):
        solver.solve(prepared, asked)
    assert memory() - before < 4.0
