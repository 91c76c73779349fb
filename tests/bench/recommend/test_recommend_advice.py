"""The advice is right: on a stiff, a non-stiff high-index, a discontinuous and an ill-posed model.

And the code it gives runs.

A few solvers stand for all, because every kernel of HERK that is compiled takes seconds; nothing else is
different from a user's call.
"""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

from herk.bench.recommend import clock, inquiry, recommend

BUDGET = 1200.0  # generous, because others may use the machine; sweeps end when they have answered
DOPRI5, IDA, RADAU, LSODA = (
    ("herk_dopri5", "overdetermined"),
    ("ida_sundae_jac", "index1"),
    ("scipy_radau", "ode"),
    ("scipy_lsoda", "ode"),
)


@pytest.fixture
def compete(monkeypatch):
    """Let two solvers referee and these and some others compete.

    The reference has fewer digits than a user would get.
    """

    def choose(first, second, *others, tolerances=(1e-8, 1e-10)):
        monkeypatch.setattr(inquiry, "REFEREED", tolerances)
        monkeypatch.setattr(inquiry, "referees", lambda facts: (first, second))
        monkeypatch.setattr(inquiry, "candidates", lambda facts: [first, second, *others])

    return choose


def executed(code: str) -> np.ndarray:
    """Return the end values the code prints, run as a user would run it."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    numbers = re.search(r"y = \[(.*)\]", done.stdout, re.DOTALL).group(1)
    return np.array([float(text) for text in numbers.split()])


def row(found, solver: str, form: str):
    return next(each for each in found.rows if (each.solver, each.form) == (solver, form))


@pytest.mark.slow
def test_stiff_model_is_called_stiff_and_gets_an_implicit_solver(user_file, compete):
    compete(RADAU, IDA, LSODA, DOPRI5)
    found = recommend(user_file("stiff"), error=1e-5, budget=BUDGET)
    assert found.verdict == "stiff"
    assert found.index == 1
    assert "It is stiff" in found.advice
    assert "Implicit methods are the right ones" in found.advice
    assert found.chosen.solver in ("scipy_radau", "scipy_lsoda", "ida_sundae_jac")
    steps = re.findall(r"makes (\d+) steps", found.advice)
    assert not steps or int(steps[0]) > 20 * found.chosen.nstep
    end = executed(found.code)
    assert end.sum() == pytest.approx(1.0, abs=1e-7)  # mass
    np.testing.assert_allclose(end, robertson(100.0), rtol=1e-4)


def robertson(t_end: float) -> np.ndarray:
    """Return the end from the ODE of three reactions as it stands in textbooks, solved tightly."""
    from scipy.integrate import solve_ivp

    def rate(t, y):
        made, used = 0.04 * y[0] - 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return [-made, made - used, used]

    return solve_ivp(
        rate, (0.0, t_end), [1.0, 0.0, 0.0], method="Radau", rtol=1e-9, atol=[1e-12, 1e-16, 1e-12]
    ).y[:, -1]


@pytest.mark.slow
def test_double_pendulum_is_not_stiff_and_herk_keeps_its_six_constraints(user_file, compete):
    compete(DOPRI5, IDA, ("solve_dae_radau", "index1"))
    found = recommend(user_file("double_pendulum"), error=1e-6, budget=BUDGET)
    assert found.verdict == "not stiff"
    assert not found.discontinuous
    assert (found.index, [len(level) for level in found.constraints]) == (3, [2, 2, 2])
    assert "index 3 and 6 constraints, 4 of them hidden" in found.advice
    assert "It is not stiff" in found.advice
    assert found.chosen.solver == "herk_dopri5"
    assert found.chosen.drift < 1e-11
    assert row(found, *IDA).drift > 1e-6
    assert min(found.reference_digits.values()) > 6.0
    # Energy of both masses is that of the start, 0, and the rods keep their lengths.
    x1, y1, x2, y2, u1, v1, u2, v2, *_ = executed(found.code)
    assert (u1**2 + v1**2 + u2**2 + v2**2) / 2 + 9.81 * (y1 + y2) == pytest.approx(0.0, abs=2e-5)
    assert [x1**2 + y1**2, (x2 - x1) ** 2 + (y2 - y1) ** 2] == pytest.approx([1.0, 1.0], abs=1e-7)


@pytest.mark.slow
def test_switched_model_is_pieced_together_at_its_switch(user_file, compete):
    compete(DOPRI5, RADAU, LSODA)
    found = recommend(user_file("switched"), error=1e-6, budget=BUDGET)
    assert found.discontinuous
    assert "not smooth at t = 0.7" in found.advice
    assert "piece by piece" in found.advice
    assert found.chosen.solver == "herk_dopri5"
    np.testing.assert_allclose(executed(found.code), switched_exactly(2.0), atol=3e-6)


def switched_exactly(t_end: float) -> np.ndarray:
    """Return the end by the angle.

    X = sin, y = -cos, theta'' = F cos - 9.81 sin, in two smooth pieces at tight tolerances.
    """
    from scipy.integrate import solve_ivp

    state = np.array([np.pi / 2, 0.0])
    for span, force in (((0.0, 0.7), 5.0), ((0.7, t_end), -5.0)):
        rate = lambda t, s, force=force: [s[1], force * np.cos(s[0]) - 9.81 * np.sin(s[0])]
        state = solve_ivp(rate, span, state, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    theta, omega = state
    x, y, v, w = np.sin(theta), -np.cos(theta), omega * np.cos(theta), omega * np.sin(theta)
    return np.array([x, y, v, w, (omega**2 - 5.0 * x - 9.81 * y) / 2])


@pytest.mark.slow
def test_jump_inside_callables_is_found_by_the_steps(user_file, compete):
    compete(DOPRI5, ("underlying_radau", "underlying"), tolerances=(1e-8,))
    found = recommend(user_file("callables"), error=1e-6, budget=BUDGET)
    assert found.index is None
    assert found.discontinuous
    assert re.search(r"Steps collapse near t = 0\.(7\d*|699\d*)", found.advice)
    assert found.chosen.solver == "herk_dopri5"
    # Ten times what was asked for, in the bench's measure: an error of 1 beside 1 + |y|. Steps across a jump that
    # nobody told of scatter by that (dopri5 at 1e-8, 31 times of the jump: median 6e-8, largest 1.2e-5).
    np.testing.assert_allclose(executed(found.code), switched_exactly(1.2), rtol=1e-5, atol=1e-5)


def test_redundant_model_is_answered_with_what_to_remove(user_file):
    found = recommend(user_file("redundant"))
    assert found.verdict == "ill-posed"
    assert "row 5" in found.advice
    assert "do not determine l, m" in found.advice
    assert "Remove the redundant equation" in found.advice
    assert found.rows == ()
    assert found.code == ""
    assert "row 5" in found.text


def test_file_that_ends_its_process_is_an_answer(user_file):
    found = recommend(user_file("leaving"))
    assert found.verdict == "unusable"
    assert "exit code 3" in found.advice


@pytest.mark.slow
def test_solvers_that_cannot_finish_leave_no_reference(user_file, compete, monkeypatch):
    compete(DOPRI5, RADAU)
    monkeypatch.setattr(clock, "SOLVING", 1e-3 / BUDGET)
    found = recommend(user_file("switched"), budget=BUDGET)
    assert found.verdict == "no reference"
    assert "nothing is recommended" in found.advice
    assert found.index == 3


def test_command_prints_the_answer_and_writes_the_page(user_file, tmp_path):
    command = [
        sys.executable,
        "-m",
        "herk.bench",
        "recommend",
        str(user_file("redundant")),
        "--out",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "Remove the redundant equation" in done.stdout
    assert "row 5" in (tmp_path / "out" / "recommend.html").read_text(encoding="utf-8")
