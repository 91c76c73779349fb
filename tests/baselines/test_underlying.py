"""SciPy on the flow of a Dae given by callables: right, counted, ended in time, and for nothing else."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import baselines
import testset
from herk.core import Dae, Problem, Reason, Settings, Solver

NAMES = [name for name in baselines.names() if baselines.get(name).forms == ("underlying",)]
END = 3.0


def f(t, y):
    x, z, v, w, lam = y
    return np.array([v, w, -2 * x * lam, -2 * z * lam, 0.0])


def g(t, y):
    x, z, v, w, lam = y
    return np.array([x * x + z * z - 1, x * v + z * w, v * v + w * w - 2 * lam * (x * x + z * z)])


def exact(t):
    """Return a bead on a circle with speed 1."""
    return np.array([np.cos(t), np.sin(t), -np.sin(t), np.cos(t), np.full_like(t, 0.5)])


@pytest.fixture
def bead() -> Problem:
    dae = Dae(E=np.diag([1.0, 1.0, 1.0, 1.0, 0.0]), f=f, g=g, n=5, m=3)
    return Problem("bead", "Bead", (0.0, END), exact(0.0), "own", given_dae=dae)


@pytest.mark.parametrize("name", NAMES)
def test_errors_shrink_with_the_tolerance_and_output_times_are_honoured(name, bead):
    solver = baselines.get(name)
    assert isinstance(solver, Solver)
    assert solver.supports(bead, "underlying")[0]
    solver, prepared = pickle.loads(pickle.dumps((solver, solver.prepare(bead, "underlying"))))
    times = np.array([0.0, 0.3, 2.9, END])
    errors = []
    for rtol in (1e-4, 1e-8):
        sol = solver.solve(prepared, Settings(rtol=rtol, atol=(rtol,) * 5, t_eval=times))
        assert sol.success, sol.message
        np.testing.assert_array_equal(sol.t, times)
        assert sol.nfev > sol.nstep > 0
        errors.append(np.abs(sol.y - exact(times)).max())
    assert errors[0] < 1e-2
    assert errors[1] < min(errors[0] / 100, 1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_long_run_ends_in_time_with_its_points(name, bead):
    solver = baselines.get(name)
    long = replace(bead, t_span=(0.0, 1000 * END))
    sol = solver.solve(long, Settings(rtol=1e-13, atol=1e-13, time_limit=0.05))
    assert sol.reason is Reason.TIME_LIMIT
    assert 0 < sol.t[-1] < 1000 * END
    np.testing.assert_allclose(sol.y, exact(sol.t), atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_has_better_forms(name):
    supported, why = baselines.get(name).supports(testset.get("pendulum"), "underlying")
    assert not supported
    assert "the forms of a model are better" in why
