"""A chain of rods written as a model, 100 unknowns, against the same chain in angles, where nothing is bound."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import herk
from tests.model.index_reduction.test_regularize_large import rods

COUNT, END = 20, 0.5


def in_angles(count: int, t_end: float, gravity: float = 9.81) -> tuple[np.ndarray, np.ndarray]:
    """Return positions at the end, from Lagrange's equations in the angles of rods of length 1."""
    index = np.arange(count)
    below = count - np.maximum(index[:, None], index)  # masses that both angles move

    def rhs(_: float, y: np.ndarray) -> np.ndarray:
        angle, rate = y[:count], y[count:]
        between = angle[:, None] - angle
        force = (below * np.sin(between)) @ rate**2 + gravity * (count - index) * np.sin(angle)
        return np.concatenate([rate, -np.linalg.solve(below * np.cos(between), force)])

    start = np.concatenate([np.full(count, np.pi / 2), np.zeros(count)])
    sol = solve_ivp(rhs, (0.0, t_end), start, method="DOP853", rtol=1e-12, atol=1e-13)
    angle = sol.y[:count, -1]
    return np.cumsum(np.sin(angle)), -np.cumsum(np.cos(angle))


@pytest.mark.slow
def test_twenty_rods_go_where_their_angles_go() -> None:
    sol = herk.solve_dae(rods(COUNT), (0.0, END), method="dop853", rtol=1e-10, atol=1e-10)
    assert sol.success, sol.message
    x, y = in_angles(COUNT, END)
    assert np.abs(sol.y[0 : 2 * COUNT : 2, -1] - x).max() < 1e-8
    assert np.abs(sol.y[1 : 2 * COUNT : 2, -1] - y).max() < 1e-8
    height, speed = sol.y[1 : 2 * COUNT : 2], sol.y[2 * COUNT : 4 * COUNT]
    energy = 0.5 * (speed**2).sum(axis=0) + 9.81 * height.sum(axis=0)  # of unit mass; 0 at the start
    assert np.abs(energy).max() < 1e-8 * 9.81 * COUNT * COUNT
