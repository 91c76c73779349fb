"""One source, two ways to run it: the interpreted path takes the same steps to the same numbers."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import herk
import testset
from tests.method.systems import ACADEMIC, PENDULUM, SELECTOR, System

SMALL = ["academic", "selector_change", "pendulum", "wind_pendulum", "spring_chain", "cv_circuit", "akzo", "circular_track", "pendulum_3d"]


def assert_same(compiled: herk.Solution, interpreted: herk.Solution) -> None:
    assert compiled.success
    assert interpreted.success
    assert compiled.stats == interpreted.stats
    np.testing.assert_allclose(interpreted.t, compiled.t, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(interpreted.y, compiled.y, rtol=1e-12, atol=1e-12)
    assert [chosen for _, chosen in compiled.selections] == [chosen for _, chosen in interpreted.selections]


@pytest.mark.parametrize("system", [ACADEMIC, SELECTOR, PENDULUM], ids=lambda s: s.name)
@pytest.mark.parametrize("method", ["rk4", "hem4", "dopri5", "dop853"])
def test_callables_give_the_same_numbers_interpreted(system: System, method: str) -> None:
    options = {"method": method, "t_span": (system.t_span[0], system.t_span[0] + 0.5), "y0": system.y0}
    options |= {"rtol": 1e-6, "atol": 1e-6} if herk.METHODS[method].adaptive else {"step": 0.05}
    assert_same(herk.solve_dae(system.dae, **options), herk.solve_dae(system.dae, interpret=True, **options))


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    "options", [{"method": "dopri5", "rtol": 1e-6, "atol": 1e-8}, {"method": "rk4", "step": 0.01}], ids=["dopri5", "rk4"]
)
def test_generated_kernels_give_the_same_numbers_interpreted(name: str, options: dict) -> None:
    problem = testset.get(name)
    t0 = problem.t_span[0]
    span = (t0, t0 + min(0.5, problem.t_span[1] - t0))
    assert_same(herk.solve_dae(problem, span, **options), herk.solve_dae(problem, span, interpret=True, **options))


def test_without_numba_everything_still_works() -> None:
    program = """
import sys
sys.modules["numba"] = None
import numpy as np, herk
from herk.core.jit import HAVE_NUMBA
assert not HAVE_NUMBA
dae = herk.Dae(E=np.diag([1.0, 0.0]), f=lambda t, y: np.array([y[0], y[0] - y[1]]), g=lambda t, y: np.array([y[0] - y[1]]), n=2, m=1)
sol = herk.solve_dae(dae, (0.0, 1.0), [1.0, 1.0], rtol=1e-8, atol=1e-8)
assert sol.success and np.allclose(sol.y[:, -1], np.e, rtol=1e-6)
import testset
sol = herk.solve_dae(testset.get("pendulum", t_end=0.5), rtol=1e-6, atol=1e-6)
assert sol.success and sol.residual < 1e-12
print("fine")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == "fine", done.stderr
