"""No wrong answer is called success.

Branches, poles, jumps and crossings along constraints, where nothing is integrated.
"""

from __future__ import annotations

import numpy as np
import pytest

import herk
from herk.core import Reason

PAIRS = ["bs32", "dopri5", "tsit5", "dop853", "verner98"]
EVERY = (*PAIRS, "auto", "radau5")
TIMES = np.linspace(0.0, 10.0, 2001)


def constrained(*rows: str, t_end: float, y0: list[float], names: tuple[str, ...] = ("x", "z")) -> herk.Model:
    """Return x' = (first row), 0 = other rows."""
    n = len(names)
    return herk.Model(
        "m", list(names), np.diag([1] + [0] * (n - 1)).tolist(), list(rows), t_span=(0, t_end), y0=y0
    )


@pytest.mark.parametrize("method", EVERY)
def test_a_driven_crank_stays_on_its_branch(method):
    rows = ["ax - cos(6*t)", "ay - sin(6*t)", "(s - ax)**2 + ay**2 - 1.44"]
    model = herk.Model("crank", ["ax", "ay", "s"], [[0] * 3] * 3, rows, t_span=(0, 10), y0=[1, 0, 2.2])
    exact = np.cos(6 * TIMES) + np.sqrt(1.44 - np.sin(6 * TIMES) ** 2)
    sol = herk.solve_dae(model, method=method, t_eval=TIMES)
    assert sol.success
    assert np.abs(sol.y[2] - exact).max() < 1e-12
    plain = herk.solve_dae(model, method=method, dense_output=True, project_output=False)
    assert np.abs(plain(TIMES)[2] - exact).max() < 1e-4


def test_what_only_constraints_move_is_interpolated_to_the_tolerance_without_projection():
    model = herk.Model("cos", ["z"], [[0]], ["z - cos(5*t)"], t_span=(0, 10), y0=[1])
    sol = herk.solve_dae(model, dense_output=True, project_output=False)
    assert np.abs(sol(TIMES)[0] - np.cos(5 * TIMES)).max() < 1e-4


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize(
    ("row", "start", "end"),
    [
        ("z*(1 - t) - 1", 1.0, 1.0),
        ("z*(1 - t)**2 - 1", 1.0, 1.0),
        ("z - tan(t)", 0.0, np.pi / 2),
        ("z**2 + x**2 - 1", 1.0, 1.0),
    ],
)
def test_a_run_ends_at_a_pole_or_a_fold(method, row, start, end):
    sol = herk.solve_dae(constrained("1", row, t_end=2.0, y0=[0.0, start]), method=method)
    assert not sol.success
    assert sol.reason in (Reason.SINGULAR, Reason.STEP_UNDERFLOW, Reason.NEWTON, Reason.NONFINITE)
    assert sol.t[-1] == pytest.approx(end, abs=2e-3)  # a double pole is noticed while its pivot still is 1e-6


def test_where_two_branches_cross_a_run_ends_instead_of_choosing_one():
    rows = [
        "ay - sin(2*t)",
        "ax - cos(2*t)",
        "ay**2 + (s - ax)**2 - 1",
    ]  # s = 2 cos 2t and s = 0 meet at t = pi/4
    model = herk.Model("equal crank", ["ay", "ax", "s"], [[0] * 3] * 3, rows, t_span=(0, 2), y0=[0, 1, 2])
    for method in PAIRS:
        sol = herk.solve_dae(model, method=method)
        assert not sol.success
        assert sol.t[-1] == pytest.approx(np.pi / 4, abs=1e-3)
        assert np.abs(sol.y[2] - 2 * np.cos(2 * sol.t)).max() < 1e-2


@pytest.mark.parametrize("method", ["auto", "radau5"])
def test_a_pivot_that_only_comes_close_to_zero_stops_nothing(method):
    rows = ["ay - sin(2*t)", "ax - cos(2*t)", "ay**2 + (s - ax)**2 - 1.0001"]
    start = 1 + np.sqrt(1.0001)
    model = herk.Model("crank", ["ay", "ax", "s"], [[0] * 3] * 3, rows, t_span=(0, 4), y0=[0, 1, start])
    sol = herk.solve_dae(model, method=method)
    assert sol.success
    exact = np.cos(2 * sol.t) + np.sqrt(1.0001 - np.sin(2 * sol.t) ** 2)
    assert np.abs(sol.y[2] - exact).max() < 1e-10


def test_a_force_that_jumps_is_noted_and_the_run_goes_on():
    dae = herk.Dae(
        E=np.diag([1.0, 0.0]),
        f=lambda t, y: np.array([y[1], 0.0]),
        g=lambda t, y: np.array([y[1] - (1.0 if t > 1.0 else -1.0)]),
        n=2,
        m=1,
    )
    sol = herk.solve_dae(dae, (0.0, 2.0), [0.0, -1.0])
    assert sol.success
    assert sol.y[0, -1] == pytest.approx(0.0, abs=1e-4)
    assert "jumped" in sol.notes[0]


def test_a_pulse_the_model_shows_is_not_stepped_over():
    model = constrained(
        "Piecewise((0, t < 6), (50, t < 6.01), (0, True))", "z - x", t_end=10.0, y0=[1.0, 1.0]
    )
    sol = herk.solve_dae(model, method="dop853")
    assert sol.y[0, -1] == pytest.approx(1.5, rel=1e-9)


def test_a_start_on_another_branch_of_the_equations_is_analysed_for_itself():
    def model(x: float, z: float) -> herk.Model:
        matrix = [[1, 0], [0, "Piecewise((0, x < 1), (1, True))"]]
        return herk.Model("branches", ["x", "z"], matrix, ["0", "x + 1 - z"], t_span=(0, 1), y0=[x, z])

    assert herk.solve_dae(model(0.5, 1.5)).y[1, -1] == pytest.approx(1.5)  # 0 = x + 1 - z
    later = herk.solve_dae(model(2.0, 5.0), rtol=1e-9)
    assert later.y[1, -1] == pytest.approx(3.0 + 2.0 * np.exp(-1.0), rel=1e-7)  # z' = 3 - z


def parallelogram() -> herk.Model:
    """Return a parallelogram driven by its crank; links are in line when the crank lies on the base."""
    return herk.Model(
        "parallelogram",
        ["bx", "by"],
        [[0, 0], [0, 0]],
        ["(bx - cos(t))**2 + (by - sin(t))**2 - 4", "(bx - 2)**2 + by**2 - 1"],
        t_span=(0.5, 4.0),
        y0=[2 + np.cos(0.5), np.sin(0.5)],
    )


def touched_fold() -> herk.Model:
    """Return x**2 + z**2 = 1 driven to x = 1 and back: z = cos(t) would go on to the other half."""
    return herk.Model(
        "fold", ["x", "z"], [[0, 0], [0, 0]], ["x - sin(t)", "x**2 + z**2 - 1"], t_span=(0, 3), y0=[0, 1]
    )


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize(("make", "crossing"), [(parallelogram, np.pi), (touched_fold, np.pi / 2)])
def test_a_run_into_a_crossing_of_branches_ends_there_and_says_so(make, crossing, method, tolerance) -> None:
    sol = herk.solve_dae(make(), method=method, rtol=tolerance, atol=tolerance)
    assert not sol.success
    assert sol.t[-1] == pytest.approx(crossing, abs=1e-4)
    if method != "radau5":  # there rounding may be what stops a run so close to it
        assert sol.reason is Reason.SINGULAR, sol.message
        assert "singular" in sol.message


def test_a_pivot_that_dies_away_slowly_is_no_crossing() -> None:
    # exp(-t) z = 1: the pivot falls to 2e-9 of its first value, and z = exp(t) is right all the way.
    model = herk.Model("fading", ["x", "z"], [[1, 0], [0, 0]], ["-x", "x*z - 1"], t_span=(0, 20), y0=[1, 1])
    sol = herk.solve_dae(model, rtol=1e-8, atol=1e-20)
    assert sol.success, sol.message
    assert sol.y[1, -1] == pytest.approx(np.exp(20), rel=1e-5)


@pytest.mark.parametrize("units", [1e-9, 1.0, 1e9])
def test_a_component_in_other_units_does_not_hide_where_the_selection_must_change(units) -> None:
    # A spherical pendulum whose y is written in other units: where y passes zero, others must be algebraic.
    names = ["x", "y", "z", "u", "v", "w", "lam"]
    f = ["u", f"v/{units!r}", "w", "-2*x*lam", f"-2*{units!r}*y*lam", "-2*z*lam - 9.81"]
    model = herk.Model(
        "spherical",
        names,
        np.diag([1.0] * 6 + [0.0]).tolist(),
        [*f, f"x**2 + ({units!r}*y)**2 + z**2 - 1"],
        t_span=(0, 3),
        y0=[0.6, 0.8 / units, 0.0, -0.8, 0.6, 0.0, None],
    )
    atol = 1e-9 * np.array([1, 1 / units, 1, 1, 1, 1, 1])
    sol = herk.solve_dae(model, rtol=1e-9, atol=atol)
    assert sol.success, sol.message
    y = units * sol.y[1]
    energy = 0.5 * (sol.y[3:6] ** 2).sum(axis=0) + 9.81 * sol.y[2]
    assert np.ptp(energy) < 1e-6
    assert np.ptp(sol.y[0] * sol.y[4] - y * sol.y[3]) < 1e-6  # angular momentum about the vertical


def test_where_three_branches_cross_a_run_ends_or_says_so() -> None:
    # the determinant has a double zero at x = 1, whose sign tells nothing
    f = ["1", "(z - sin(x))*((z - sin(x))**2 - (x - 1)**2)"]
    model = herk.Model("three", ["x", "z"], [[1, 0], [0, 0]], f, t_span=(0, 2), y0=[0, 0])
    for method in ("auto", "dop853"):
        sol = herk.solve_dae(model, method=method)
        assert sol.notes if sol.success else sol.t[-1] == pytest.approx(1.0, abs=2e-3)
        assert np.abs(sol.y[1] - np.sin(sol.t)).max() < 1e-4


@pytest.mark.parametrize("method", ["dopri5", "dop853", "radau5"])
def test_an_unknown_that_a_constraint_enlarges_is_as_exact_as_was_asked_for(method):
    """x = exp(sin t) may be off by 0.001, z = 100 000 x as well: so steps must follow z."""
    f = ["x*cos(t)", "z - 100000*x"]
    model = herk.Model("enlarged", ["x", "z"], [[1, 0], [0, 0]], f, t_span=(0, 10), y0=[1, 100000])
    sol = herk.solve_dae(model, method=method, rtol=1e-12, atol=1e-3)
    assert sol.success
    assert np.abs(sol.y[1] - 1e5 * np.exp(np.sin(sol.t))).max() < 0.1


@pytest.mark.parametrize("method", ["auto", "dopri5", "bs32", "tsit5", "radau5"])
@pytest.mark.parametrize("unit", [1.0, 1e-9])
def test_a_pivot_that_falls_because_its_unknown_grows_is_no_crossing(method: str, unit: float) -> None:
    model = constrained("1", f"log(z/{unit}) - x", t_end=20.0, y0=[0.0, unit])
    sol = herk.solve_dae(model, method=method)
    assert sol.success, sol.message
    assert sol.y[1, -1] == pytest.approx(unit * np.exp(20.0), rel=1e-6)


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau5"])
@pytest.mark.parametrize("start", [1.0, 1.0 - 1e-9, 0.3, 2.0])
def test_an_unknown_that_touches_or_passes_zero_makes_nothing_singular(method: str, start: float) -> None:
    rows = ["0", "z - sin(t)"]  # x' + z' = 0
    model = herk.Model("sum", ["x", "z"], [[1, 1], [0, 0]], rows, t_span=(0, 5), y0=[start, 0])
    sol = herk.solve_dae(model, method=method)
    assert sol.success, sol.message
    assert sol.y[0, -1] == pytest.approx(start - np.sin(5.0), abs=1e-5)
