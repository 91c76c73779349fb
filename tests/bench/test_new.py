"""Files made with `new` run at once: a problem and a solver of one's own."""

from __future__ import annotations

import runpy
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import baselines
import testset
from herk.bench import new, plugins
from herk.bench.store import NAME, Store
from herk.core import InputError, Problem, Reason, Settings, Solver
from herk.model.evaluate import linearise
from herk.model.start import inconsistency


@pytest.fixture
def own_problem(tmp_path) -> Problem:
    return plugins.to_solve(new.create("problem", "own_bead", tmp_path)).problem


@pytest.fixture
def own_solver(tmp_path) -> Solver:
    [solver] = plugins.read(new.create("solver", "own_heun", tmp_path)).own
    return solver


def test_problem_has_everything_the_bench_measures_with(own_problem):
    p = own_problem
    assert p.name == p.model.name == "own_bead"
    assert inconsistency(p.dae, 0.0, p.y0, 0.0, 1e-14) is None
    for t in (0.0, 1.7, 10.0):  # the formula satisfies equations and hidden constraints
        at = linearise(p.dae, t, p.reference.exact(t))
        np.testing.assert_allclose(at.g, 0.0, atol=1e-14)
        assert p.invariants[0].value(t, p.reference.exact(t)) == pytest.approx(0.5)
    assert sorted(i for members in p.groups.values() for i in members) == list(range(5))


def test_parameters_of_the_problem_can_be_changed(tmp_path):
    p = plugins.to_solve(new.create("problem", "own_bead", tmp_path)).make(t_end=3.0, mass=2.0)
    assert p.t_span == (0.0, 3.0)
    assert p.y0[4] == 1.0


def test_solver_follows_the_protocol(own_solver):
    assert isinstance(own_solver, Solver)
    assert own_solver.name == "own_heun"
    assert own_solver.available() == (True, "")
    p = testset.get("pendulum", t_end=2.0)
    assert own_solver.supports(p, "ode") == (True, "")
    assert own_solver.supports(p, "index1")[0] is False


def test_solver_converges_with_its_order_and_obeys_tolerances(own_solver, own_problem):
    prepared = own_solver.prepare(own_problem, "ode")

    def error(**settings) -> float:
        solution = own_solver.solve(prepared, Settings(**settings))
        assert solution.success
        assert solution.t[-1] == pytest.approx(10.0, abs=1e-10)
        return float(np.abs(solution.y[:, -1] - own_problem.reference.y).max())

    ratio = error(step=0.02) / error(step=0.01)
    assert 3.6 < ratio < 4.4
    assert error(rtol=1e-6, atol=1e-6) < 1e-3


def test_solver_serves_output_times_and_time_limits(own_solver, own_problem):
    prepared = own_solver.prepare(own_problem, "ode")
    times = np.linspace(0.0, 10.0, 7)
    solution = own_solver.solve(prepared, Settings(rtol=1e-7, atol=tuple([1e-7] * 5), t_eval=times))
    np.testing.assert_array_equal(solution.t, times)
    np.testing.assert_allclose(solution.y[0], np.cos(times), atol=1e-4)
    late = own_solver.solve(prepared, Settings(rtol=1e-12, atol=1e-12, time_limit=0.05))
    assert late.reason is Reason.TIME_LIMIT
    assert 0 < late.t[-1] < 10


def test_the_mask_of_the_thesis_runs_as_a_script_and_integrates_with_herkosidae(tmp_path, capsys):
    """The bead circles with speed 1 on a circle of radius 1.

    The coarse value is kept, so errors are those of 16 eps0 per step.
    """
    path = new.create("thesis-problem", "own_mask", tmp_path)
    module = SimpleNamespace(**runpy.run_path(str(path), run_name="__main__"))
    said = capsys.readouterr()
    assert said.out.startswith("t = 10 after ")
    assert said.err == ""
    X, T, H = module.run()
    exact = np.array([np.cos(T), np.sin(T), -np.sin(T), np.cos(T), np.full(len(T), 0.5)])
    assert T[-1] == 10.0
    assert H[0] == 0.01
    np.testing.assert_allclose(X, exact, atol=16e-7 * len(T))
    x, dx = np.array([0.6, 0.8, -1.6, 1.2, 0.7]), 1e-6 * np.eye(5)
    quotient = np.array([(module.g(0, x + d) - module.g(0, x - d)) / 2e-6 for d in dx]).T
    np.testing.assert_allclose(module.J(0, x), quotient, atol=1e-8)


def test_nothing_is_overwritten(tmp_path):
    path = new.create("problem", "mine", tmp_path)
    path.write_text("precious")
    with pytest.raises(InputError, match="there already and is not overwritten"):
        new.create("problem", "mine", tmp_path)
    assert path.read_text() == "precious"


@pytest.mark.parametrize("name", ["", "My_Problem", "two words", "../up", "class", "1st", "_hidden", "größe"])
def test_names_that_are_none_are_answered_with_a_sentence(tmp_path, name):
    with pytest.raises(InputError, match="cannot be a name"):
        new.create("problem", name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_taken_names_unknown_kinds_and_missing_folders_are_refused(tmp_path):
    with pytest.raises(InputError, match="problem named 'pendulum' is there already"):
        new.create("problem", "pendulum", tmp_path)
    with pytest.raises(InputError, match="solver named 'scipy_radau' is there already"):
        new.create("solver", "scipy_radau", tmp_path)
    with pytest.raises(InputError, match="Did you mean 'problem'"):
        new.create("problems", "mine", tmp_path)
    with pytest.raises(InputError, match="There is no folder"):
        new.create("problem", "mine", tmp_path / "none")
    assert "own_bead" not in testset.names()
    assert "own_heun" not in baselines.names()


@pytest.mark.slow
def test_own_problem_and_own_solver_appear_in_a_report_without_touching_the_package(tmp_path):
    files = [new.create("problem", "own_bead", tmp_path), new.create("solver", "own_heun", tmp_path)]
    given = [part for path in files for part in ("--file", str(path))]
    wanted = [
        "--problem",
        "own_bead",
        "--solver",
        "own_heun",
        "--time-limit",
        "1",
        "--repeats",
        "1",
        "--out",
        str(tmp_path / "out"),
    ]
    command = [sys.executable, "-m", "herk.bench", "run", "work_precision", "--quick", *given, *wanted]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    runs = [
        each
        for each in Store(tmp_path / "out" / NAME).read()[0]
        if each["kind"] == "run" and each["status"] == "ok"
    ]
    assert {(each["problem"], each["solver"]) for each in runs} == {("own_bead", "own_heun")}
    errors = {each["rtol"]: each["error_end"] for each in runs}
    assert errors[min(errors)] < 0.1 * errors[max(errors)]
    assert max(each["invariant.energy"] for each in runs) < 0.1
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "own_bead" in page
    assert "own_heun" in page
