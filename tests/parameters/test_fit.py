"""Fits: exact data give exact values, noise gives intervals, what cannot be found is said."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import herk
from herk.core.dae import Array
from herk.parameters.trial import Trial
from herk.reproductions.fitting import study as fitting_study

TIMES = np.linspace(0.0, 3.0, 25)
PENDULUM = herk.Model.from_equations(
    "pendulum",
    ["x'' = -2*x*lam - d*x'", "y'' = -2*y*lam - g - d*y'", "0 = x**2 + y**2 - l**2"],
    parameters={"g": 9.81, "d": 0.3, "l": 1.0},
    start={"x": 0.6, "y": -0.8, "x'": 0, "y'": 0},
    t_span=(0, 3),
)
LINE = herk.Model("line", ["x"], [[1]], ["a + 0*b"], parameters={"a": 1.0, "b": 1.0}, t_span=(0, 1), y0=[0.5])


def exact(model: Any = PENDULUM, *names: str) -> dict[str, Array]:
    """Return data without noise."""
    sol = herk.solve_dae(model, t_eval=TIMES, rtol=1e-11, atol=1e-13)
    return {"t": TIMES, **{name: sol[name].copy() for name in names or ("x",)}}


def test_exact_data_give_exact_values_of_parameters_and_starts() -> None:
    data = exact(PENDULUM, "x", "dy")
    found = herk.fit(
        PENDULUM, data, {"g": 9.0, "d": (0.0, 2.0), "y0:x": (0.5, 0.1, 0.9)}, rtol=1e-10, atol=1e-12
    )
    assert found.success
    assert found["g"] == pytest.approx(9.81, rel=1e-7)
    assert found["d"] == pytest.approx(0.3, rel=1e-6)
    assert found["y0:x"] == pytest.approx(0.6, rel=1e-7)
    assert found.nfev < 15


def test_a_length_is_found_though_the_start_moves_with_it() -> None:
    longer = PENDULUM.with_parameters(l=1.2).with_start([0.72, -0.96, 0, 0, None])
    found = herk.fit(PENDULUM, exact(longer, "x", "y"), {"l": 1.0, "y0:x": 0.6}, rtol=1e-10, atol=1e-12)
    assert found["l"] == pytest.approx(1.2, rel=1e-7)


def test_gaps_are_left_out() -> None:
    data = exact(PENDULUM, "x", "y")
    data["x"][5:9] = np.nan
    data["y"][::2] = np.nan
    found = herk.fit(PENDULUM, data, ["g"], parameters={"g": 9.5})
    assert found.residuals.size == 21 + 12
    assert found["g"] == pytest.approx(9.81, rel=1e-5)


def test_a_line_through_points_has_the_covariance_of_linear_regression() -> None:
    """x = 0.5 + a t: the variance of a is sigma^2 / sum t^2."""
    rng = np.random.default_rng(3)
    t = np.linspace(0.1, 1.0, 10)
    noise = rng.normal(0, 0.1, 10)
    found = herk.fit(LINE, {"t": t, "x": 0.5 + 2 * t + noise}, ["a"])
    slope = 2 + (t @ noise) / (t @ t)
    left = noise - (slope - 2) * t
    error = np.sqrt(left @ left / 9 / (t @ t))
    assert found["a"] == pytest.approx(slope, rel=1e-9)
    assert found.errors["a"] == pytest.approx(error, rel=1e-6)
    low, high = found.interval("a")
    assert (high - low) / 2 == pytest.approx(2.262157 * error, rel=1e-5)  # Student, 9 degrees of freedom
    known = herk.fit(LINE, {"t": t, "x": 0.5 + 2 * t + noise}, ["a"], sigma=0.1)
    assert known["a"] == pytest.approx(slope, rel=1e-9)
    assert known.sigma == pytest.approx(found.sigma / 0.1, rel=1e-6)


def test_the_profile_of_a_linear_model_is_a_parabola() -> None:
    """x = x0 + a t: with a held, the squares left grow by (a - a*)^2 / variance of a, in units of sigma^2."""
    t = np.linspace(0.1, 1.0, 10)
    noise = np.random.default_rng(3).normal(0, 0.1, 10)
    found = herk.fit(LINE, {"t": t, "x": 0.5 + 2 * t + noise}, ["a", "y0:x"])
    values, misfit = found.profile("a", points=5, width=2.0)
    away = (values - found["a"]) / found.errors["a"]
    assert np.allclose(away, [-2, -1, 0, 1, 2])
    assert np.allclose(misfit**2 / found.sigma**2, 1 + away**2 / 8, rtol=1e-6)
    assert np.allclose(pickle.loads(pickle.dumps(found)).profile("a", points=5, width=2.0)[1], misfit)
    single = herk.fit(LINE, {"t": t, "x": 0.5 + 2 * t + noise}, ["a"]).profile("a", points=3)
    assert single[1].argmin() == 1
    with pytest.raises(herk.InputError, match="not identifiable"):
        herk.fit(LINE, {"t": t, "x": t}, ["a", "b"]).profile("b")


def test_weights_decide_between_contradictory_data() -> None:
    """Two components that mean different slopes: the weighted mean is found."""
    model = herk.Model(
        "two", ["x", "y"], np.eye(2), ["a", "a"], parameters={"a": 0.0}, t_span=(0, 1), y0=[0, 0]
    )
    data = {"t": [1.0], "x": [1.0], "y": [2.0]}
    assert herk.fit(model, data, ["a"])["a"] == pytest.approx(1.5, rel=1e-8)
    assert herk.fit(model, data, ["a"], sigma={"x": 1.0, "y": 2.0})["a"] == pytest.approx(1.2, rel=1e-8)


def test_a_parameter_may_begin_at_zero() -> None:
    free = herk.fit(PENDULUM, exact(), {"d": 0.0}, rtol=1e-10, atol=1e-12)
    assert free["d"] == pytest.approx(0.3, rel=1e-6)


def test_bounds_hold_and_are_mentioned() -> None:
    found = herk.fit(LINE, {"t": [0.5, 1.0], "x": [1.5, 2.5]}, {"a": (0.5, 1.5)})
    assert found["a"] <= 1.5
    assert found["a"] == pytest.approx(1.5, abs=1e-3)


def test_what_is_not_identifiable_is_said() -> None:
    found = herk.fit(LINE, {"t": [0.5, 1.0], "x": [1.5, 2.5]}, ["a", "b"])
    assert found["a"] == pytest.approx(2.0, rel=1e-6)
    assert any("do not depend on b" in note for note in found.notes)
    assert found.errors["b"] == np.inf
    both = herk.Model(
        "sum", ["x"], [[1]], ["a + c"], parameters={"a": 1.0, "c": 1.0}, t_span=(0, 1), y0=[0.0]
    )
    found = herk.fit(both, {"t": [0.5, 1.0], "x": [1.5, 3.0]}, ["a", "c"])
    assert found["a"] + found["c"] == pytest.approx(3.0, rel=1e-6)
    assert any("a, c only together" in note for note in found.notes)


def test_trials_without_a_solution_cost_a_step_not_the_fit() -> None:
    """x' = k x^2 from 1 has a pole at 1/k; beyond k = 1 there is no solution up to t = 1."""
    model = herk.Model("pole", ["x"], [[1]], ["k*x**2"], parameters={"k": 0.3}, t_span=(0, 1), y0=[1.0])
    t = np.linspace(0, 1, 11)
    found = herk.fit(model, {"t": t, "x": 1 / (1 - 0.9 * t)}, {"k": 0.3})
    assert found["k"] == pytest.approx(0.9, rel=1e-6)
    assert "trials had no solution" in found.message


@pytest.mark.parametrize("name", ["double_pendulum", "akzo"])
def test_noisy_data_give_intervals_that_hold_the_truth(name: str) -> None:
    """Eight experiments with four values each: an interval of 95 % fails seldom, all of one value never."""
    experiment = fitting_study.EXPERIMENTS[name]()
    held = fitting_study.coverage(experiment, 8)
    assert min(held.values()) >= 5
    assert sum(held.values()) >= 26


def test_an_interrupt_keeps_the_best_values(monkeypatch: pytest.MonkeyPatch) -> None:
    data, solve, count = exact(), Trial.solve, []

    def press(trial: Trial, *given: Any) -> Any:
        count.append(1)
        if len(count) == 3:
            raise KeyboardInterrupt
        return solve(trial, *given)

    monkeypatch.setattr(Trial, "solve", press)
    with pytest.raises(KeyboardInterrupt) as caught:
        herk.fit(PENDULUM, data, {"g": 8.0})
    kept = caught.value.solution  # type: ignore[attr-defined]
    assert not kept.success
    assert abs(kept["g"] - 9.81) < abs(8.0 - 9.81)


def test_frames_tables_and_pictures() -> None:
    pd = pytest.importorskip("pandas")
    data = exact()
    found = herk.fit(PENDULUM, pd.DataFrame({"x": data["x"]}, index=pd.Index(data["t"])), ["g"])
    assert list(found.to_pandas().columns) == ["value", "error", "low", "high"]
    assert len(found.plot().lines) == 2
    assert "g:" in repr(found)
    assert found.correlation[0, 0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"free": {"gg": 1.0}}, "Did you mean 'g'"),
        ({"free": []}, "free is empty"),
        ({"free": "g"}, "free must be names"),
        ({"free": 3}, "free must be names"),
        ({"free": {"g": (2.0, 1.0)}}, "bounds of g are empty"),
        ({"free": {"g": (5.0, 1.0, 2.0)}}, "not between its bounds"),
        ({"free": {"g": "large"}}, "must be a first value"),
        ({"free": {"y0:lam": None}}, "no first value"),
        ({"data": {"x": [1.0]}}, "have no times"),
        ({"data": {"t": [1.0]}}, "nothing to fit"),
        ({"data": {"t": [1.0], "q": [1.0]}}, "component of the model"),
        ({"data": {"t": [1.0, 2.0], "x": [1.0]}}, "a value for every time"),
        ({"data": {"t": [2.0, 1.0], "x": [1.0, 1.0]}}, "increase strictly"),
        ({"data": {"t": [-1.0], "x": [1.0]}}, "before the start"),
        ({"data": {"t": [1.0], "x": [np.nan]}}, "no measurement at all"),
        ({"data": {"t": [1.0], "x": [np.inf]}}, "infinite values"),
        ({"data": {"t": [1.0], "x": ["a"]}}, "must be numbers"),
        ({"data": {"t": [1.0], "x": 1.0}}, "sequence of at least one number"),
        ({"data": 3}, "must be a pandas frame"),
        ({"data": {"t": np.array(["2026-01-01"], "datetime64[D]"), "x": [1.0]}}, "have dates"),
        ({"data": {"t": [1.0], "x": [1.0]}, "free": ["g", "d"]}, "1 measurements cannot determine 2"),
        ({"sigma": 0.0}, "sigma must be positive"),
        ({"sigma": "wide"}, "sigma must be a number"),
        ({"sigma": {"y": 1.0}}, "no measured component"),
        ({"t_eval": [1.0]}, "fit does not take"),
        ({"loss": "wild"}, "least_squares refused"),
        ({"rtol": -1.0}, "rtol must be"),
        ({"model": 3}, "fit takes a herk.Model"),
    ],
)
def test_wrong_input_gets_a_sentence(change: dict[str, Any], words: str) -> None:
    given = {"model": PENDULUM, "data": {"t": [1.0, 2.0], "x": [0.1, 0.2]}, "free": ["g"]} | change
    with pytest.raises(herk.InputError, match=words):
        herk.fit(**given)


def test_first_values_without_a_solution_are_refused_and_wrong_levels_too() -> None:
    model = herk.Model("pole", ["x"], [[1]], ["k*x**2"], parameters={"k": 2.0}, t_span=(0, 1), y0=[1.0])
    with pytest.raises(herk.InputError, match="no solution with the first values"):
        herk.fit(model, {"t": [1.0], "x": [2.0]}, ["k"])
    found = herk.fit(LINE, {"t": [0.5, 1.0], "x": [1.5, 2.5]}, ["a"])
    with pytest.raises(herk.InputError, match="level must be"):
        found.interval("a", 95)
    with pytest.raises(herk.InputError, match="no fitted value"):
        found["q"]
    with pytest.raises(herk.InputError, match="no measured component"):
        found.plot("q")
