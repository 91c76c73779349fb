"""Conditions on the state that the program finds in a model: located, passed, and ended where they chatter."""

from __future__ import annotations

import numpy as np
import pytest

import herk
from herk.model.model import Model
from herk.model.switching import switches_of
from tests.fuzz import piecewise

SETTING = {"rtol": 1e-10, "atol": 1e-12, "switches": True}


def written(piece: piecewise.Piece) -> Model:
    n = len(piece.states)
    E = np.diag([1] * piece.differential + [0] * (n - piece.differential)).tolist()
    start = piece.truth(np.zeros(1))[:, 0].tolist()
    return Model("piece", piece.states, E, piece.f, t_span=(0, piece.t_end), y0=start)


@pytest.mark.parametrize("seed", range(5))
def test_a_bilinear_spring_has_the_digits_of_a_smooth_problem(seed: int) -> None:
    """Its motion is known from half period to half period; the stiffness jumps where x changes its sign."""
    piece = piecewise.bilinear(np.random.default_rng(seed))
    sol = herk.solve_dae(written(piece), **SETTING)
    assert sol.success, sol.message
    assert np.abs(sol.y - piece.truth(sol.t)).max() < 1e-7


@pytest.mark.parametrize(
    ("f", "exact"),
    [
        ("1 - 2*Heaviside(x - 1)*0 + Abs(x - 1)*0", lambda t: t),
        ("Piecewise((1, x < 1), (2, True))", lambda t: np.where(t < 1, t, 2 * t - 1)),
        (
            "Piecewise((1, Or(x < 1, x > 2)), (3, True))",
            lambda t: np.where(t < 1, t, np.minimum(3 * t - 2, t + 2 / 3)),
        ),
        ("1 + Heaviside(x - 1)", lambda t: np.where(t < 1, t, 2 * t - 1)),
        ("2 + sign(1 - x)", lambda t: np.where(3 * t < 1, 3 * t, 1 + (t - 1 / 3))),
        ("Max(1, x)", lambda t: np.where(t < 1, t, np.exp(t - 1))),
        ("Min(2, x + 1)", lambda t: np.where(t < np.log(2), np.exp(t) - 1, 1 + 2 * (t - np.log(2)))),
        ("1 + Abs(x - 1)", lambda t: np.where(t < np.log(2), 2 - 2 * np.exp(-t), np.exp(t - np.log(2)))),
    ],
)
def test_every_kind_of_condition_is_passed_exactly(f: str, exact) -> None:
    model = Model("kinds", ["x"], [[1]], [f], t_span=(0, 2), y0=(0,))
    sol = herk.solve_dae(model, **SETTING)
    assert sol.success, sol.message
    assert np.abs(sol.y[0] - exact(sol.t)).max() < 1e-9


def test_a_block_that_comes_to_rest_by_friction_ends_with_a_reason() -> None:
    """v' = -sign(v): at rest at t = 1, where the equations have no solution that goes on."""
    model = Model("block", ["x", "v"], [[1, 0], [0, 1]], ["v", "-sign(v)"], t_span=(0, 2), y0=(0, 1))
    sol = herk.solve_dae(model, rtol=1e-10, atol=1e-12)
    assert not sol.success
    assert sol.reason is herk.Reason.STEP_UNDERFLOW
    assert "slides along v = 0" in sol.message
    assert sol.t[-1] == pytest.approx(1.0, abs=1e-6)
    assert sol["x"][-1] == pytest.approx(0.5, abs=1e-6)


def test_a_smooth_model_has_no_switches_and_callables_have_no_conditions() -> None:
    smooth = Model("smooth", ["x"], [[1]], ["-x + Piecewise((1, t < 1), (0, True))"], t_span=(0, 2), y0=(1,))
    assert smooth.conditions == ()
    assert switches_of(smooth, smooth.conditions) is None
    assert herk.solve_dae(smooth, **SETTING).success
    with pytest.raises(herk.InputError, match="needs a herk"):
        herk.solve_dae(herk.Dae(E=np.eye(1), f=lambda t, y: -y, n=1), (0.0, 1.0), [1.0], switches=True)


def relay(k: float = 1.0, **options) -> Model:
    """Return x'' = -k sign(x): parabolas between the zeros of x, of period 4 sqrt(2 x0/k)."""
    f = ["v", "-k*sign(x)"]
    given = {"parameters": {"k": k}, "t_span": (0, 40), "y0": (1, 0)} | options
    return Model("relay", ["x", "v"], [[1, 0], [0, 1]], f, **given)


def relay_exact(t: np.ndarray, k: float = 1.0) -> np.ndarray:
    quarter = np.sqrt(2 / k)
    s = np.mod(t + quarter, 4 * quarter) - quarter
    late = s > quarter
    s = np.where(late, s - 2 * quarter, s)
    sign = np.where(late, -1.0, 1.0)
    return np.array([sign * (1 - k * s**2 / 2), -sign * k * s])


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau5"])
def test_a_jump_is_found_without_being_asked_for_and_costs_no_digits(method: str) -> None:
    """Without restarts the same run is wrong by a thousand tolerances (the second half of this test)."""
    sol = herk.solve_dae(relay(), method=method, rtol=1e-8, atol=1e-10)
    assert sol.success, sol.message
    assert sol.nreject <= 3 * 8  # no step fights with one of the seven jumps
    assert np.abs(sol.y - relay_exact(sol.t)).max() < 1e-7
    assert sol.t_events is None
    blind = herk.solve_dae(relay(), method=method, rtol=1e-8, atol=1e-10, switches=False)
    assert np.abs(blind.y - relay_exact(blind.t)).max() > 1e-7


def test_a_prepared_run_follows_the_parameters_of_its_switches() -> None:
    run = herk.prepare(relay(), rtol=1e-8, atol=1e-10, t_eval=np.linspace(0, 40, 50))
    for k in (2.0, 1.0):
        sol = run.solve(parameters={"k": k})
        assert np.abs(sol.y - relay_exact(sol.t, k)).max() < 1e-7
    many = herk.solve_many(relay(), {"k": [1.0, 2.0]}, rtol=1e-8, atol=1e-10, t_eval=[10.0, 40.0])
    for j, k in enumerate((1.0, 2.0)):
        assert np.abs(many.y[j].reshape(2, -1) - relay_exact(np.array([10.0, 40.0]), k)).max() < 1e-7


def test_backwards_dense_and_slopes_go_through_jumps() -> None:
    end = relay_exact(np.array([10.0]))[:, 0]
    sol = herk.solve_dae(relay(), (10.0, 0.0), end, rtol=1e-9, atol=1e-11, dense_output=True)
    assert sol.y[:, -1] == pytest.approx([1.0, 0.0], abs=1e-7)
    times = np.linspace(0.05, 9.95, 40)
    assert np.abs(sol(times) - relay_exact(times)).max() < 1e-7
    assert sol.derivative(times)[1] == pytest.approx(-np.sign(relay_exact(times)[0]), abs=1e-9)


def test_kinks_are_left_to_the_control_of_errors_unless_asked_for() -> None:
    """|x| and a diode whose pieces meet are continuous; a product with sign(x) that vanishes there is too."""
    for f in (
        "Abs(x)",
        "Max(x, 0)",
        "Piecewise((x, x > 0), (x/9, True))",
        "x*sign(x)",
        "sign(x)*sqrt(Abs(x))",
    ):
        model = Model("kink", ["x"], [[1]], [f"1 + {f}"], t_span=(0, 1), y0=(-1,))
        assert model.conditions
        assert model.jumps == ()
    for f in ("sign(x)", "Heaviside(x - 2)", "Piecewise((x, x > 1), (0, True))", "x*sign(x - 1)"):
        model = Model("jump", ["x"], [[1]], [f], t_span=(0, 1), y0=(-1,))
        assert model.jumps == model.conditions


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau5"])
def test_a_block_whose_force_grows_from_nothing_ends_with_a_reason_and_not_by_counting(method) -> None:
    """v' = sin(3 t) - sign(v)/2: both sides push it back to v = 0, where it begins, until t = pi/18."""
    model = herk.Model(
        "block", ["x", "v"], [[1, 0], [0, 1]], ["v", "sin(3*t) - sign(v)/2"], t_span=(0, 20), y0=[0, 0]
    )
    sol = herk.solve_dae(model, method=method)
    assert not sol.success
    assert sol.t[-1] < np.pi / 18
    assert "slides along v = 0" in sol.message
    assert sol.nstep < 10_000


def test_a_block_at_rest_stays_at_rest() -> None:
    """sign(0) = 0: the equations as written leave it there."""
    model = Model("block", ["x", "v"], [[1, 0], [0, 1]], ["v", "-sign(v)"], t_span=(0, 2), y0=(0, 0))
    sol = herk.solve_dae(model)
    assert sol.success
    assert not sol.y.any()
    assert any("stays there" in note for note in sol.notes)


def test_modes_belong_to_algebraic_unknowns_that_are_computed() -> None:
    """u = 3 - t decides: x' = 1 while u > 1, then 5; u is left open at the start."""
    f = ["Piecewise((1, u > 1), (5, True))", "u - 3 + t"]
    model = Model("open", ["x", "u"], [[1, 0], [0, 0]], f, t_span=(0, 3), y0=(0, None))
    sol = herk.solve_dae(model, rtol=1e-9)
    assert sol.success, sol.message
    assert np.abs(sol.y[0] - np.where(sol.t < 2, sol.t, 5 * sol.t - 8)).max() < 1e-8


def test_a_mode_that_an_algebraic_jump_ends_at_once_does_not_stay() -> None:
    """Behind x = 1 the unknown u jumps from 0 to 1, and with it the rate from 1 to 1 + 4: both switch at once."""
    f = ["1 + 4*Heaviside(u - 1/2)", "u - Heaviside(x - 1)"]
    model = Model("chain", ["x", "u"], [[1, 0], [0, 0]], f, t_span=(0, 2), y0=(0, 0))
    sol = herk.solve_dae(model, rtol=1e-9)
    assert sol.success, sol.message
    assert np.abs(sol.y[0] - np.where(sol.t < 1, sol.t, 5 * sol.t - 4)).max() < 1e-8


def test_a_branch_that_ends_where_another_begins_is_passed() -> None:
    """x' = -sqrt(x) - 1 down to x = 0, then -2: the first branch has no values behind it."""
    f = ["Piecewise((-1 - sqrt(x), x > 0), (-2, True))"]
    model = Model("ends", ["x"], [[1]], f, t_span=(0, 2), y0=(1,))
    sol = herk.solve_dae(model, rtol=1e-8, atol=1e-10)
    assert sol.success, sol.message
    end = 2 - 2 * np.log(2)  # the integral of 1/(1 + sqrt(x)) from 0 to 1
    assert sol.y[0, -1] == pytest.approx(-2 * (2 - end), abs=1e-5)


@pytest.mark.parametrize("slow", [0.0, -1e-13, -1e-6])
@pytest.mark.parametrize("method", ["dopri5", "radau5"])
def test_no_turn_is_missed_where_the_condition_is_small_at_the_start(slow: float, method: str) -> None:
    """F = -4 x - 0.4 sign(v): cosines around 0.1 and -0.1 by turns, each half swing shorter by 0.2."""
    f = ["v", "F", "F + 4*x + 0.4*sign(v)"]
    model = Model("block", ["x", "v", "F"], np.diag([1, 1, 0]), f, t_span=(0, 10), y0=(5, slow, None))
    sol = herk.solve_dae(model, rtol=1e-10, atol=1e-12, method=method)
    half = np.floor(2 * sol.t / np.pi).astype(int)
    exact = (5 - 0.1 * (2 * half + 1)) * np.cos(2 * sol.t) + 0.1 * (-1.0) ** half
    assert np.abs(sol["x"] - exact).max() < 1e-7 + abs(slow)
    assert not sol.notes


@pytest.mark.parametrize("method", ["dop853", "radau5"])
@pytest.mark.parametrize(
    ("rate", "row", "end"),
    [
        ("1", "z - floor(3*x)", [2.05, 6.0]),
        ("1", "z - ceiling(2*t)", [2.05, 5.0]),
        ("1", "z - Mod(t + 0.1, 0.7)", [2.05, 0.05]),
        ("1", "z - Mod(x, 0.5)", [2.05, 0.05]),
        ("z", "z - 1 - floor(x)", [5.9, 6.0]),  # 1, 1/2, ... 1/5 s for each unit, then 6 units a second
    ],
)
def test_steps_of_floor_ceiling_and_mod_are_met_one_by_one(
    rate: str, row: str, end: list[float], method: str
) -> None:
    until = 2.05 if rate == "1" else 137 / 60 + 0.15
    model = herk.Model("steps", ["x", "z"], [[1, 0], [0, 0]], [rate, row], t_span=(0, until), y0=[0, None])
    sol = herk.solve_dae(model, method=method, rtol=1e-8, atol=1e-10)
    assert sol.success, sol.message
    np.testing.assert_allclose(sol.y[:, -1], end, atol=1e-6)


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1.0, 1e6])
def test_jumps_are_found_in_any_unit(unit: float) -> None:
    """x in units of its own; where 1 of them is passed, z jumps from 1 to 2 and bends down."""
    f = ["1", f"z - Piecewise((x/{unit!r}, x < {unit!r}), (3 - (x/{unit!r})**2, True))"]
    model = Model("units", ["x", "z"], [[1, 0], [0, 0]], f, t_span=(0, 2.5 * unit), y0=(0, 0))
    assert len(model.jumps) == 1
    sol = herk.solve_dae(model, method="radau5", rtol=1e-6, atol=[1e-6 * unit, 1e-6])
    assert sol.success, sol.message
    assert sol.y[1, -1] == pytest.approx(3 - 2.5**2, abs=1e-5)


def test_a_solution_led_back_behind_a_switch_is_not_followed_past_it() -> None:
    """Friction holds the belt's speed from t = 4.5879 on; one step of dop853 was led back and came again."""
    force = "-3.15*x - 0.348*v + 2.73*cos(1.5*t) - 0.908*sign(v - 0.104) - 1.31*sign(x + 0.341*v)"
    model = Model("belt", ["x", "v"], np.eye(2), ["v", force], t_span=(0, 6), y0=(-0.634, 1.3))
    sol = herk.solve_dae(model, method="dop853", rtol=1e-5, atol=[7.55e-6, 1.79e-5])
    assert not sol.success
    assert sol.t[-1] == pytest.approx(4.58787029, abs=1e-3)  # by SciPy's events, and the signs of v' there
    assert "slides" in sol.message


@pytest.mark.parametrize("method", ["dop853", "radau5", "bs32"])
@pytest.mark.parametrize("height", [0.99, 0.9999])
def test_a_switch_passed_and_passed_back_within_one_step_is_found(height: float, method: str) -> None:
    """The time for which sin(t) is above a height: 2 acos(height). One step of dop853 led over all of it."""
    rows = ["cos(t)", f"Piecewise((1, x > {height}), (0, True))"]
    model = Model("peak", ["x", "z"], np.eye(2), rows, t_span=(0, 3), y0=(0, 0))
    sol = herk.solve_dae(model, method=method, rtol=1e-6, atol=1e-6)
    assert sol.success, sol.message
    assert sol.y[1, -1] == pytest.approx(2 * np.arccos(height), abs=1e-3)


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau5"])
def test_switches_of_large_models_are_met_as_those_of_small_ones_are(method: str) -> None:
    """Blocks that slow down by friction, each with a copy of its speed; with modes there are more than 100."""
    count, start = 50, 2.0
    states = [f"{name}{k}" for k in range(count) for name in "vz"]
    E = {(2 * k, 2 * k): 1 for k in range(count)}
    rows = [
        row for k in range(count) for row in (f"-1 - sign(v{k} - 1)/2" if k < 3 else "-1", f"z{k} - v{k}")
    ]
    model = herk.Model("blocks", states, E, rows, t_span=(0, 1.5), y0=[start, start] * count)
    sol = herk.solve_dae(model, method=method, rtol=1e-8, atol=1e-10)
    assert sol.success, sol.message
    # -3/2 down to 1, which takes 2/3, then -1/2; the others -1 all the time
    right = [1 - (1.5 - 2 / 3) / 2] * 6 + [start - 1.5] * (2 * count - 6)
    assert sol.y[:, -1] == pytest.approx(right, abs=1e-9)
