"""Sensitivities: derivatives of the discrete solution, constraints kept, jumps, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.linalg import expm

import herk
import testset
from herk.core.dae import Array
from herk.integrate.sensitivity.directions import directions_of
from herk.integrate.sensitivity.start import constraints_by_parameters
from herk.integrate.steppers.half_explicit.machine import Machine
from tests.integrate.sensitivity.differences import extrapolated

BOTH = pytest.mark.parametrize("method", ["dopri5", "radau5"])
TURNING = (
    testset.get("pendulum").model.with_span(3.0).with_start([0, -1, 6, 0, None])
)  # changes its selection
# x' + y' = -k x, y = a x: E has more columns than rows; x = x0 exp(-k t / (1 + a))
WIDE = herk.Model(
    "wide", ["x", "y"], [[1, 1], [0, 0]], ["-k*x", "y - a*x"],
    parameters={"k": 2.0, "a": 0.5}, t_span=(0, 1), y0=[3.0, None],
)  # fmt: skip


def falling(**options: Any) -> Any:
    """Return a ball that falls; its acceleration is an unknown of its own."""
    E, f = [[1, 0, 0], [0, 1, 0], [0, 0, 0]], ["v", "-a", "a - g"]
    return herk.Model(
        "ball", ["x", "v", "a"], E, f, parameters={"g": 9.81}, t_span=(0, 1), y0=[1.0, 0.0, None]
    )


@BOTH
def test_differentiated_constraints_hold_to_rounding_at_every_point(method: str) -> None:
    model, names = testset.get("wind_pendulum").model.with_span(2.0), ["m", "l0", "wind"]
    dae = model.form("overdetermined")
    directions = directions_of(dae, names, dae.y0)
    for times in (None, np.linspace(0.0, 2.0, 23)):
        sol = herk.solve_dae(model, sensitivities=names, method=method, t_eval=times)
        S = np.stack([sol.dyd(name) for name in names], axis=2)
        for k, t in enumerate(sol.t):
            assert dae.jac_g is not None
            g_y, g_p = dae.jac_g(t, sol.y[:, k]), constraints_by_parameters(dae, t, sol.y[:, k], directions)
            size = np.abs(g_y) @ np.abs(S[:, k]) + np.abs(g_p)
            assert (np.abs(g_y @ S[:, k] + g_p) <= 1e-13 * size.max(axis=0)).all()


@pytest.mark.parametrize(("method", "step"), [("rk4", 0.1), ("dopri5", 0.1), ("radau5", 0.1)])
def test_they_are_the_derivatives_of_the_discrete_solution_not_of_the_exact_one(
    method: str, step: float
) -> None:
    model = testset.get("pendulum").model.with_span(1.0).with_start([0.6, -0.8, 0, 0, None])
    how = {"method": method, "step": step}
    sol = herk.solve_dae(model, sensitivities=["g", "l"], **how)
    for name in ("g", "l"):
        own = extrapolated(model, name, 1e-3, **how)
        exact = extrapolated(model, name, 1e-3)
        found = sol.dyd(name)[:, -1]
        assert np.abs(found - own).max() < 1e-9 * np.abs(own).max()
        assert np.abs(found - exact).max() > 1e-7 * np.abs(own).max()


@pytest.mark.parametrize("method", ["dopri5", "dop853", "bs32", "radau5", "radau9", "radau"])
def test_values_between_steps_are_those_of_the_same_run(method: str) -> None:
    """Exact: x = cos(w t) has dx/dw = -t sin(w t)."""
    E, f = [[1, 0, 0], [0, 1, 0], [0, 0, 0]], ["v", "w*a", "a + w*x"]
    model = herk.Model(
        "spring", ["x", "v", "a"], E, f, parameters={"w": 2.0}, t_span=(0, 3), y0=[1.0, 0.0, None]
    )
    times = np.linspace(0, 3, 31)
    accuracy = 1e-4 if method == "bs32" else 1e-7
    how = {"method": method, "rtol": 1e-7 if method == "bs32" else 1e-11, "atol": 1e-13}
    sol = herk.solve_dae(model, sensitivities=["w"], t_eval=times, **how)
    assert np.abs(sol.dyd("w", "x") + times * np.sin(2 * times)).max() < accuracy
    assert np.abs(sol.y[0] - np.cos(2 * times)).max() < accuracy


@BOTH
def test_a_general_e_is_differentiated_too(method: str) -> None:
    sol = herk.solve_dae(WIDE, sensitivities=["k", "a", "y0:x"], method=method, rtol=1e-11, atol=1e-13)
    t = sol.t
    x = 3 * np.exp(-2 * t / 1.5)
    expected = {"k": -t / 1.5 * x, "a": 2 * t / 1.5**2 * x, "y0:x": x / 3}
    for name, exact in expected.items():
        assert np.allclose(sol.dyd(name, "x"), exact, rtol=0, atol=1e-9)
    assert np.allclose(sol.dyd("a", "y"), x + 0.5 * expected["a"], rtol=0, atol=1e-9)


COUPLED = {
    "two": ([[2, 1], [1, 2]], [[1, 1], [1, -1]], [[3, 0], [0, 1]]),
    "two, the second row first": ([[1, 3], [2, 1]], [[0, 1], [2, 1]], [[0, 1], [1, -2]]),
    "three": (
        [[2, 1, 0], [1, 2, 1], [0, 1, 3]],
        [[0, 1, 1], [1, 0, 2], [1, 1, 0]],
        [[1, 0, 0], [0, -1, 1], [0, 0, 2]],
    ),
}


@pytest.mark.parametrize("case", COUPLED)
def test_blocks_of_several_constraints_and_rates_are_solved(case: str) -> None:
    """A y' = c u, B u = C y with matrices that couple all rows: y = exp(c t A^-1 B^-1 C) y(0)."""
    A, B, C = (np.array(matrix, dtype=float) for matrix in COUPLED[case])
    k = len(A)
    unknowns = [f"y{i}" for i in range(k)] + [f"u{i}" for i in range(k)]
    E, start = np.zeros((2 * k, 2 * k)), np.arange(1.0, k + 1)
    E[:k, :k] = A
    rows = [" + ".join(f"({B[i, j]})*u{j} - ({C[i, j]})*y{j}" for j in range(k)) for i in range(k)]
    model = herk.Model(
        "block", unknowns, E, [f"c*u{i}" for i in range(k)] + rows, parameters={"c": 0.5},
        t_span=(0, 1), y0=[*start, *[None] * k],
    )  # fmt: skip
    sol = herk.solve_dae(model, sensitivities=["c"], method="dopri5", rtol=1e-11, atol=1e-13)
    matrix = np.linalg.solve(A, np.linalg.solve(B, C))  # y' = c matrix y
    expected = matrix @ expm(0.5 * matrix) @ start
    assert np.allclose(sol.dyd("c")[:k, -1], expected, rtol=1e-9)


@BOTH
@pytest.mark.parametrize("times", [None, np.linspace(0, 1, 8)])
def test_a_bounce_makes_them_jump(method: str, times: Array | None) -> None:
    """A ball from x0 hits the ground at t1 = sqrt(2 x0 / g) and leaves with 0.8 of its speed."""

    def hit(t: float, y: Array) -> float:
        return y[0]

    hit.direction = -1  # type: ignore[attr-defined]
    hit.reset = lambda t, y: np.array([0.0, -0.8 * y[1], y[2]])  # type: ignore[attr-defined]
    how = {"method": method, "rtol": 1e-10, "atol": 1e-12, "t_eval": times}
    sol = herk.solve_dae(falling(), events=hit, sensitivities=["g", "y0:x"], **how)
    g, t1 = 9.81, np.sqrt(2 / 9.81)
    since = sol.t[-1] - t1
    # x = 0.8 sqrt(2 g x0) s - g s^2 / 2, s = t - sqrt(2 x0 / g)
    by_g = 0.4 * np.sqrt(2 / g) * since - since**2 / 2 + (0.8 * np.sqrt(2 * g) - g * since) * t1 / (2 * g)
    by_x0 = 0.4 * np.sqrt(2 * g) * since - (0.8 * np.sqrt(2 * g) - g * since) * t1 / 2
    assert sol.dyd("g", "x")[-1] == pytest.approx(by_g, rel=1e-8)
    assert sol.dyd("y0:x", "x")[-1] == pytest.approx(by_x0, rel=1e-8)
    assert len(sol.dyd("g", "x")) == len(sol.t)


@BOTH
def test_a_terminal_event_ends_them(method: str) -> None:
    def low(t: float, y: Array) -> float:
        return y[0] - 0.5

    low.terminal = True  # type: ignore[attr-defined]
    sol = herk.solve_dae(falling(), events=low, sensitivities=["g"], method=method, rtol=1e-10, atol=1e-12)
    assert sol.reason.value == "event"
    assert sol.dyd("g", "x")[-1] == pytest.approx(-(sol.t[-1] ** 2) / 2, rel=1e-8)


@BOTH
def test_a_breakpoint_that_moves_with_a_parameter_makes_them_jump(method: str) -> None:
    """x' = 1 before a, 3 after it: dx/da = -2 behind it."""
    f = ["u", "u - Piecewise((1, t < a), (3, True))"]
    model = herk.Model(
        "step", ["x", "u"], [[1, 0], [0, 0]], f, parameters={"a": 0.4}, t_span=(0, 1), y0=[0.0, None]
    )
    sol = herk.solve_dae(model, sensitivities=["a"], method=method, t_eval=[0.2, 0.9])
    assert np.allclose(sol.dyd("a", "x"), [0.0, -2.0], atol=1e-12)
    whole = herk.solve_dae(model, sensitivities=["a"], method=method)
    assert whole.dyd("a").shape == whole.y.shape


@pytest.mark.parametrize("foreseen", [False, True])
@pytest.mark.parametrize("times", [None, [1e-5, 1e-3, 0.1, 3.0]])
def test_they_pass_a_change_from_the_explicit_to_the_implicit_method(times, foreseen, monkeypatch) -> None:
    """x' = -k (x - cos w t) from 2: x = p + (2 - p(0)) e^(-kt) with p = k (k cos wt + w sin wt)/(k^2 + w^2)."""
    model = herk.Model.from_equations(
        "follows", ["x' = -k*(x - z)", "z = cos(w*t)", "u' = -u"], parameters={"k": 1e5, "w": 1.0}, start={"x": 2, "u": 1},
        t_span=(0, 3),
    )  # fmt: skip
    if not foreseen:
        monkeypatch.setattr(Machine, "foreseen", lambda _: False)
    sol = herk.solve_dae(
        model, method="auto", sensitivities=["w", "k", "y0:x", "y0:u"], t_eval=times, rtol=1e-9, atol=1e-12
    )
    assert [use.method for use in sol.methods] == (["radau5"] if foreseen else ["dop853", "radau5"])
    k, w, t = sp.symbols("k w t")
    p = k * (k * sp.cos(w * t) + w * sp.sin(w * t)) / (k**2 + w**2)
    x = p + (2 - p.subs(t, 0)) * sp.exp(-k * t)
    for name, symbol in (("w", w), ("k", k)):
        exact = sp.lambdify(t, x.diff(symbol).subs({k: 10**5, w: 1}), "mpmath")
        expected = np.array([float(exact(time)) for time in sol.t])
        assert np.abs(sol.dyd(name, "x") - expected).max() < 1e-7 * max(np.abs(expected).max(), 1e-3), name
    assert np.abs(sol.dyd("y0:x", "x") - np.exp(-1e5 * sol.t)).max() < 1e-7
    assert np.abs(sol.dyd("y0:u", "u") - np.exp(-sol.t)).max() < 1e-7


def test_their_errors_can_be_controlled_too() -> None:
    """x' = -k (x - 1) from 1 stays where it is, whatever k; its derivative by the start does not."""
    model = herk.Model(
        "rest", ["x"], [[1]], ["-k*(x - 1)**3 - k*(x - 1)"], parameters={"k": 4.0}, t_span=(0, 2), y0=[1.0]
    )
    loose, strict = (
        herk.solve_dae(model, sensitivities=["y0:x"], sensitivity_errors=errors, rtol=1e-6)
        for errors in (False, True)
    )
    exact = np.exp(-8.0)
    assert abs(strict.dyd("y0:x")[0, -1] - exact) < 1e-5
    assert abs(strict.dyd("y0:x")[0, -1] - exact) < abs(loose.dyd("y0:x")[0, -1] - exact)


def test_backwards_in_time_they_undo_themselves() -> None:
    sol = herk.solve_dae(falling(), (1.0, 0.0), [1.0, 0.0, None], sensitivities=["g", "y0:v"])
    assert sol.dyd("g", "x")[-1] == pytest.approx(-0.5, rel=1e-9)
    assert sol.dyd("y0:v", "x")[-1] == pytest.approx(-1.0, rel=1e-9)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sensitivities": ["gg"]}, "Did you mean 'g'"),
        ({"sensitivities": ["y0:q"]}, "no unknown named 'q'"),
        ({"sensitivities": []}, "must be names of parameters"),
        ({"sensitivities": [3]}, "must be names of parameters"),
        ({"sensitivities": 3}, "must be names of parameters"),
        ({"sensitivities": ["g", "g"]}, "contain a name twice"),
        ({"sensitivities": ["y0:lam"]}, "is computed, not given"),
        ({"sensitivities": ["g"], "generate": False}, "cannot be computed with generate=False"),
        (
            {"sensitivities": ["g"], "method": "radau5", "sensitivity_errors": True},
            "needs a half-explicit method",
        ),
    ],
)
def test_wrong_input_gets_a_sentence(given: dict[str, Any], words: str) -> None:
    with pytest.raises(herk.InputError, match=words):
        herk.solve_dae(TURNING, **given)


def test_callables_and_impossible_directions_are_refused_in_words() -> None:
    dae = herk.Dae(E=np.eye(1), f=lambda t, y: -y, n=1)
    with pytest.raises(herk.InputError, match="callables cannot"):
        herk.solve_dae(dae, (0, 1), [1.0], sensitivities=["a"])
    flat = testset.get("pendulum").model  # hangs sideways: its x cannot change without its length
    with pytest.raises(herk.InputError, match="no room for a change of y0:x"):
        herk.solve_dae(flat, sensitivities=["y0:x"])
    sol = herk.solve_dae(flat)
    with pytest.raises(herk.InputError, match="No sensitivities were asked for"):
        sol.dyd("g")
    with pytest.raises(herk.InputError, match="Did you mean 'g'"):
        herk.solve_dae(flat, sensitivities="g").dyd("gg")
