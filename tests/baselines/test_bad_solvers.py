"""Solvers that raise, hang, lie, eat memory or kill their process.

Each costs one result with a reason, and nothing else.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import baselines
import testset
from herk.bench.runner import process
from herk.core import Problem, Reason, Settings, Solution
from tests.baselines.alone import solve


@dataclass(frozen=True)
class Bad:
    """A solver that misbehaves in `solve`, in the way its name says."""

    name: str = "bad"
    family: str = "bad"
    forms: tuple[str, ...] = ("overdetermined",)
    order: int = 1
    adaptive: bool = True
    tags: frozenset[str] = frozenset()

    def available(self):
        return True, ""

    def supports(self, problem, form):
        return True, ""

    def prepare(self, problem, form):
        if self.name == "raises_early":
            raise RuntimeError("nothing can be prepared")
        return problem

    def solve(self, problem: Problem, settings: Settings) -> Solution:
        return globals()[self.name](problem)


def raises(problem):
    raise ZeroDivisionError("by intention")


def hangs(problem):
    while True:
        time.sleep(0.01)


def exits(problem):
    os._exit(0)


def crashes(problem):
    os.abort()


def eats(problem):
    return bytearray(10**12)


def returns_nan(problem):
    return good(problem, np.nan)


def returns_rubbish(problem):
    return "finished"


def returns_a_wrong_shape(problem):
    return Solution(t=np.zeros(3), y=np.zeros((2, 2)), reason=Reason.FINISHED, message="")


def good(problem, value=1.0):
    y = np.full((len(problem.y0), 2), value)
    return Solution(t=np.array(problem.t_span), y=y, reason=Reason.FINISHED, message="fine", nstep=1)


EXPECTED = {
    "raises": (Reason.EXCEPTION, "ZeroDivisionError: by intention"),
    "raises_early": (Reason.EXCEPTION, "nothing can be prepared"),
    "hangs": (Reason.TIME_LIMIT, "ended"),
    "exits": (Reason.CRASHED, "exit code 0"),
    "crashes": (Reason.CRASHED, "SIGABRT"),
    "eats": (Reason.CRASHED, "memory"),
    "returns_nan": (Reason.NONFINITE, "not finite"),
    "returns_rubbish": (Reason.EXCEPTION, "str, not a Solution"),
    "returns_a_wrong_shape": (Reason.EXCEPTION, "wrong shape"),
    "good": (Reason.FINISHED, "fine"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_bad_solver_costs_one_result_with_a_reason(name, monkeypatch, capfd):
    monkeypatch.setattr(process, "GRACE", 0.5)
    start = time.monotonic()
    outcome = solve(Bad(name), testset.get("academic"), "overdetermined", Settings(time_limit=0.5))
    reason, words = EXPECTED[name]
    assert outcome.solution.reason is reason, outcome.solution.message
    assert words in outcome.solution.message
    assert outcome.solution.success is (name == "good")
    assert outcome.solution.y.shape[0] == 2
    assert time.monotonic() - start < 20
    assert "Traceback" not in capfd.readouterr().err


def test_a_solver_that_cannot_be_sent_is_a_reason_too():
    bad = Bad("good", tags=frozenset({lambda: None}))
    outcome = solve(bad, testset.get("academic"), "overdetermined", Settings())
    assert outcome.solution.reason is Reason.EXCEPTION
    assert "sent" in outcome.solution.message


@pytest.mark.parametrize(("name", "form"), [("scipy_radau", "ode"), ("ida_sundae_jac", "index1")])
def test_an_isolated_solve_returns_what_a_direct_one_does(name, form):
    solver, problem = baselines.get(name), testset.get("pendulum", t_end=0.5)
    asked = Settings(rtol=1e-7, atol=1e-9, t_eval=np.array([0.1, 0.5]))
    with threadpool_limits(1):  # as in the process: with more threads BLAS sums in another order
        direct = solver.solve(solver.prepare(problem, form), asked)
    outcome = solve(solver, problem, form, asked, repeats=3)
    np.testing.assert_array_equal(outcome.solution.y, direct.y)
    assert outcome.solution.stats == direct.stats
    assert len(outcome.seconds) == 3
    assert 0 < min(outcome.seconds) < 5
    assert outcome.prepare_seconds > 0
