"""Large models stay on their solution of the constraints, and end where it ends: as small ones do."""

from __future__ import annotations

import numpy as np
import pytest

import herk

COUNT = 53  # parts of two unknowns; signs of an even number at once would cancel
FIRST, SECOND, RADIUS, CENTRE, PACE = 1.17, 1.04, 0.575, 0.861, 2.38


def side_by_side(states: list[str], f: list[str], y0: list[float], t_end: float) -> herk.Model:
    """Return many copies of a system without masses."""

    def named(text: str, i: int) -> str:
        for name in states:
            text = text.replace(f"{name}_", f"{name}{i}")
        return text

    names = [f"{name}{i}" for i in range(COUNT) for name in states]
    rows = [named(text, i) for i in range(COUNT) for text in f]
    return herk.Model("copies", names, {}, rows, t_span=(0.0, t_end), y0=y0 * COUNT)


def arm(t: np.ndarray) -> np.ndarray:
    """Return the angles with which a hand of two links goes round a circle: the law of cosines."""
    x, y = CENTRE + RADIUS * np.cos(PACE * t), RADIUS * np.sin(PACE * t)
    q = -np.arccos((x**2 + y**2 - FIRST**2 - SECOND**2) / (2 * FIRST * SECOND))
    p = np.arctan2(y, x) - np.arctan2(SECOND * np.sin(q), FIRST + SECOND * np.cos(q))
    return np.array([p, q])


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau5"])
def test_arms_do_not_turn_over_in_long_steps(method: str) -> None:
    f = [
        f"{FIRST}*cos(p_) + {SECOND}*cos(p_ + q_) - {CENTRE} - {RADIUS}*cos({PACE}*t)",
        f"{FIRST}*sin(p_) + {SECOND}*sin(p_ + q_) - {RADIUS}*sin({PACE}*t)",
    ]
    start = arm(np.array([0.0]))[:, 0].tolist()
    model = side_by_side(["p", "q"], f, start, 7.0)
    times = np.linspace(0.0, 7.0, 301)
    sol = herk.solve_dae(model, method=method, rtol=1e-8, atol=1e-8, t_eval=times)
    assert sol.success, sol.message
    assert np.abs(sol.y - np.tile(arm(times), (COUNT, 1))).max() < 1e-6


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau5"])
def test_a_run_ends_where_two_solutions_cross(method: str) -> None:
    model = side_by_side(["x", "z"], ["x_ - t", "z_**2 - (1 - x_)**2"], [0.0, 1.0], 2.5)
    sol = herk.solve_dae(model, method=method, rtol=1e-6, atol=1e-6)
    assert not sol.success
    assert sol.reason is herk.Reason.SINGULAR
    assert abs(sol.t[-1] - 1.0) < 1e-2
    assert np.abs(sol.y[1::2] - (1.0 - sol.t)).max() < 1e-5


@pytest.mark.parametrize("method", ["dop853", "dopri5", "radau5"])
def test_a_run_ends_where_masses_beside_constraints_vanish(method: str) -> None:
    # (1 - t) x' = -2 x, z = x: x = (1 - t)^2, and behind t = 1 nothing determines x
    names = [f"{name}{i}" for i in range(COUNT) for name in "xz"]
    E = {(2 * i, 2 * i): "1 - t" for i in range(COUNT)}
    f = [row for i in range(COUNT) for row in (f"-2*x{i}", f"z{i} - x{i}")]
    model = herk.Model("masses", names, E, f, t_span=(0.0, 2.5), y0=[1.0, 1.0] * COUNT)
    sol = herk.solve_dae(model, method=method, rtol=1e-6, atol=1e-6)
    assert not sol.success
    assert abs(sol.t[-1] - 1.0) < 1e-6
