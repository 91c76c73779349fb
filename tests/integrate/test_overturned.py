"""E that becomes singular on the way: no step leads across, whatever the method; what only looks so is passed."""

from __future__ import annotations

import numpy as np
import pytest

import herk
from herk.model.model import Model

METHODS = ("auto", "dopri5", "dop853", "radau5", "radau")


def vanishing(k: float = 2.0, **how: object) -> Model:
    """Return (t - 1) x' = k x: x = (1 - t)^k up to t = 1, and behind it any multiple of that."""
    return Model("vanishing", ["x"], [["t - 1"]], [f"{k}*x"], t_span=(0, 2), y0=[1.0], **how)


def ends_at_one(sol: herk.Solution, k: float = 2.0) -> None:
    """Check that a run ended at t = 1 for that reason, and was right until then."""
    assert not sol.success
    assert sol.reason is herk.Reason.SINGULAR, sol.message
    assert sol.t[-1] == pytest.approx(1.0, abs=1e-6)
    assert sol.t[-1] <= 1.0
    assert sol.y[0] == pytest.approx((1 - sol.t) ** k, abs=1e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [1.0, 2.0, 3.0])
def test_no_step_leads_across_a_point_at_which_nothing_determines_the_derivative(
    method: str, k: float
) -> None:
    ends_at_one(herk.solve_dae(vanishing(k), method=method), k)


@pytest.mark.parametrize("method", METHODS)
def test_callables_end_there_too(method: str) -> None:
    dae = herk.Dae(E=lambda t, y: np.array([[t - 1.0]]), f=lambda t, y: 2 * y, n=1)
    ends_at_one(herk.solve_dae(dae, (0, 2), [1.0], method=method))


@pytest.mark.parametrize("method", METHODS)
def test_constraints_on_what_it_determines_do_not_hide_it(method: str) -> None:
    E, f = [["t - 1", 0], [0, 0]], ["2*x", "z - x"]
    model = Model("constrained", ["x", "z"], E, f, t_span=(0, 2), y0=[1.0, None])
    ends_at_one(herk.solve_dae(model, method=method))


@pytest.mark.parametrize("method", METHODS)
def test_two_rows_that_vanish_together_are_seen(method: str) -> None:
    """Their determinant is (t - 1)^2 and keeps its sign."""
    E = [["t - 1", 0], [0, "t - 1"]]
    model = Model("two", ["x", "w"], E, ["2*x", "2*w"], t_span=(0, 2), y0=[1.0, 2.0])
    ends_at_one(herk.solve_dae(model, method=method))


@pytest.mark.parametrize("method", METHODS)
def test_a_full_block_that_is_singular_on_the_way_ends_the_run(method: str) -> None:
    """U diag(t - 1, 1) with U = [[1, 2], [-1, 1]]: x = (1 - t)^2, w = exp(-t)."""
    E, f = [["t - 1", "2"], ["-(t - 1)", "1"]], ["2*x - 2*w", "-2*x - w"]
    model = Model("block", ["x", "w"], E, f, t_span=(0, 2), y0=[1.0, 1.0])
    sol = herk.solve_dae(model, method=method)
    ends_at_one(sol)
    assert sol.y[1] == pytest.approx(np.exp(-sol.t), abs=1e-4)


def test_fixed_steps_end_there_too() -> None:
    for method in ("rk4", "radau5"):
        sol = herk.solve_dae(vanishing(), method=method, step=0.013)
        assert not sol.success
        assert sol.t[-1] == pytest.approx(0.988)


def test_prepared_runs_end_where_their_values_put_it() -> None:
    E, start = [["t - p"]], {"t_span": (0, 2), "y0": [1.0]}
    model = Model("moved", ["x"], E, ["2*x"], parameters={"p": 1.0}, **start)
    prepared = herk.prepare(model)
    for p in (1.0, 1.7, 0.3):
        sol = prepared.solve(parameters={"p": p})
        assert not sol.success
        assert sol.t[-1] == pytest.approx(p)
    assert prepared.solve(parameters={"p": 2.5}).success
    assert prepared.solve(parameters={"p": -0.5}).success
    members = herk.solve_many(model, {"p": [0.5, 2.5, -1.0, 1.5]}, t_eval=[0, 2])
    assert members.success.tolist() == [False, True, True, False]


@pytest.mark.parametrize("method", METHODS)
def test_a_matrix_that_turns_round_is_never_singular(method: str) -> None:
    E = [["cos(t)", "-sin(t)"], ["sin(t)", "cos(t)"]]
    f = ["-x*cos(t) + w*sin(t)", "-x*sin(t) - w*cos(t)"]  # E times -(x, w)
    model = Model("turning", ["x", "w"], E, f, t_span=(0, 20), y0=[1.0, 2.0])
    sol = herk.solve_dae(model, method=method, rtol=1e-8, atol=1e-10)
    assert sol.success, sol.message
    assert sol.y == pytest.approx(np.array([np.exp(-sol.t), 2 * np.exp(-sol.t)]), abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_what_constraints_determine_needs_no_regular_E(method: str) -> None:
    """cos(t) v' = lam - x with v known: lam = x - cos(t) sin(t), smooth where the mass is zero."""
    E, f = [[1, 0, 0], [0, "cos(t)", 0], [0, 0, 0]], ["v", "-x + lam", "x - sin(t)"]
    model = Model("driven", ["x", "v", "lam"], E, f, t_span=(0, 3), y0=[0, 1, None])
    sol = herk.solve_dae(model, method=method, rtol=1e-8, atol=1e-10)
    assert sol.success, sol.message
    assert sol.y[2] == pytest.approx(np.sin(sol.t) - np.cos(sol.t) * np.sin(sol.t), abs=1e-6)


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau5"])
def test_large_models_end_there_too(method: str) -> None:
    n = 120
    E: dict[tuple[int, int], object] = {(i, i): 1 for i in range(n)} | {(7, 7): "t - 1"}
    f = ["2*x7" if i == 7 else f"x{i - 1} - x{i}" if i else "-x0" for i in range(n)]
    model = Model("large", [f"x{i}" for i in range(n)], E, f, t_span=(0, 2), y0=[1.0] * n)
    sol = herk.solve_dae(model, method=method)
    assert not sol.success
    assert sol.reason is herk.Reason.SINGULAR, sol.message
    assert sol.t[-1] == pytest.approx(1.0, abs=0.2)


def meeting(start: float = 0.0, end: float = 3.0, p: float = 2.0, **how: object) -> Model:
    """Return a model with det [E; g_y] = p - t, whose solutions x = c (p - t) all meet at t = p; here c = 1/2."""
    E, f = [["1", "t - p + 1"], [0, 0]], ["-x", "x + y - 2"]
    y0 = [(p - start) / 2, 2 - (p - start) / 2]
    return Model("meeting", ["x", "y"], E, f, parameters={"p": p}, t_span=(start, end), y0=y0, **how)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("start", "end"), [(0.0, 3.0), (3.0, 0.0)])
def test_no_step_leads_across_a_point_at_which_E_and_the_constraints_together_are_singular(
    method: str, start: float, end: float
) -> None:
    sol = herk.solve_dae(meeting(start, end), method=method)
    assert not sol.success
    if method.startswith("dop"):  # Newton's method of the others notices first
        assert sol.reason is herk.Reason.SINGULAR, sol.message
    assert sol.t[-1] == pytest.approx(2.0, abs=1e-6)
    assert sol.y == pytest.approx(np.array([(2 - sol.t) / 2, 1 + sol.t / 2]), abs=1e-5)


@pytest.mark.parametrize("method", ["auto", "dopri5", "dop853"])
@pytest.mark.parametrize(("start", "end"), [(0.0, 3e-3), (3e-3, 0.0)])
def test_units_do_not_hide_it(method: str, start: float, end: float) -> None:
    """The same with 1e6 x, 1e-4 y and t in thousands."""
    E, f = [["1e-9", "10*(1000*t - 1)"], [0, 0]], ["-1e-6*x", "1e-6*x + 1e4*y - 2"]
    x = (2 - 1000 * start) / 2
    y0 = [1e6 * x, 1e-4 * (2 - x)]
    model = Model("odd", ["x", "y"], E, f, t_span=(start, end), y0=y0)
    sol = herk.solve_dae(model, method=method, atol=[1e-3, 1e-13])
    assert not sol.success
    assert sol.t[-1] == pytest.approx(2e-3, abs=1e-9)


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_two_such_pairs_that_are_singular_together_are_seen(method: str) -> None:
    """The determinant of the whole is (t - 2)^2 and keeps its sign."""
    E = [["1", "t - 1", 0, 0], [0, 0, "1", "t - 1"], [0] * 4, [0] * 4]
    f = ["-x", "-u", "x + y - 2", "u + v - 2"]
    model = Model("pairs", ["x", "y", "u", "v"], E, f, t_span=(0, 3), y0=[1.0, 1.0, 2.0, 0.0])
    sol = herk.solve_dae(model, method=method)
    assert sol.reason is herk.Reason.SINGULAR, sol.message
    assert sol.t[-1] == pytest.approx(2.0, abs=1e-6)


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
@pytest.mark.parametrize(
    ("given", "near"), [({}, 1e-4), ({"jac_g": lambda t, y: np.array([[1.0, 1.0]])}, 1e-6)]
)
def test_callables_with_constraints_end_there_too(method: str, given: dict[str, object], near: float) -> None:
    """Differences over 1.5e-8 atol/rtol know dg/dx to eps(2)/1.5e-11 = 3e-5."""
    dae = herk.Dae(
        E=lambda t, y: np.array([[1.0, t - 1.0], [0.0, 0.0]]),
        f=lambda t, y: np.array([-y[0], 0.0]),
        g=lambda t, y: np.array([y[0] + y[1] - 2.0]),
        n=2,
        m=1,
        **given,
    )
    sol = herk.solve_dae(dae, (0, 3), [1.0, 1.0], method=method)
    assert sol.reason is herk.Reason.SINGULAR, sol.message
    assert sol.t[-1] == pytest.approx(2.0, abs=near)


def test_prepared_runs_meet_where_their_values_put_it() -> None:
    prepared = herk.prepare(meeting(), method="dopri5")
    for p, ends in ((2.0, 2.0), (1.5, 1.5), (2.5, 2.5), (3.5, None)):
        sol = prepared.solve(parameters={"p": p}, y0=[p / 2, 2 - p / 2])
        assert sol.success is (ends is None), sol.message
        assert sol.t[-1] == pytest.approx(ends or 3.0, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_row_that_turns_round_with_its_constraint_is_never_singular(method: str) -> None:
    """(x, y) = r (cos t, sin t) with r' = -r/10: [E; g_y] is a rotation."""
    E, f = [["cos(t)", "sin(t)"], [0, 0]], ["-(x*cos(t) + y*sin(t))/10", "y*cos(t) - x*sin(t)"]
    model = Model("round", ["x", "y"], E, f, t_span=(0, 20), y0=[1.0, 0.0])
    sol = herk.solve_dae(model, method=method, rtol=1e-8, atol=1e-10)
    assert sol.success, sol.message
    r = np.exp(-sol.t / 10)
    assert sol.y == pytest.approx(np.array([r * np.cos(sol.t), r * np.sin(sol.t)]), abs=1e-6)


def test_large_models_with_such_a_pair_end_there_too() -> None:
    n = 120
    E: dict[tuple[int, int], object] = {(i, i): 1 for i in range(n - 1)} | {(0, n - 1): "t - 1"}
    f = ["-x0", *(f"x{i - 1} - x{i}" for i in range(1, n - 1)), f"x0 + x{n - 1} - 2"]
    model = Model("large", [f"x{i}" for i in range(n)], E, f, t_span=(0, 3), y0=[1.0] * n)
    sol = herk.solve_dae(model, method="dopri5")
    assert sol.reason is herk.Reason.SINGULAR, sol.message
    assert sol.t[-1] == pytest.approx(2.0, abs=1e-6)
