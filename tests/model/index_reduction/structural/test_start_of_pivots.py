"""What vanishes at the start is no pivot of large models either, whatever the order of their rows."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import herk

COPIES = 25
STATES = ("x", "y", "w", "mu", "lam")
ROWS = {  # mu follows from y', not from x': there it is multiplied by x, which is 0 at the start
    "x' = w + x mu": ("x", "w{k} + x{k}*mu{k}"),
    "y' = y mu": ("y", "y{k}*mu{k}"),
    "w' = lam - x": ("w", "lam{k} - x{k}"),
    "0 = x - sin t": ("", "x{k} - sin(t)"),
    "0 = y - 1": ("", "y{k} - 1"),
}


@pytest.mark.parametrize("order", list(permutations(ROWS))[::13])
def test_copies_of_a_model_whose_first_pivot_vanishes_at_the_start_are_solved(order: tuple[str, ...]) -> None:
    """125 unknowns; x = sin t, y = 1, mu = 0, w = cos t, lam = x + w' = 0."""
    places = [(5 * k + i, k, ROWS[row]) for k in range(COPIES) for i, row in enumerate(order)]
    E = {(i, 5 * k + STATES.index(state)): 1 for i, k, (state, _) in places if state}
    f = [formula.format(k=k) for _, k, (_, formula) in places]
    states = [f"{name}{k}" for k in range(COPIES) for name in STATES]
    model = herk.Model("copies", states, E, f, t_span=(0, 2), y0=[0, 1, 1, 0, 0] * COPIES)
    sol = herk.solve_dae(model, rtol=1e-8, atol=1e-10)
    assert sol.success, sol.message
    t = sol.t
    right = np.tile([np.sin(t), 1 + 0 * t, np.cos(t), 0 * t, 0 * t], (COPIES, 1))
    assert np.abs(sol.y - right).max() < 1e-6
