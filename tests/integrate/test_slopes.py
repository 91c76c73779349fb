"""y' in the result: of every component, from the equations, at points, at events and between."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import herk
import testset
from herk.core import Reason, Solution
from herk.model.model import Model
from tests.integrate.systems import PENDULUM, called_back

SETTING = {"rtol": 1e-10, "atol": 1e-10}


def spring(k: float = 1.0) -> Model:
    """Return x'' = -k x with its force as an unknown: x = cos(w t), w^2 = k, force = -k x, of index 1."""
    E, f = [[1, 0, 0], [0, 1, 0], [0, 0, 0]], ["v", "force", "force + k*x"]
    return Model("spring", ["x", "v", "force"], E, f, parameters={"k": k}, t_span=(0, 6), y0=(1, 0, -k))


def spring_slopes(t: np.ndarray, k: float = 1.0) -> np.ndarray:
    w = np.sqrt(k)
    return np.array([-w * np.sin(w * t), -k * np.cos(w * t), k * w * np.sin(w * t)])


@pytest.mark.parametrize("method", ["dopri5", "radau5", "auto"])
def test_slopes_of_all_components_are_those_of_the_exact_solution(method: str) -> None:
    sol = herk.solve_dae(spring(), method=method, **SETTING)
    assert sol.yp.shape == sol.y.shape
    assert np.abs(sol.yp - spring_slopes(sol.t)).max() < 1e-6


def test_multipliers_of_index_three_have_slopes_too() -> None:
    """The pendulum of the test set has a multiplier that follows from the energy: lambda' by its formula."""
    problem = testset.get("pendulum")
    sol = herk.solve_dae(problem, (0.0, 2.0), method="dop853", dense_output=True, **SETTING)
    t, h = 0.7, 1e-4
    exact = problem.reference.exact
    wanted = (exact(t - 2 * h) - 8 * exact(t - h) + 8 * exact(t + h) - exact(t + 2 * h)) / (12 * h)
    assert sol.derivative(t) == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    times = np.array([0.2, 0.7, 1.9])
    assert sol.derivative(times).shape == (5, 3)
    assert sol.derivative(times)[:, 1] == pytest.approx(sol.derivative(t), rel=1e-12)


def test_slopes_at_events() -> None:
    def crossing(t, y):
        return y[0]

    def never(t, y):
        return 1.0

    sol = herk.solve_dae(spring(), method="dop853", events=[crossing, never], **SETTING)
    assert sol.t_events[0] == pytest.approx([np.pi / 2, 3 * np.pi / 2])
    assert sol.yp_events[0] == pytest.approx(spring_slopes(sol.t_events[0]).T, abs=1e-7)
    assert sol.yp_events[1].shape == (0, 3)


def test_slopes_belong_to_the_values_of_the_parameters_of_the_run() -> None:
    prepared = herk.prepare(spring(), method="dop853", **SETTING)
    for k in (1.0, 4.0):
        sol = prepared.solve(y0=[1.0, 0.0, -k], parameters={"k": k})
        assert np.abs(sol.yp - spring_slopes(sol.t, k)).max() < 1e-6
        other = herk.solve_dae(spring(), y0=[1.0, 0.0, -k], parameters={"k": k}, **SETTING)
        assert np.abs(other.yp - spring_slopes(other.t, k)).max() < 1e-6


def test_slopes_see_both_sides_of_a_breakpoint() -> None:
    """x' = z with z = 0 before t = 1 and 2 after: x' jumps where z does."""
    jump = "Piecewise((0, t < 1), (2, True))"
    model = Model("jump", ["x", "z"], [[1, 0], [0, 0]], ["z", f"z - {jump}"], t_span=(0, 2), y0=(0, 0))
    sol = herk.solve_dae(model)
    assert sol.yp[0] == pytest.approx(np.where(sol.t < 1, 0.0, 2.0))
    assert sol.yp[1] == pytest.approx(np.zeros(sol.t.size))


def test_callables_give_slopes_and_a_pickled_solution_does_without_those_it_cannot_have() -> None:
    sol = herk.solve_dae(called_back(PENDULUM.dae), (0.0, 0.5), PENDULUM.y0, **SETTING)
    x, v = sol.y[:2], sol.y[2:4]
    assert sol.yp[:2] == pytest.approx(v, abs=1e-8)
    assert (x * sol.yp[:2]).sum(axis=0) == pytest.approx(np.zeros(sol.t.size), abs=1e-8)
    model = herk.solve_dae(spring(), **SETTING)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).yp, model.yp)
    local = herk.solve_dae(herk.Dae(E=np.eye(1), f=lambda t, y: -y, n=1), (0.0, 1.0), [1.0])
    assert pickle.loads(pickle.dumps(local)).yp is None
    assert np.abs(local.yp + local.y).max() < 1e-12
    assert np.array_equal(pickle.loads(pickle.dumps(local)).yp, local.yp)  # what was computed is kept


def test_a_solution_of_somebody_else_has_no_slopes() -> None:
    sol = Solution(t=np.zeros(1), y=np.zeros((1, 1)), reason=Reason.FINISHED, message="", sol=lambda t: t)
    assert sol.yp is None
    assert sol.yp_events is None
    with pytest.raises(herk.InputError, match="does not know its equations"):
        sol.derivative(0.0)


def test_a_run_that_goes_over_to_another_method_keeps_the_values_of_its_parameters() -> None:
    """y = cos(w t) for every rate; the frequency is a parameter."""
    f = ["-(1 + 1e5/(1 + exp(40*(1 - t))))*(y - cos(w*t)) - w*sin(w*t)"]
    model = Model("relax", ["y"], [[1]], f, parameters={"w": 1.0}, t_span=(0, 20), y0=(1.0,))
    sol = herk.prepare(model, method="auto", rtol=1e-8, atol=1e-8).solve(parameters={"w": 0.5})
    assert [use.method for use in sol.methods] == ["dop853", "radau5"]
    assert np.abs(sol.y[0] - np.cos(0.5 * sol.t)).max() < 1e-5
    late = sol.t > 1.0
    assert np.abs(sol.yp[0] + 0.5 * np.sin(0.5 * sol.t))[late].max() < 1.0  # 1e5 times the error of y


def bounce(t, y):
    return y[0] - 0.5


bounce.reset = lambda t, y: [0.5, -y[1], -0.5]  # x goes back up: cos(t - 2 pi/3) from where it was
bounce.direction = -1


@pytest.mark.parametrize("method", ["dopri5", "radau5", "auto"])
@pytest.mark.parametrize("span", [(0.0, 6.0), (6.0, 0.0)])
def test_slopes_at_asked_times_forwards_and_backwards(method: str, span: tuple[float, float]) -> None:
    t0 = span[0]
    times = np.linspace(*span, 7)
    start = [np.cos(t0), -np.sin(t0), -np.cos(t0)]
    for asked in ({"t_eval": times}, {"dense_output": True}):
        sol = herk.solve_dae(spring(), span, start, method=method, **asked, **SETTING)
        assert np.abs(sol.yp - spring_slopes(sol.t)).max() < 1e-6
    assert np.abs(sol.derivative(times) - spring_slopes(times)).max() < 1e-5


@pytest.mark.parametrize("method", ["dopri5", "radau5", "auto"])
def test_slopes_before_and_after_a_reset(method: str) -> None:
    """The reset of an impact turns v round at x = 1/2: x' jumps from -sqrt(3)/2 to sqrt(3)/2 there."""
    sol = herk.solve_dae(spring(), (0.0, 2.0), method=method, events=bounce, **SETTING)
    hit = np.pi / 3
    assert sol.t_events[0] == pytest.approx([hit], abs=1e-8)
    after = np.flatnonzero(sol.t >= sol.t_events[0][0])
    assert sol.yp[0, after[:2]] == pytest.approx([-np.sqrt(0.75), np.sqrt(0.75)], abs=1e-7)
    late = sol.t > hit + 1e-6
    assert sol.yp[0, late] == pytest.approx(-np.sin(sol.t[late] - 2 * hit), abs=1e-6)
    assert sol.yp_events[0][0] == pytest.approx([-np.sqrt(0.75), -0.5, np.sqrt(0.75)], abs=1e-7)


def test_slopes_of_a_start_that_is_left_open() -> None:
    """u = sqrt(x) with u open: at u = 0 the constraint u^2 = x would be singular."""
    model = Model("root", ["x", "u"], [[1, 0], [0, 0]], ["u", "u**2 - x"], t_span=(0, 1), y0=(1, None))
    sol = herk.solve_dae(model, y0=[1.0, None], **SETTING)
    sign = np.sign(sol.y[1, 0])  # x = (1 + sign t/2)^2
    assert sol.yp[0] == pytest.approx(sign + sol.t / 2, abs=1e-8)
    assert sol.yp[1] == pytest.approx(np.full(sol.t.size, 0.5), abs=1e-8)
