"""Narrow peaks of the state, which steps lead across without any sign of it, are met all the same."""

from __future__ import annotations

import math
import random
import re

import numpy as np
import pytest
from scipy.integrate import quad

import herk
from herk.integrate import run as runs
from herk.integrate.narrow import Narrow
from tests.model.test_pulses import SHAPES

ROOT_PI = math.sqrt(math.pi)
METHODS = ("auto", "dopri5", "radau5")


def fed(peak: str, v: float = 1.0, **parameters: float) -> herk.Model:
    """Return s' = v and x' = z, where z is nothing but the peak of s, times v."""
    E = [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    rows = ["v", "z", f"z - v*({peak})"]
    return herk.Model(
        "fed",
        ["s", "x", "z"],
        E,
        rows,
        parameters={**parameters, "v": v},
        t_span=(0, 10 / v),
        y0=[0, 0, None],
    )


def swinging(w: float = 0.02) -> herk.Model:
    """Return an oscillator of amplitude 1 over a bell in its middle."""
    rows = ["q", "-s", "exp(-(s/w)**2)/w"]
    start = {"parameters": {"w": w}, "t_span": (0, 20 * math.pi), "y0": [1, 0, 0]}
    return herk.Model("swinging", ["s", "q", "x"], np.eye(3).tolist(), rows, **start)


def pass_of(w: float) -> float:
    """Return what one passage of the oscillator gives."""
    return quad(
        lambda u: math.exp(-((math.sin(u) / w) ** 2)) / w, -1.5, 1.5, points=[-5 * w, 0, 5 * w], epsabs=1e-13
    )[0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_narrow_peak_of_the_state_is_met_wherever_it_is_and_however_narrow(shape: str, method: str) -> None:
    formula, integral = SHAPES[shape]
    chance = random.Random(f"{shape} {method}")
    for _ in range(3):
        w, c, v = 10 ** chance.uniform(-6, -1.3), chance.uniform(1, 9), 10 ** chance.uniform(-2, 2)
        of_state = re.sub(r"\bt\b", "s", formula)
        model = fed(f"({of_state})/w", v, w=w, c=c)
        sol = herk.solve_dae(model, method=method, rtol=1e-7, atol=1e-10)
        assert sol.success, sol.message
        assert sol.y[1, -1] == pytest.approx(integral(w) / w, rel=2e-5), (w, c, v)


def test_without_looking_for_peaks_they_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Narrow, "of", lambda *_: None)
    sol = herk.solve_dae(fed("exp(-((s - 5)/w)**2)/w", w=0.01), rtol=1e-7)
    assert sol.success
    assert sol.y[1, -1] < 0.1  # that is what this page is about


def test_a_peak_close_to_the_end_of_a_long_step_is_met() -> None:
    """radau5 goes from t = 0.86 to 3.13 and 5.4, since nothing but the peak limits it; s passes c once."""
    f = ["s - sin(1.09*t)", "(1 + ((s - c)/w)**2)**(-2)/w*1.09*cos(1.09*t)"]
    start = {"parameters": {"c": 0.0, "w": 3.4e-5}, "t_span": (0, 5.4), "y0": [0, 0]}
    model = herk.Model("late", ["x", "s"], [[0, 0], [1, 0]], f, **start)
    for before in np.geomspace(1e-3, 0.3, 12):
        c = math.sin(1.09 * (3.129 - before))
        way = [((each - c) / 3.4e-5) for each in (0.0, math.sin(1.09 * 5.4))]
        whole = [u / (2 * (1 + u * u)) + math.atan(u) / 2 for u in way]
        sol = herk.solve_dae(model, method="radau5", parameters={"c": c}, rtol=1e-5, atol=1e-5)
        assert sol.success
        assert sol.y[0, -1] == pytest.approx(whole[1] - whole[0], abs=1e-3), before


@pytest.mark.parametrize("seed", [93001298, 95001862])
def test_a_long_step_that_ends_on_a_peak_is_made_again(seed: int) -> None:
    """dopri5 ended 0.06 widths behind the highest point, or 0.35 before it, with estimates that cancelled."""
    from tests.fuzz import bells, examine

    assert bells.make(seed).kind.startswith("train")
    assert examine.record(("bells", seed))["outcome"] == "right"


WHOLE = {  # integrals over the whole line
    "exp(-({u}))/(1 + exp(-({u})))**2": 1.0,
    "exp({u})/(2 + exp({u}))**2": 0.5,
    "1/(exp({u}) + exp(-({u})))**2": 0.5,
    "1/(2 + exp({u}) + exp(-({u})))": 1.0,
    "1/(1 + cosh({u}))": 2.0,
    "exp({u})*exp(-exp({u}))": 1.0,
    "exp(-({u}) - exp(-({u})))": 1.0,
    "exp(-sqrt(({u})**2))": 2.0,
    "sech({u})*exp(({u})/2)": math.pi * math.sqrt(2),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formula", WHOLE)
def test_peaks_made_of_exponentials_are_met(formula: str, method: str) -> None:
    text = formula.format(u="(s - 5)/w")
    sol = herk.solve_dae(fed(f"({text})/w", w=0.01), method=method, rtol=1e-7, atol=1e-10)
    assert sol.success, sol.message
    assert sol.y[1, -1] == pytest.approx(WHOLE[formula], rel=1e-5)


def test_the_units_of_a_state_do_not_hide_its_peak() -> None:
    text = "1/(exp({u}) + exp(-({u})))**2".format(u="(s/unit - 5)/w")
    model = fed(f"({text})/w/unit", 1e7, w=0.01, unit=1e7)
    small = "1/(exp((1e-7*s - 5)/0.01) + exp(-(1e-7*s - 5)/0.01))**2*1e-5"
    for each in (model, fed(small, 1e7)):
        sol = herk.solve_dae(each.with_span(10.0), rtol=1e-7, atol=1e-10)
        assert sol.y[1, -1] == pytest.approx(0.5, rel=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_peak_is_met_at_every_passage(method: str) -> None:
    sol = herk.solve_dae(swinging(), method=method, rtol=1e-7, atol=1e-10)
    assert sol.success
    assert sol.y[2, -1] == pytest.approx(20 * pass_of(0.02), rel=1e-5)


def test_a_peak_at_the_turning_point_is_met() -> None:
    rows = ["q", "-s", "exp(-((s - 1)/0.001)**2)"]
    model = herk.Model("grazing", ["s", "q", "x"], np.eye(3).tolist(), rows, t_span=(0, 10), y0=[-1, 0, 0])
    one = quad(
        lambda u: math.exp(-(((math.cos(u) - 1) / 1e-3) ** 2)), -1, 1, points=[-0.1, 0, 0.1], epsabs=1e-14
    )[0]
    sol = herk.solve_dae(model, rtol=1e-9, atol=1e-12)
    assert sol.y[2, -1] == pytest.approx(2 * one, rel=1e-5)  # at pi and 3 pi


def test_values_between_steps_are_those_of_the_steps_that_count() -> None:
    w, c = 1e-3, 5.0
    times = np.linspace(0, 10, 41)
    right = ROOT_PI / 2 * (np.vectorize(math.erf)((times - c) / w) + 1)
    model = fed("exp(-((s - c)/w)**2)/w", w=w, c=c)
    for options in (
        {"t_eval": times},
        {"t_eval": times, "project_output": False},
        {"t_eval": times, "save": ["s", "x"]},
    ):
        sol = herk.solve_dae(model, rtol=1e-8, atol=1e-11, **options)
        assert np.array_equal(sol.t, times)
        assert sol.y[1] == pytest.approx(right, abs=1e-6)
    dense = herk.solve_dae(model, rtol=1e-8, atol=1e-11, dense_output=True)
    assert dense(times)[1] == pytest.approx(right, abs=1e-6)
    assert (np.diff(dense.t) > 0).all()


def test_backwards_a_peak_is_met_too() -> None:
    model = fed("exp(-((s - 5)/w)**2)/w", w=1e-4)
    sol = herk.solve_dae(model, (10, 0), [10, 0, None], rtol=1e-7, atol=1e-10)
    assert sol.y[1, -1] == pytest.approx(-ROOT_PI, rel=1e-5)


def test_events_and_callbacks_see_the_steps_that_count_and_no_others() -> None:
    def half(t: float, y: np.ndarray) -> float:
        return y[1] - ROOT_PI / 2

    seen: list[float] = []
    sol = herk.solve_dae(
        fed("exp(-((s - 5)/w)**2)/w", w=1e-3),
        rtol=1e-8,
        atol=1e-11,
        events=half,
        callback=lambda t, y: seen.append(t),
    )
    assert sol.t_events[0] == pytest.approx([5.0], abs=1e-7)
    assert (np.diff(seen) > 0).all()
    assert set(seen) <= set(sol.t.tolist())
    half.terminal = True  # type: ignore[attr-defined]
    ended = herk.solve_dae(fed("exp(-((s - 5)/w)**2)/w", w=1e-3), rtol=1e-8, atol=1e-11, events=half)
    assert ended.t[-1] == pytest.approx(5.0, abs=1e-7)
    assert str(ended.reason) == "event"


def test_an_event_before_the_peak_ends_the_run_there() -> None:
    def early(t: float, y: np.ndarray) -> float:
        return y[0] - 4.0

    early.terminal = True  # type: ignore[attr-defined]
    sol = herk.solve_dae(fed("exp(-((s - 5)/w)**2)/w", w=1e-3), events=early)
    assert sol.t[-1] == pytest.approx(4.0)


def test_prepared_runs_and_ensembles_meet_peaks_where_their_values_put_them() -> None:
    model = fed("exp(-((s - c)/w)**2)/w", w=1e-3, c=3.0)
    prepared = herk.prepare(model, rtol=1e-8, atol=1e-11)
    for c, w in ((3.0, 1e-3), (7.7, 1e-4), (2.2, 1e-5)):
        sol = prepared.solve(parameters={"c": c, "w": w})
        assert sol.y[1, -1] == pytest.approx(ROOT_PI, rel=1e-5)
    found = herk.solve_many(model, {"c": [2.0, 4.4, 8.1]}, rtol=1e-8, atol=1e-11, t_eval=[0, 10])
    assert found.y[:, 1, -1] == pytest.approx([ROOT_PI] * 3, rel=1e-5)


@pytest.mark.parametrize("method", ["dopri5", "radau5"])
def test_sensitivities_pass_a_peak(method: str) -> None:
    model = fed("exp(-((s - c)/w)**2)", w=1e-2, c=3.0)
    sol = herk.solve_dae(model, method=method, rtol=1e-9, atol=1e-12, sensitivities=["w", "c", "v"])
    assert sol.y[1, -1] == pytest.approx(ROOT_PI * 1e-2, rel=1e-6)
    assert sol.dyd("w")[1, -1] == pytest.approx(ROOT_PI, rel=1e-4)  # x = sqrt(pi) w
    assert sol.dyd("c")[1, -1] == pytest.approx(0.0, abs=1e-4)
    assert sol.dyd("v")[1, -1] == pytest.approx(0.0, abs=1e-4)


def test_switches_and_peaks_in_one_model() -> None:
    rows = ["v", "-sign(s - 2)", "exp(-((s - 1)/w)**2)/w"]
    given = {"parameters": {"w": 1e-3}, "t_span": (0, 2.5), "y0": [0, 2, 0]}
    sol = herk.solve_dae(
        herk.Model("both", ["s", "v", "x"], np.eye(3).tolist(), rows, **given), rtol=1e-8, atol=1e-11
    )
    # s = 2 t + t^2/2 passes 1 with v = sqrt(6) at t = sqrt(6) - 2, and 2 at sqrt(8) - 2; then it goes on upwards
    assert sol.success, sol.message
    assert sol.y[2, -1] == pytest.approx(ROOT_PI / math.sqrt(6), rel=1e-5)


def test_a_peak_in_E_is_met() -> None:
    E = [["1", "0"], ["0", "1/(1 + exp(-((s - 5)/w)**2)/w)"]]
    model = herk.Model("heavy", ["s", "x"], E, ["1", "1"], parameters={"w": 1e-4}, t_span=(0, 10), y0=[0, 0])
    sol = herk.solve_dae(model, rtol=1e-8, atol=1e-11)
    assert sol.y[1, -1] == pytest.approx(10 + ROOT_PI, rel=1e-6)


def test_a_peak_that_steps_resolve_costs_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fed("exp(-((s - 5)/w)**2)/w", w=2.0)
    sol = herk.solve_dae(model, rtol=1e-8)
    monkeypatch.setattr(runs.Narrow, "of", lambda *_: None)
    plain = herk.solve_dae(model, rtol=1e-8)
    assert np.array_equal(sol.t, plain.t)
    assert np.array_equal(sol.y, plain.y)


def test_peaks_that_are_passed_far_away_cost_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ["q", "-s", "exp(-((s - 3)/0.01)**2 - q**2)"]  # s reaches 1
    model = herk.Model("far", ["s", "q", "x"], np.eye(3).tolist(), rows, t_span=(0, 20), y0=[1, 0, 0])
    sol = herk.solve_dae(model)
    monkeypatch.setattr(runs.Narrow, "of", lambda *_: None)
    assert np.array_equal(sol.t, herk.solve_dae(model).t)


def test_fixed_steps_are_what_was_asked_for() -> None:
    sol = herk.solve_dae(fed("exp(-((s - 5)/w)**2)/w", w=1e-3), method="rk4", step=0.5)
    assert sol.t == pytest.approx(np.linspace(0, 10, 21))


def test_hundreds_of_peaks_do_not_end_a_run() -> None:
    # a train over a phase: 400 passages of exp(-(sin(s)/w)^2), each sqrt(pi) w (1 + w^2/4 + ...) wide
    w = 0.01
    model = herk.Model(
        "train",
        ["s", "x"],
        np.eye(2).tolist(),
        ["1", "exp(-(sin(s)/w)**2)"],
        parameters={"w": w},
        t_span=(0.5, 0.5 + 400 * math.pi),
        y0=[0.5, 0],
    )
    one = quad(
        lambda u: math.exp(-((math.sin(u) / w) ** 2)), -1.5, 1.5, points=[-5 * w, 0, 5 * w], epsabs=1e-14
    )[0]
    sol = herk.solve_dae(model, rtol=1e-7, atol=1e-10)
    assert sol.success, sol.message
    assert sol.y[1, -1] == pytest.approx(400 * one, rel=1e-4)
