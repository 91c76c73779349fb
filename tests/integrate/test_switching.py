"""Switches: a run ends at each, changes its mode and goes on.

Output, counters and refusals are those of one run.
"""

from __future__ import annotations

import numpy as np
import pytest

from herk.core import Dae, InputError, Reason, Switches
from herk.integrate.solve import solve_dae


def f(t, y):
    """x' = 1 + 2 mode, 0 = x + mode - z."""
    return np.array([1.0 + 2.0 * y[2], y[0] + y[2] - y[1], 0.0])


def g(t, y):
    return np.array([y[0] + y[2] - y[1]])


def above_one(t, y):
    return y[0] - 1.0


TWO_SLOPES = Switches(Dae(E=np.diag([1.0, 0.0, 1.0]), f=f, g=g, n=3, m=1), (above_one,))


def exact(t):
    x = np.where(t <= 1.0, t, 3 * t - 2)
    return np.array([x, x + (t > 1.0)])


def test_mode_changes_where_the_event_is_zero_and_algebraic_unknowns_jump():
    solution = solve_dae(TWO_SLOPES, (0.0, 2.0), [0.0, 0.0])
    assert solution.success
    np.testing.assert_allclose(solution.t_events[0], [1.0], atol=1e-11)
    np.testing.assert_allclose(solution.y_events[0][0], [1.0, 1.0], atol=1e-11)
    np.testing.assert_allclose(solution.y[:, -1], [4.0, 5.0], atol=1e-10)
    assert (np.diff(solution.t) > 0).all()
    assert len(solution.t) == solution.nstep + 1


def test_output_times_are_served_on_both_sides():
    times = np.array([0.0, 0.5, 1.5, 2.0])
    solution = solve_dae(TWO_SLOPES, (0.0, 2.0), [0.0, 0.0], t_eval=times)
    np.testing.assert_array_equal(solution.t, times)
    np.testing.assert_allclose(solution.y, exact(times), atol=1e-10)
    alone = solve_dae(TWO_SLOPES, (0.0, 2.0), [0.0, 0.0], t_eval=[0.5])
    np.testing.assert_array_equal(alone.t, [0.5])


def test_run_backwards_switches_back():
    solution = solve_dae(TWO_SLOPES, (2.0, 0.0), [4.0, 5.0])
    np.testing.assert_allclose(solution.y[:, -1], [0.0, 0.0], atol=1e-10)


def test_two_events_at_the_same_time_change_both_modes():
    def both(t, y):
        return np.array([1.0 + y[1] + y[2], 0.0, 0.0])

    dae = Dae(E=np.eye(3), f=both, n=3)
    solution = solve_dae(Switches(dae, (above_one, above_one)), (0.0, 2.0), [0.0])
    np.testing.assert_allclose(solution.y[:, -1], [4.0], atol=1e-10)


def test_sliding_along_a_switch_ends_with_a_reason():
    def towards_one(t, y):
        return np.array([1.0 - 2.0 * y[1], 0.0])

    solution = solve_dae(Switches(Dae(E=np.eye(2), f=towards_one, n=2), (above_one,)), (0.0, 2.0), [0.0])
    assert (solution.success, solution.reason) == (False, Reason.STEP_UNDERFLOW)
    assert "slides" in solution.message
    np.testing.assert_allclose(solution.y[0, -1], 1.0, atol=1e-9)


def test_dense_output_and_events_go_through_switches():
    def halfway(t, y):
        return y[0] - 2.5

    solution = solve_dae(TWO_SLOPES, (0.0, 2.0), [0.0, 0.0], events=halfway, dense_output=True)
    times = np.array([0.0, 0.3, 0.99, 1.2, 2.0])
    np.testing.assert_allclose(solution(times), exact(times), atol=1e-9)
    np.testing.assert_allclose(solution.t_events[0], [1.5], atol=1e-9)
    np.testing.assert_allclose(solution.t_events[1], [1.0], atol=1e-11)
    with pytest.raises(InputError, match=r"from 0\.0 to 2\.0"):
        solution(2.1)


def test_switches_of_another_size_are_refused():
    with pytest.raises(InputError, match="a mode for each"):
        solve_dae(Dae(E=np.eye(3), f=f, n=3), (0.0, 1.0), [0.0, 0.0, 0.0], switches=TWO_SLOPES)
