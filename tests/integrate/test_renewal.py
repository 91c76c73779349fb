"""Runs through times at which hidden constraints, as they were combined at the start, divide by zero."""

from __future__ import annotations

import numpy as np
import pytest

import herk
from herk.integrate import renewal
from tests.fuzz import linear

# z2' = 2 z1 + 2 cos(2t) - 2 exp(-t), 0 = z2 - sin(2t), with z = S(t) y turned by t, and the rows by 3t/2:
# every row of E is zero now and then, and S y cannot be solved for either unknown all the way.
A = "(cos(t)*y1 - sin(t)*y2 + 2*cos(2*t) - 2*exp(-t))"
B = "(sin(t)*y1 + cos(t)*y2 - sin(2*t))"
TURNED = herk.Model(
    "turned",
    ["y1", "y2"],
    [["cos(3*t/2)*sin(t)", "cos(3*t/2)*cos(t)"], ["sin(3*t/2)*sin(t)", "sin(3*t/2)*cos(t)"]],
    [f"cos(3*t/2)*{A} - sin(3*t/2)*{B}", f"sin(3*t/2)*{A} + cos(3*t/2)*{B}"],
    t_span=(0.0, 4.0),
    y0=[1.0, 0.0],
)
# The same turned by an unknown, a = t: constraints are combined with divisions that cannot be avoided.
AHEAD = "cos(a)*y1 - sin(a)*y2"
RIGHT = f"(2*({AHEAD}) + 2*cos(2*t) - 2*exp(-t))"
OTHER = "(sin(a)*y1 + cos(a)*y2 - sin(2*t))"
BY_STATE = herk.Model(
    "turned_by_state",
    ["y1", "y2", "a"],
    [
        *([f"{k}(3*a/2)*sin(a)", f"{k}(3*a/2)*cos(a)", f"{k}(3*a/2)*({AHEAD})"] for k in ("cos", "sin")),
        ["0", "0", "1"],
    ],
    [f"cos(3*a/2)*{RIGHT} - sin(3*a/2)*{OTHER}", f"sin(3*a/2)*{RIGHT} + cos(3*a/2)*{OTHER}", "1"],
    t_span=(0.0, 4.0),
    y0=[1.0, 0.0, 0.0],
)


def exact(t: np.ndarray) -> np.ndarray:
    z1, z2 = np.exp(-t), np.sin(2 * t)
    return np.array([np.cos(t) * z1 + np.sin(t) * z2, np.cos(t) * z2 - np.sin(t) * z1, t])


@pytest.mark.parametrize("model", [TURNED, BY_STATE], ids=["by_time", "by_state"])
@pytest.mark.parametrize("method", ["dopri5", "dop853", "radau5"])
def test_rows_that_turn_are_followed_through_every_zero_of_e(method: str, model: herk.Model) -> None:
    sol = herk.solve_dae(model, method=method, rtol=1e-8, atol=1e-8)
    assert sol.success, sol.message
    assert np.abs(sol.y - exact(sol.t)[: model.n]).max() < 1e-6


def test_dense_output_and_output_times_know_nothing_of_the_change() -> None:
    times = np.linspace(0.0, 4.0, 301)
    sol = herk.solve_dae(BY_STATE, rtol=1e-8, atol=1e-8, t_eval=times, dense_output=True)
    assert np.array_equal(sol.t, times)
    assert np.abs(sol.y - exact(times)).max() < 1e-6
    assert np.abs(sol(times) - exact(times)).max() < 1e-6
    assert (np.diff(herk.solve_dae(BY_STATE).t) > 0).all()


def test_events_are_found_once_on_either_side_of_a_change() -> None:
    sol = herk.solve_dae(
        BY_STATE, rtol=1e-8, atol=1e-8, events=lambda t, y: y[0] * np.sin(t) + y[1] * np.cos(t)
    )
    assert np.allclose(sol.t_events[0], np.pi / 2 * np.arange(3), atol=1e-6)  # sin(2t) = 0


def test_a_crane_of_index_five_passes_the_places_where_its_rope_hangs_straight() -> None:
    """The load moves as x = 1 - cos(2t); elimination divides by x - s, the trolley is at s = x + x'' 2/g."""
    f = ["vx", "vz", "vs", "vl", "-lam*(x - s)", "-lam*z + 10*g", "F + lam*(x - s)", "U + lam*l"]
    f += ["x - (1 - cos(2*t))", "z - 2", "(x - s)**2 + z**2 - l**2"]
    states = ["x", "z", "s", "l", "vx", "vz", "vs", "vl", "lam", "F", "U"]
    E, k = np.diag([1, 1, 1, 1, 10, 10, 5, 2, 0, 0, 0]), 8 / 9.81
    rope = float(np.hypot(k, 2.0))
    start = [0, 2, k, rope, 0, 0, 0, 0, 49.05, None, None]
    crane = herk.Model("crane", states, E, f, parameters={"g": 9.81}, t_span=(0, 4), y0=start)
    assert herk.regularize(crane).index == 5
    sol = herk.solve_dae(crane, rtol=1e-8, atol=1e-8)
    assert sol.success, sol.message
    x, s = 1 - np.cos(2 * sol.t), 1 - np.cos(2 * sol.t) + k * np.cos(2 * sol.t)
    pull = 5 * 4 * (1 - k) * np.cos(2 * sol.t) - 49.05 * (x - s)
    right = [x, s, np.hypot(x - s, 2.0), pull]
    np.testing.assert_allclose(sol.y[[0, 2, 3, 9]], right, atol=1e-6)


def test_a_change_is_noted() -> None:
    sol = herk.solve_dae(BY_STATE)
    assert any("combined differently" in note for note in sol.notes)


def test_a_model_backwards_in_time_is_followed_too() -> None:
    sol = herk.solve_dae(BY_STATE, (4.0, 0.0), exact(np.array([4.0]))[:, 0], rtol=1e-8, atol=1e-8)
    assert sol.success, sol.message
    assert np.abs(sol.y - exact(sol.t)).max() < 1e-6


def test_constraints_that_are_singular_in_any_combination_end_the_run() -> None:
    fold = herk.Model(
        "fold", ["x", "z"], [[1, 0], [0, 0]], ["-1", "z**2 - x"], t_span=(0.0, 2.0), y0=[1.0, 1.0]
    )
    sol = herk.solve_dae(fold)
    assert not sol.success
    assert abs(sol.t[-1] - 1.0) < 0.01


def test_regularity_is_the_same_in_any_units_and_small_where_constraints_are_nearly_one() -> None:
    for unit in (1e-9, 1.0, 1e9):
        rows = [f"{unit!r}*(x + z) - 2", f"{unit!r}*(x + (1 + t)*z) - 2 - t"]
        pair = herk.Model("pair", ["x", "z"], np.zeros((2, 2)), rows, t_span=(1.0, 2.0), y0=[None, None])
        y = np.ones(2) / unit
        assert renewal.regularity(pair.form("overdetermined"), 1e-3, y, y) == pytest.approx(5e-4, rel=1e-2)


def test_a_run_that_crawls_towards_a_division_by_zero_goes_on_with_other_constraints() -> None:
    """Rounding, enlarged on the way there, asks for ever shorter steps: 200 000 of them did not get past."""
    member = linear.make(8000250)
    sol = herk.solve_dae(member.model(), method="dop853", rtol=1e-10, atol=member.atol, max_steps=20_000)
    assert sol.success, sol.message
    assert any("combined differently" in note for note in sol.notes)
    right = member.truth(sol.t)
    assert (np.abs(sol.y - right) / (member.atol[:, None] + 1e-10 * np.abs(right))).max() < 10


def test_constraints_combined_anew_three_times_are_short_each_time() -> None:
    """Rows and unknowns turn; written with sines below, the formulas had 100 000 operations at the third."""
    member = linear.make(31023)
    sol = herk.solve_dae(member.model(), method="radau5", rtol=member.rtol, atol=member.atol)
    assert sol.success, sol.message
    right = member.truth(sol.t)
    assert (np.abs(sol.y - right) / (member.atol[:, None] + member.rtol * np.abs(right))).max() < 100


def test_divisions_by_zero_are_looked_for_behind_a_run_too() -> None:
    """With large steps a run may fail just after the zero it has passed."""
    form = TURNED.form("overdetermined")  # combined by 1/cos(3t/2)
    pivots = renewal.pivots(form, np.zeros(1), np.zeros((1, 2)))
    zeros = renewal.zeros_around(form.model, pivots, 1.1, (0.0, 4.0))
    assert zeros == pytest.approx([np.pi, np.pi / 3], rel=1e-14)


def test_divisions_by_zero_soon_after_the_end_are_looked_for() -> None:
    """Rounding may have moved the end, and what vanishes behind it is small before."""
    form, zero = TURNED.form("overdetermined"), np.pi / 3
    pivots = renewal.pivots(form, np.zeros(1), np.zeros((1, 2)))
    for t, end in ((1.0, np.nextafter(zero, 0.0)), (0.9, 0.99 * zero)):
        found = renewal.zeros_around(form.model, pivots, t, (0.0, end))
        assert found == pytest.approx([zero], rel=1e-14)
