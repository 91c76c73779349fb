"""Newton's iteration ends when errors are small, not when its first increment is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import erf

import herk
from tests.fuzz import linear


@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
def test_errors_that_only_the_second_increment_shows_are_not_left(rtol: float) -> None:
    """Index 2 with a moving E and an exact solution; one iteration left 600 to 1900 tolerances."""
    member = linear.make(8000079)
    atol = member.atol * rtol / member.rtol
    sol = herk.solve_dae(member.model(), method="radau5", rtol=rtol, atol=atol)
    assert sol.success, sol.message
    right = member.truth(sol.t)
    assert (np.abs(sol.y - right) / (atol[:, None] + rtol * np.abs(right))).max() < 10


@pytest.mark.parametrize("widths", [2, 6, 26])
@pytest.mark.parametrize("method", ["radau5", "radau"])
def test_rows_of_E_that_nearly_vanish_at_the_end_of_a_step_are_not_left_where_they_were(
    method: str, widths: int
) -> None:
    """E falls from 1 to 1e-4 at the last stage: increments were 1e4 times too small, and taken for the end."""
    w, c, high = 3.7e-5, 0.486, 27000.0
    E = [["0", f"1/(1 + {high}*exp(-((s - {c})/{w})**2))"], ["0", "0"]]
    model = herk.Model("dip", ["s", "x"], E, ["cos(t)", "s - sin(t)"], t_span=(0, 1), y0=[0, 0])

    def right(t: float) -> np.ndarray:
        u = (np.sin(t) - c) / w
        return np.array([np.sin(t), np.sin(t) + high * w * np.sqrt(np.pi) / 2 * (erf(u) + 1)])

    duration = w / np.sqrt(1 - c**2)
    end = np.arcsin(c) - duration
    start = end - widths * duration
    sol = herk.solve_dae(
        model, (start, end), right(start), method=method, rtol=1e-5, atol=1e-5, first_step=end - start
    )
    assert sol.success, sol.message
    assert np.abs(sol.y[:, -1] - right(end)).max() < 1e-4  # 0.14 before


def test_a_resonance_of_the_state_is_no_singular_point() -> None:
    """The unknown of the peak grows a million times; what its determinant was in other units does not count."""
    w, c, v = 0.0268589100480237, 8.331557418211247, 61.03473405468073
    rows = ["v", "z", "z - v/w*(1 + ((s - c)/w)**2)**(-2)"]
    E = [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    given = {"parameters": {"w": w, "c": c, "v": v}, "t_span": (0, 10 / v), "y0": [0, 0, None]}
    model = herk.Model("resonance", ["s", "x", "z"], E, rows, **given)
    sol = herk.solve_dae(model, method="radau5", rtol=1e-7, atol=1e-10)
    assert sol.success, sol.message

    def integral(u: float) -> float:
        return u / (2 * (1 + u**2)) + np.arctan(u) / 2

    assert sol.y[1, -1] == pytest.approx(integral((10 - c) / w) + integral(c / w), rel=1e-6)
