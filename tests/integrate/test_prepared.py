"""Prepared runs: what was made for one start serves others, and answers never depend on what was run before."""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset
from herk.integrate import kept
from herk.jit.native import Native

TIGHT = {"method": "dop853", "rtol": 1e-9, "atol": 1e-9}


def alone(*arguments, **options) -> herk.Solution:
    """Solve as if nothing had been solved before."""
    kept._kept.clear()
    return herk.solve_dae(*arguments, **options)


@pytest.fixture
def pendulum() -> herk.Model:
    return testset.get("pendulum", t_end=1.0).model


STARTS = [
    ({}, [-1.0, 0.0, 0.0, 0.0, None]),
    ({"l": 1.3}, [-1.3, 0.0, 0.0, 0.0, None]),
    ({"g": 1.6, "l": 0.5}, [0.3, -0.4, 0.4, 0.3, None]),
]


@pytest.mark.parametrize("method", ["dop853", "radau5"])
@pytest.mark.parametrize(("values", "y0"), STARTS)
def test_a_prepared_run_gives_the_very_points_of_solve_dae(pendulum, values, y0, method: str) -> None:
    tight = TIGHT | {"method": method}
    ready = herk.prepare(pendulum, **tight)
    for _ in range(2):
        found = ready.solve(y0=y0, parameters=values)
        expected = alone(pendulum, y0=y0, parameters=values, **tight)
        assert found.success
        assert np.array_equal(found.t, expected.t)
        assert np.array_equal(found.y, expected.y)


@pytest.mark.parametrize("method", ["dop853", "radau5"])
def test_what_was_solved_before_changes_nothing(pendulum, method: str) -> None:
    tight = TIGHT | {"method": method}
    expected = [alone(pendulum, y0=y0, parameters=values, **tight) for values, y0 in STARTS]
    for _ in range(2):
        for (values, y0), other in zip(STARTS, expected, strict=True):
            sol = herk.solve_dae(pendulum, y0=y0, parameters=values, **tight)
            assert np.array_equal(sol.y, other.y)
            assert sol.stats == other.stats


def test_span_tolerances_and_output_times_can_be_changed(pendulum) -> None:
    ready = herk.prepare(pendulum)
    found = ready.solve((0.0, 0.5), rtol=1e-8, atol=1e-8, t_eval=[0.25, 0.5])
    expected = alone(pendulum, (0.0, 0.5), rtol=1e-8, atol=1e-8, t_eval=[0.25, 0.5])
    assert np.array_equal(found.t, [0.25, 0.5])
    assert np.array_equal(found.y, expected.y)
    assert ready.solve().t[-1] == 1.0


@pytest.mark.parametrize("method", ["dopri5", "radau5"])
def test_spans_and_tolerances_of_runs_before_change_nothing(pendulum, method: str) -> None:
    ready = herk.prepare(pendulum, method=method)
    short, fine = {"t_span": (0.0, 0.5)}, {"rtol": 1e-8, "atol": 1e-10}
    whole = {"y0": herk.consistent_start(pendulum, 0.0, [0.6, -0.8, 0.4, 0.3, None])}
    for changes in ({}, short, short, fine, short | fine, whole, whole | short, {}, short):
        found, expected = ready.solve(**changes), alone(pendulum, method=method, **changes)
        assert np.array_equal(found.y, expected.y)
        assert found.stats == expected.stats


def test_other_values_compile_nothing(pendulum) -> None:
    ready = herk.prepare(pendulum)
    ready.solve()
    before = Native.compilations
    for length in (0.8, 0.9, 1.1, 1.2):
        assert ready.solve(y0=[-length, 0, 0, 0, None], parameters={"l": length}).success
    assert Native.compilations == before


@pytest.mark.parametrize("method", ["dop853", "radau5"])
def test_open_multipliers_of_other_values_are_not_looked_for_in_python(pendulum, monkeypatch, method) -> None:
    ready = herk.prepare(pendulum, y0=STARTS[0][1], method=method)

    def fails(*_: object) -> None:
        raise AssertionError("looked for in Python")

    monkeypatch.setattr("herk.integrate.start.completed_start", fails)
    for values, y0 in STARTS:
        found = ready.solve(y0=y0, parameters=values)
        _, y, vx, vy, lam = found.y[:, 0]
        given = {str(name): value for name, value in pendulum.parameters.items()} | values
        force = (vx**2 + vy**2 - given["g"] * y) / (2 * given["l"] ** 2)  # (x^2 + y^2)'' = 0
        assert lam == pytest.approx(force, rel=1e-14, abs=1e-14)
    with pytest.raises(AssertionError, match="in Python"):  # two positions fit
        ready.solve(y0=[0.6, None, 0.0, None, None], parameters={"l": 1.0})


def test_a_start_off_the_constraints_is_refused_as_ever(pendulum) -> None:
    ready = herk.prepare(pendulum)
    for wrong in ([-1.0, 0.1, 0, 0, None], [-1.0 - 1e-5, 0, 0, 0, None]):
        with pytest.raises(herk.InputError, match="consistent"):
            ready.solve(y0=wrong)
        with pytest.raises(herk.InputError, match="consistent"):
            herk.solve_dae(pendulum, y0=wrong)
    assert ready.solve().success


def test_a_value_at_which_the_structure_changes_is_analysed_anew() -> None:
    # m x' = 1 - x: for m = 0 the equation is a constraint.
    model = herk.Model("lag", ["x"], [["m"]], ["1 - x"], parameters={"m": 1.0}, t_span=(0, 1), y0=[None])
    with pytest.raises(herk.InputError):
        herk.prepare(model)
    ready = herk.prepare(model, y0=[0.0], rtol=1e-9, atol=1e-9)
    assert ready.solve(parameters={"m": 2.0}).y[0, -1] == pytest.approx(1 - np.exp(-0.5), abs=1e-8)
    still = ready.solve(y0=[1.0], parameters={"m": 0.0})
    assert np.array_equal(still.y[0], np.ones_like(still.t))


def test_an_unknown_parameter_is_named(pendulum) -> None:
    with pytest.raises(herk.InputError, match="length"):
        herk.prepare(pendulum).solve(parameters={"length": 1.0})


def test_breakpoints_and_events_are_kept() -> None:
    def half(t, y):
        return y[0] - 0.5

    half.terminal = True
    model = herk.Model("ramp", ["x"], [[1]], ["Piecewise((1, t < 0.2), (3, True))"], t_span=(0, 1), y0=[0])
    ready = herk.prepare(model, events=half)
    for start in (0.0, 0.1):
        sol = ready.solve(y0=[start])
        assert sol.t_events[0][0] == pytest.approx(0.2 + (0.3 - start) / 3, abs=1e-9)


def test_a_copy_serves_another_thread(pendulum) -> None:
    from concurrent.futures import ThreadPoolExecutor

    ready = herk.prepare(pendulum, **TIGHT)
    expected = ready.solve()
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda one: one.solve(), [ready.copy() for _ in range(6)]))
    assert all(np.array_equal(each.y, expected.y) for each in found)


def test_dense_output_of_one_run_is_not_changed_by_the_next(pendulum) -> None:
    ready = herk.prepare(pendulum, dense_output=True, **TIGHT)
    first = ready.solve()
    before = first(0.4321)
    ready.solve(y0=[0.3, -0.4, 0.4, 0.3, None], parameters={"g": 1.6, "l": 0.5})
    assert np.array_equal(first(0.4321), before)


def test_breakpoints_follow_parameters_and_span() -> None:
    # A pulse of height 1e3 and width 1e-3 at t = c: x ends at 1 wherever it is.
    f = ["Piecewise((1000, (t > c) & (t < c + 0.001)), (0, True))"]
    model = herk.Model("pulse", ["x"], [[1]], f, parameters={"c": 0.5}, t_span=(0, 1), y0=[0])
    ready = herk.prepare(model)
    for options in ({}, {"parameters": {"c": 0.7}}, {"parameters": {"c": 7.3}, "t_span": (0, 10)}):
        assert ready.solve(**options).y[0, -1] == pytest.approx(1.0, abs=1e-6)


def test_what_is_changed_is_checked(pendulum) -> None:
    ready = herk.prepare(pendulum, t_eval=[0.5, 1.0])
    with pytest.raises(herk.InputError, match="outside the span"):
        ready.solve((0.0, 0.6))
    with pytest.raises(herk.InputError, match="rtol"):
        ready.solve(rtol=-1.0)
    assert ready.solve(y0={"x": 0.6, "y": -0.8, "lam": None}).y[0, 0] != 0.6  # t_eval has no start


def test_what_a_start_leaves_open_is_looked_at_whatever_was_solved_before(pendulum) -> None:
    assert herk.solve_dae(pendulum, method="dopri5").success
    with pytest.raises(herk.InputError, match="left open"):
        herk.solve_dae(pendulum, y0=[None] * 5, method="dopri5")


@pytest.mark.parametrize("value", ["a", [1.0, 2.0], None, np.nan])
def test_a_value_that_is_no_number_is_refused_in_a_sentence(pendulum, value) -> None:
    with pytest.raises(herk.InputError, match="Parameter g must be a"):
        herk.prepare(pendulum).solve(parameters={"g": value})


@pytest.mark.parametrize("method", ["dopri5", "radau5"])
def test_a_value_left_open_does_not_depend_on_runs_before(method: str) -> None:
    """y = 0.8 and y = -0.8 both fit x = 0.6; a run from below must not make the next one begin below."""
    model = testset.get("pendulum").model.with_span(1.0)
    asked = {"y0": [0.6, None, 0.0, None, None], "method": method, "t_eval": [0.0, 1.0]}
    below = [None, -0.8, 0.0, None, None]
    kept._kept.clear()
    alone = herk.solve_dae(model, **asked)
    kept._kept.clear()
    herk.solve_dae(model, y0=below, method=method)
    assert np.array_equal(herk.solve_dae(model, **asked).y, alone.y)
    many = herk.solve_many(model, y0=[below, asked["y0"]], t_eval=[0.0, 1.0], method=method)
    assert many.success.all()
    assert np.allclose(many.y[1], alone.y, rtol=1e-6, atol=1e-9)
