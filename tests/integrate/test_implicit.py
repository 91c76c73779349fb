"""F(t, y, y') = 0 by callables: the solution and y' in the unknowns of the user, against exact ones and IDA."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import lambertw

import herk
import testset

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
G = 13.75037163604074565  # of the pendulum of the test set, whose period is 2
CIRCLE = herk.Dae(F=lambda t, y, yp: [yp[0] ** 2 + y[0] ** 2 - 1], n=1)


def robertson(t, y, yp):
    forward = -0.04 * y[0] + 1e4 * y[1] * y[2]
    return [yp[0] - forward, yp[1] + forward + 3e7 * y[1] ** 2, y[0] + y[1] + y[2] - 1]


def circuit(t, y, yp):
    """A capacitor between two nodes, sin(t) behind a resistor: no row is free of y', one combination is."""
    current = yp[0] - yp[1]
    return [y[0] - np.sin(t) + current, y[1] - current]


def pendulum(t, y, yp):
    x, z, v, w, lam = y
    return [yp[0] - v, yp[1] - w, yp[2] + 2 * x * lam, yp[3] + 2 * z * lam + G, x * x + z * z - 1]


def all_constraints(t, y):
    x, z, v, w, lam = y
    return [x * x + z * z - 1, x * v + z * w, v * v + w * w - 2 * lam - G * z]


@pytest.mark.parametrize("method", ["radau5", "auto", "dop853"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_each_branch_of_a_circle_is_followed_with_its_derivative(method: str, sign: float) -> None:
    """x'^2 + x^2 = 1, x(0) = 0: sin(t) or -sin(t), as y' at the start says."""
    sol = herk.solve_dae(CIRCLE, (0.0, 1.0), [0.0], yp0=[sign], method=method, dense_output=True, **TIGHT)
    assert sol.success, sol.message
    assert sol.y.shape == sol.yp.shape == (1, sol.t.size)
    assert np.abs(sol.y[0] - sign * np.sin(sol.t)).max() < 1e-9
    assert np.abs(sol.yp[0] - sign * np.cos(sol.t)).max() < 1e-8
    times = np.array([0.1, 0.77])
    assert np.abs(sol(times)[0] - sign * np.sin(times)).max() < 1e-8
    assert np.abs(sol.derivative(times)[0] - sign * np.cos(times)).max() < 1e-7


def test_a_derivative_inside_an_exponential_follows_lambert() -> None:
    """y' + exp(y') = t: p = y' = t - W(e^t), and y = p^2/2 + (p - 1) e^p but for a constant."""

    def exact(t):
        p = t - lambertw(np.exp(t)).real
        return p**2 / 2 + (p - 1) * np.exp(p), p

    jac = {"jac_y": lambda t, y, yp: [[0.0]], "jac_yp": lambda t, y, yp: [[1 + np.exp(yp[0])]]}
    for given in ({}, jac, {"jac_yp": jac["jac_yp"]}):
        dae = herk.Dae(F=lambda t, y, yp: [yp[0] + np.exp(yp[0]) - t], n=1, **given)
        sol = herk.solve_dae(dae, (1.0, 3.0), [exact(1.0)[0]], method="radau5", **TIGHT)
        y, p = exact(sol.t)
        assert np.abs(sol.y[0] - y).max() < 1e-8
        assert np.abs(sol.yp[0] - p).max() < 1e-8


def test_robertson_agrees_with_ida() -> None:
    """The same residual through scikit-sundae, at a tolerance of its own; y' of the algebraic one included."""
    sksundae = pytest.importorskip("sksundae")
    times = np.array([0.0, 0.4, 40.0, 4000.0])

    def residual(t, y, yp, out):
        out[:] = robertson(t, y, yp)

    ida = sksundae.ida.IDA(residual, rtol=1e-10, atol=1e-14, algebraic_idx=[2], max_num_steps=100_000)
    other = ida.solve(times, np.array([1.0, 0.0, 0.0]), np.array([-0.04, 0.04, 0.0]))
    sol = herk.solve_dae(
        herk.Dae(F=robertson, n=3), (0.0, 4000.0), [1.0, 0.0, 0.0], method="radau5", t_eval=times,
        rtol=1e-9, atol=1e-13,
    )  # fmt: skip
    assert np.allclose(sol.y.T, other.y, rtol=1e-6, atol=1e-12)
    assert sol.yp.T[1:] == pytest.approx(other.yp[1:], rel=1e-4, abs=1e-9)


def test_a_constraint_that_no_single_row_shows_is_found() -> None:
    """The current i obeys 2 i + q = sin(t), q' = i: q = (sin t - 2 cos t + 2 e^(-t/2))/5."""
    sol = herk.solve_dae(herk.Dae(F=circuit, n=2), (0.0, 5.0), [0.0, 0.0], method="radau5", **TIGHT)
    t = sol.t
    charge = (np.sin(t) - 2 * np.cos(t) + 2 * np.exp(-t / 2)) / 5
    current = (np.cos(t) + 2 * np.sin(t) - np.exp(-t / 2)) / 5
    assert np.abs(sol.y[1] - current).max() < 1e-8
    assert np.abs(sol.y[0] - sol.y[1] - charge).max() < 1e-8
    slope = (-np.sin(t) + 2 * np.cos(t) + np.exp(-t / 2) / 2) / 5
    assert np.abs(sol.yp[1] - slope).max() < 1e-6


def test_a_higher_index_is_refused_and_solved_once_all_constraints_are_given() -> None:
    """The pendulum of the test set, known exactly: index 3."""
    problem = testset.get("pendulum")
    y0 = problem.reference.exact(0.0)
    with pytest.raises(herk.InputError, match="index is above 1"):
        herk.solve_dae(herk.Dae(F=pendulum, n=5), (0.0, 1.0), y0, method="radau5")
    dae = herk.Dae(F=pendulum, g=all_constraints, n=5, m=3)
    sol = herk.solve_dae(dae, (0.0, 1.0), y0, method="radau5", t_eval=[0.5, 1.0], rtol=1e-9, atol=1e-9)
    assert sol.residual < 1e-11
    for k, t in enumerate(sol.t):
        assert sol.y[:4, k] == pytest.approx(problem.reference.exact(t)[:4], abs=1e-6)
    assert sol.yp[:2] == pytest.approx(sol.y[2:4], abs=1e-9)


def test_events_resets_callback_and_backwards_are_those_of_y() -> None:
    """A ball as m y'' = -g in implicit dress: it hits the ground at sqrt(2 h/g) and leaves with half its speed."""

    def ball(t, y, yp):
        return [yp[0] - y[1], (yp[1] + 10.0) ** 3 + yp[1] + 10.0]

    def ground(t, y):
        assert y.shape == (2,)
        return y[0]

    ground.direction, ground.reset = -1, lambda t, y: [0.0, -y[1] / 2]
    seen = []
    dae = herk.Dae(F=ball, n=2)
    sol = herk.solve_dae(
        dae, (0.0, 1.5), [5.0, 0.0], events=ground, callback=lambda t, y: seen.append(y.shape), **TIGHT
    )
    assert sol.t_events[0] == pytest.approx([1.0], abs=1e-9)
    assert sol.y_events[0][0] == pytest.approx([0.0, -10.0], abs=1e-8)
    assert sol.yp_events[0][0] == pytest.approx([-10.0, -10.0], abs=1e-7)
    assert sol.y[:, -1] == pytest.approx([5 * 0.5 - 5 * 0.25, 0.0], abs=1e-8)
    assert set(seen) == {(2,)}
    back = herk.solve_dae(dae, (1.0, 0.0), [0.0, -10.0], **TIGHT)
    assert back.y[:, -1] == pytest.approx([5.0, 0.0], abs=1e-8)
    run = herk.prepare(dae, (0.0, 1.0), [5.0, 0.0], **TIGHT)
    assert run.solve(y0=[6.0, 0.0]).y[:, -1] == pytest.approx([1.0, -10.0], abs=1e-8)


def test_several_derivatives_that_fit_are_asked_about() -> None:
    with pytest.raises(herk.InputError, match="y0' = 1 or y0' = -1"):
        herk.solve_dae(CIRCLE, (0.0, 1.0), [0.0])
    with pytest.raises(herk.InputError, match="row 0 of F"):
        herk.solve_dae(CIRCLE, (0.0, 1.0), [0.0], yp0=[0.9])
    near = herk.solve_dae(CIRCLE, (0.0, 1.0), [0.0], yp0=[-0.9], consistent="project", **TIGHT)
    assert near.y[0, -1] == pytest.approx(-np.sin(1.0), abs=1e-9)
    with pytest.raises(herk.InputError, match="row 0 of F stays"):
        herk.solve_dae(CIRCLE, (0.0, 1.0), [2.0])


@pytest.mark.parametrize("unit", [1e-12, 1e-4, 1e3])
def test_derivatives_are_told_apart_in_any_unit(unit: float) -> None:
    circle = herk.Dae(F=lambda t, y, yp: [(yp[0] / unit) ** 2 + (y[0] / unit) ** 2 - 1.0], n=1)
    with pytest.raises(herk.InputError, match="Several values fit"):
        herk.solve_dae(circle, (0.0, 1.0), [0.6 * unit])
    single = herk.Dae(F=lambda t, y, yp: [(yp[0] / unit) ** 3 + yp[0] / unit + y[0] / unit], n=1)
    assert herk.solve_dae(single, (0.0, 1.0), [unit], atol=1e-9 * unit).success


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"F": 1, "n": 1}, "F must be a callable"),
        ({"F": robertson, "f": lambda t, y: y, "n": 3}, "either by F"),
        ({"F": robertson, "n": 3, "jac_yp": np.eye(3)}, "jac_yp must be a callable"),
        ({"F": lambda t, y, yp: [1.0, 2.0], "n": 1}, "shape .2,.; 1 residual"),
        ({"F": lambda t, y, yp: [1 / 0], "n": 1}, "F.t, y, y'. raised ZeroDivisionError"),
        ({"F": lambda t, y, yp: yp, "jac_yp": lambda t, y, yp: [1.0], "n": 1}, "1 x 1 is needed"),
    ],
)
def test_what_cannot_be_a_residual_is_refused(given, words: str) -> None:
    with pytest.raises(herk.InputError, match=words):
        herk.solve_dae(herk.Dae(**given), (0.0, 1.0), [0.0] * given["n"])


def test_where_y_follows_from_e_and_f_its_derivative_is_not_taken() -> None:
    with pytest.raises(herk.InputError, match="yp0 is for"):
        herk.solve_dae(herk.Dae(E=np.eye(1), f=lambda t, y: -y, n=1), (0.0, 1.0), [1.0], yp0=[-1.0])
    with pytest.raises(herk.InputError, match="given by F goes to solve_dae"):
        herk.consistent_start(CIRCLE, 0.0, [0.0])


@pytest.mark.parametrize("seed", [10, 14, 31, 43, 46, 56])
def test_open_derivatives_are_found_in_any_units(seed: int) -> None:
    """x = cos(t), v = -sin(t), z = x + 2 v; v starts at zero, so that nothing tells the size of v'."""
    rng = np.random.default_rng(seed)
    unit, time, rows = (
        10.0 ** rng.integers(-12, 13, 3),
        10.0 ** rng.integers(-9, 10),
        10.0 ** rng.integers(-12, 13, 3),
    )

    def residual(t, y, yp):
        (x, v, z), (dx, dv, _) = y / unit, yp / unit * time
        return rows * np.array([dx - v, dv + x, z - x - 2 * v])

    sol = herk.solve_dae(
        herk.Dae(F=residual, n=3), (0, time), unit * [1, 0, 1], method="dopri5", rtol=1e-6, atol=1e-9 * unit
    )
    assert sol.success, sol.message
    right = [np.cos(1), -np.sin(1), np.cos(1) - 2 * np.sin(1)]
    np.testing.assert_allclose(sol.y[:, -1] / unit, right, atol=1e-5)


def test_a_value_at_which_f_is_not_zero_is_no_other_start() -> None:
    """y' = -y by exponentials: F(-0.115) = -0.6 was taken for zero, by a slope found far away."""
    dae = herk.Dae(F=lambda t, y, yp: [np.exp(1e3 * yp[0]) - np.exp(-1e3 * y[0])], n=1)
    sol = herk.solve_dae(dae, (0.0, 1.0), [5e-4], rtol=1e-8, atol=1e-12)
    assert sol.success, sol.message
    assert sol.y[0, -1] == pytest.approx(5e-4 * np.exp(-1), rel=1e-6)


def ramp(t: float) -> float:
    return max(0.0, t - 1.0)


MOVING = {  # F, y(0), y0(t): which part of y' occurs depends on the time
    "a derivative occurs from t = 1 on": (
        lambda t, y, yp: [yp[0] + ramp(t) * yp[1] - np.cos(t) + ramp(t) * np.sin(t), y[1] - np.cos(t)],
        [0.0, 1.0],
        np.sin,
    ),
    "another combination at every time": (
        lambda t, y, yp: [yp[0] - 1 + t * (yp[1] - np.cos(t)), y[1] - np.sin(t)],
        [0.0, 0.0],
        lambda t: t,
    ),
}


@pytest.mark.parametrize("method", ["dopri5", "radau5"])
@pytest.mark.parametrize("case", MOVING)
def test_parts_of_the_derivative_that_occur_at_other_times_are_solved_for(case: str, method: str) -> None:
    """The first was called a success (1.976 instead of sin 5), the second refused though of index 1."""
    F, start, exact = MOVING[case]
    with_g = {"g": lambda t, y: [F(t, y, [0.0, 0.0])[1]], "m": 1}
    for given in ({}, with_g):
        sol = herk.solve_dae(
            herk.Dae(F=F, n=2, **given), (0.0, 5.0), start, method=method, rtol=1e-8, atol=1e-8
        )
        assert sol.success, sol.message
        assert sol.y[0, -1] == pytest.approx(exact(5.0), abs=1e-6)
        slope = (exact(5.0 + 1e-5) - exact(5.0 - 1e-5)) / 2e-5
        assert sol.yp[0, -1] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("method", ["dopri5", "radau5"])
def test_a_derivative_with_a_small_coefficient_counts_in_its_own_unit(method: str) -> None:
    """x' + z' + x = 1, z = sin t, z in units of 1e-9: x = 1 - (cos t + sin t)/2 - exp(-t)/2."""
    dae = herk.Dae(F=lambda t, y, yp: [yp[0] + 1e-9 * yp[1] + y[0] - 1, 1e-9 * y[1] - np.sin(t)], n=2)
    sol = herk.solve_dae(dae, (0.0, 5.0), [0.0, 0.0], atol=[1e-9, 1.0], rtol=1e-9, method=method)
    right = 1 - (np.cos(5) + np.sin(5)) / 2 - np.exp(-5) / 2
    assert sol.y[0, -1] == pytest.approx(right, abs=1e-6)


def test_a_derivative_that_turns_up_where_nobody_looked_ends_in_no_success() -> None:
    """x' = 1 until x = 1; from there on z' occurs, which only the solution shows."""
    dae = herk.Dae(
        F=lambda t, y, yp: [yp[0] - 1 + max(0.0, y[0] - 1) * (yp[1] + np.sin(t)), y[1] - np.cos(t)], n=2
    )
    sol = herk.solve_dae(dae, (0.0, 5.0), [0.0, 1.0], max_step=0.1)
    assert sol.reason == "singular"
    assert "depends on a derivative that did not occur in it near the start" in sol.message
    before = herk.solve_dae(dae, (0.0, 0.9), [0.0, 1.0])
    assert before.success
    assert before.y[0, -1] == pytest.approx(0.9, abs=1e-9)


def in_units(F, powers: np.ndarray, clock: float) -> dict:
    """Return F with unknowns, rows and time in other units."""
    n = len(powers) // 2
    units, rows = powers[:n], powers[n:]
    return {"F": lambda t, y, yp: rows * np.array(F(clock * t, units * y, units * yp / clock)), "n": n}


def pair(t, y, yp):
    """(x - z)' = -2 exp(-t), x + z = 2 exp(-t): x = 2 exp(-t) - 1, z = 1."""
    first, second = yp[0] - yp[1] + 2 * np.exp(-t), y[0] + y[1] - 2 * np.exp(-t)
    return [first + second, 2 * first - second]


def three(t, y, yp):
    """x' = -x, (x + z + w)' = cos(t) - exp(-t), z - w = x: x = exp(-t), z + w = sin(t)."""
    first, second = yp[0] + y[0], yp[0] + yp[1] + yp[2] + np.exp(-t) - np.cos(t)
    third = y[1] - y[2] - y[0]
    return [first + second + third, first - second + third, first + 2 * second - third]


MIXED = {
    pair: ([1.0, 1.0], [2 * np.exp(-1) - 1, 1.0]),
    three: ([1.0, 0.5, -0.5], [np.exp(-1), (np.sin(1) + np.exp(-1)) / 2, (np.sin(1) - np.exp(-1)) / 2]),
}


@pytest.mark.parametrize("method", ["dop853", "radau5"])
@pytest.mark.parametrize("F", MIXED)
def test_what_is_linear_in_the_derivative_is_solved_in_any_units(F, method: str) -> None:
    """Every row contains y', and one combination of them does not: index 1."""
    (start, end), rng = MIXED[F], np.random.default_rng(4)
    for _ in range(8):
        powers, clock = 10.0 ** rng.integers(-10, 11, 2 * len(start)), 10.0 ** float(rng.integers(-10, 11))
        units = powers[: len(start)]
        dae = herk.Dae(**in_units(F, powers, clock))
        options = {"method": method, "rtol": 1e-9, "atol": 1e-9 / units, "max_steps": 2000}
        sol = herk.solve_dae(dae, (0.0, 1.0 / clock), np.array(start) / units, **options)
        assert sol.success, sol.message
        np.testing.assert_allclose(sol.y[:, -1] * units, end, atol=1e-7)


@pytest.mark.parametrize("method", ["dop853", "radau5"])
def test_rounding_in_f_is_no_derivative_and_rows_may_turn(method: str) -> None:
    """x = sin t from (x' - cos t) (cos t, sin t) in two rows, beside z = x given as g, and z' by rounding."""

    def F(t, y, yp):
        nothing = np.sin(t) ** 2 + np.cos(t) ** 2 - 1.0
        rest = yp[0] - np.cos(t)
        return [rest * np.cos(t), rest * np.sin(t), nothing * yp[2] + y[2] - y[0]]

    dae = herk.Dae(F=F, g=lambda t, y: [y[1] - y[0] * t, y[2] - y[0]], n=3, m=2)
    options = {"method": method, "rtol": 1e-9, "atol": 1e-9, "max_steps": 1000}
    sol = herk.solve_dae(dae, (0.0, 3.0), [0.0, 0.0, 0.0], **options)
    assert sol.success, sol.message
    x = np.sin(sol.t)
    np.testing.assert_allclose(sol.y, [x, x * sol.t, x], atol=1e-7)


def test_a_derivative_that_turns_up_where_there_was_none_ends_in_no_success() -> None:
    """x = t, in units of 1e12, up to x = 1; from there on x' occurs, which only the solution shows."""

    def F(t, y, yp):
        x, v = 1e-12 * y[0], 1e-12 * yp[0]
        return [x - t + max(0.0, x - 1.0) * v]

    sol = herk.solve_dae(herk.Dae(F=F, n=1), (0.0, 2.0), [0.0], atol=1e3, rtol=1e-9)
    assert sol.reason == "singular"
    assert "depends on a derivative that did not occur in it near the start" in sol.message
    assert herk.solve_dae(herk.Dae(F=F, n=1), (0.0, 0.9), [0.0], atol=1e3, rtol=1e-9).success


def test_an_event_that_never_occurs_leaves_no_states_behind() -> None:
    sol = herk.solve_dae(
        CIRCLE, (0.0, 1.0), [0.0], yp0=[1.0], events=[lambda t, y: y[0] - 2, lambda t, y: y[0] - 0.5]
    )
    assert sol.t_events[0].size == sol.y_events[0].size == 0
    assert sol.y_events[1] == pytest.approx(np.array([[0.5]]), abs=1e-6)
    assert sol.yp_events[1] == pytest.approx(np.array([[np.sqrt(0.75)]]), abs=1e-5)
