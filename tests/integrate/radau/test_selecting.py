"""Rows of E y' = f are selected so that [S E; g_y] is regular, whatever the units, and anew along a run."""

from __future__ import annotations

import numpy as np
import pytest

import herk
from herk.core import Reason
from herk.integrate.options import request
from herk.integrate.prepared import OPTIONS
from herk.integrate.start import finished
from herk.integrate.steppers.radau.depth import depths
from herk.integrate.steppers.radau.layout import Radau, RadauMethod, allocate
from herk.integrate.steppers.radau.order import rows_of
from herk.integrate.steppers.radau.selecting import select
from herk.model.model import Model
from tests.integrate.systems import PENDULUM, G, pendulum_exact, pendulum_jac

MASS = np.diag([1.0, 1.0, 1.0, 1.0, 0.0])


def selected(E: np.ndarray, g_y: np.ndarray, level: np.ndarray) -> Radau:
    """Return the state after a selection, made in plain Python."""
    state = allocate(E.shape[1], len(g_y), 1, RadauMethod(), rows_of(3, 3))
    state.e_here[:], state.g_y[:], state.level[:] = E.ravel(), g_y.ravel(), level
    assert select(state)
    return state


def test_the_levels_of_a_pendulum_are_those_of_multiplier_velocities_positions() -> None:
    f_y = np.zeros((5, 5))
    f_y[0, 2] = f_y[1, 3] = 1.0
    f_y[2, [0, 4]] = f_y[3, [1, 4]] = 1.0
    f_y[4, :2] = 1.0
    assert depths(MASS, f_y).tolist() == [2, 2, 1, 1, 0]


@pytest.mark.parametrize("t", [0.1, 0.3, 0.5, 0.7, 0.9, 1.2])
def test_a_pendulum_is_integrated_along_its_motion(t: float) -> None:
    """The coordinate that moves more, and its velocity."""
    y = pendulum_exact(t)
    state = selected(MASS, pendulum_jac(t, y), np.array([2, 2, 1, 1, 0]))
    along = 0 if abs(y[1]) > abs(y[0]) else 1
    assert state.rows[:2].tolist() == [along, along + 2]


@pytest.mark.parametrize("seed", range(20))
def test_units_do_not_decide(seed: int) -> None:
    random = np.random.default_rng(seed)
    y = pendulum_exact(0.2)
    rows, columns = 10.0 ** random.integers(-6, 7, 5), 10.0 ** random.integers(-6, 7, 5)
    of_g = 10.0 ** random.integers(-6, 7, 3)
    E = rows[:, None] * MASS * columns
    g_y = of_g[:, None] * pendulum_jac(0.2, y) * columns
    state = selected(E, g_y, np.array([2, 2, 1, 1, 0]))
    stacked = np.vstack([E[state.rows[:2]], g_y]) / columns
    stacked /= np.abs(stacked).max(axis=1)[:, None]
    assert np.linalg.cond(stacked) < 1e3


def test_rows_change_along_a_run_that_turns_around() -> None:
    """A pendulum fast enough to go over the top: no single pair of rows is regular all the way round."""
    speed = np.sqrt(6.0 * G)
    start = (0.0, -1.0, speed, 0.0, (speed**2 + G) / 2)
    asked = request(PENDULUM.dae, (0.0, 3.0), start, "radau5", OPTIONS, {})
    run = finished(asked)
    state = run.machine.state
    assert run.reason is Reason.FINISHED
    assert state.changes >= 4
    t, y = run.output.results()
    energy = (y[2] ** 2 + y[3] ** 2) / 2 + G * y[1]
    assert energy == pytest.approx(np.full(t.size, speed**2 / 2 - G), rel=1e-4)
    assert y[1].max() > 0.99  # over the top


SINGULAR = {
    "a fold": ("1", "y**2 - 1 + x", (0, 1), 1.0),
    "two branches that cross": ("1", "y**2 - (1 - x)**2", (0, 1), 1.3),
    "a pole": ("1", "y*(x - 1) - 1", (0, -1), 1.0),
    "the edge of a logarithm": ("-1", "y - log(x)", (1, 0), 1.0),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_singular_constraints_end_the_run_with_a_reason(name: str) -> None:
    rate, constraint, start, latest = SINGULAR[name]
    model = Model("singular", ["x", "y"], [[1, 0], [0, 0]], [rate, constraint], t_span=(0, 2), y0=start)
    sol = herk.solve_dae(model, method="radau5")
    assert not sol.success
    assert 0.9 < sol.t[-1] <= latest
    assert "stopped" in sol.message
    assert np.isfinite(sol.y).all()
