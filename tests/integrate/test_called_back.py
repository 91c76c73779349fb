"""The loop stays compiled whatever it calls.

Python functions give the numbers of compiled ones, written-out kernels those of loops.
"""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset
from herk.integrate import kept, run
from tests.integrate.systems import ACADEMIC, PENDULUM, SELECTOR, System, called_back

SMALL = [
    "academic",
    "selector_change",
    "pendulum",
    "wind_pendulum",
    "spring_chain",
    "cv_circuit",
    "akzo",
    "circular_track",
    "pendulum_3d",
]


@pytest.mark.parametrize("system", [ACADEMIC, SELECTOR, PENDULUM], ids=lambda s: s.name)
@pytest.mark.parametrize("method", ["rk4", "hem4", "dopri5", "dop853"])
def test_python_functions_give_the_numbers_of_compiled_ones(system: System, method: str) -> None:
    options = {"method": method, "t_span": (system.t_span[0], system.t_span[0] + 0.5), "y0": system.y0}
    options |= {"rtol": 1e-6, "atol": 1e-6} if herk.METHODS[method].adaptive else {"step": 0.05}
    compiled, python = (
        herk.solve_dae(system.dae, **options),
        herk.solve_dae(called_back(system.dae), **options),
    )
    assert compiled.success
    assert python.success
    assert compiled.stats == python.stats
    np.testing.assert_allclose(python.t, compiled.t, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(python.y, compiled.y, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("method", ["dopri5", "dop853", "rk4"])
def test_kernels_written_out_take_the_very_steps_of_those_for_any_size(
    name: str, method: str, monkeypatch
) -> None:
    kept._kept.clear()  # a machine of another test has code of its own
    problem = testset.get(name)
    t0 = problem.t_span[0]
    span = (t0, t0 + min(2.0, problem.t_span[1] - t0))
    options = {"method": method, **({"step": 0.01} if method == "rk4" else {"rtol": 1e-7, "atol": 1e-8})}
    monkeypatch.setattr(run, "FIRST_CHUNK", 3)
    monkeypatch.setattr(run, "WORTH_A_KERNEL", np.inf)
    loops = herk.solve_dae(problem, span, **options)
    monkeypatch.setattr(run, "WORTH_A_KERNEL", -1.0)
    written = herk.solve_dae(problem, span, **options)
    again = herk.solve_dae(problem, span, **options)
    assert loops.success
    made = problem.dae.generated.code.natives
    assert any(key[0] == "kernel" and key[2] == herk.METHODS[method].mark for key in made) or loops.nstep <= 3
    assert written.stats == loops.stats
    assert np.array_equal(written.y, loops.y)
    assert np.array_equal(again.y, loops.y)


def test_a_callback_costs_little_more_than_the_function() -> None:
    # A run makes as many calls as it says, each of one Python function: nothing else is called back.
    calls = []

    def f(t, y):
        calls.append(t)
        return -y

    sol = herk.solve_dae(
        called_back(herk.Dae(E=np.eye(1), f=f, n=1)), (0.0, 1.0), [1.0], method="rk4", step=0.01
    )
    assert sol.y[0, -1] == pytest.approx(np.exp(-1.0), rel=1e-8)
    assert sol.nfev < len(calls) < sol.nfev + 10  # and a few times to look at the start
