"""method="auto": explicit where that is better, implicit where stability or the cost of stages says so."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import herk
import testset
from herk.core import InputError
from herk.integrate import auto as choice
from herk.integrate import start
from herk.integrate.methods import Plan
from herk.integrate.options import request
from herk.integrate.prepared import OPTIONS
from herk.integrate.start import started
from herk.integrate.steppers.half_explicit.stability import bound
from herk.integrate.steppers.radau.ready import CONSTRAINED
from herk.integrate.steps import INFINITE
from herk.integrate.stiffness import real_bound
from herk.integrate.work import A_ROW, LANES, Work, costs_of, work_of
from herk.model.model import Model
from tests.integrate.systems import called_back

TOLERANCES = {"rtol": 1e-8, "atol": 1e-8}
CLOSE = 1e-5  # Radau IIA loses an order where its steps are long beside the rate
RATE = "1 + 1e5/(1 + exp(40*(1 - {t})))"  # from 1 to 1e5 around t = 1
LATE, ALWAYS = RATE.format(t="t"), "1e5"


def relaxation(rate: str = LATE, t_end: float = 20.0, t0: float = 0.0) -> Model:
    """Return y' = -rate (y - cos t) - sin t, z = 2 y: y = cos t whatever the rate."""
    f = [f"-({rate})*(y - cos(t)) - sin(t)", "z - 2*y"]
    start = (float(np.cos(t0)), 2 * float(np.cos(t0)))
    return Model("relaxation", ["y", "z"], [[1, 0], [0, 0]], f, t_span=(t0, t_end), y0=start)


def used(sol: herk.Solution) -> list[str]:
    return [use.method for use in sol.methods]


@pytest.mark.parametrize("name", ["pendulum", "car_axis", "cv_circuit"])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-8])
def test_steps_of_a_problem_that_is_not_stiff_are_those_of_the_explicit_method(name, tolerance) -> None:
    auto, plain = (
        herk.solve_dae(testset.get(name), method=method, rtol=tolerance, atol=tolerance)
        for method in ("auto", "dop853")
    )
    assert used(auto) == ["dop853"]
    assert auto.method == "auto"
    assert np.array_equal(auto.t, plain.t)
    assert np.array_equal(auto.y, plain.y)


def test_no_implicit_code_is_made_for_a_run_that_stays_explicit() -> None:
    model = Model("spring", ["x", "v"], [[1, 0], [0, 1]], ["v", "-7.125*x"], t_span=(0, 50), y0=(1, 0))
    sol = herk.solve_dae(model, method="auto")
    assert used(sol) == ["dop853"]
    code = model.form("overdetermined").generated.code
    assert code.stages
    assert "implicit" not in vars(code)
    assert CONSTRAINED not in code.natives


@pytest.mark.parametrize(
    ("name", "rtol", "atol"), [("robertson", 1e-10, 1e-14), ("oregonator", 1e-11, 1e-11)]
)
def test_stiff_problems_are_reached_to_eight_digits(name, rtol, atol) -> None:
    problem = testset.get(name)
    sol = herk.solve_dae(problem, method="auto", rtol=rtol, atol=atol)
    assert sol.success, sol.message
    assert used(sol)[0] == "radau5"
    assert "stability" in sol.methods[0].why
    assert {use.t for use in sol.methods} <= set(sol.t)
    assert sol.y[:, -1] == pytest.approx(problem.reference.y, rel=1e-8, abs=1e-12)
    assert sol.residual < 1e-13


@pytest.mark.parametrize("options", [{}, {"dense_output": True}, {"t_eval": np.linspace(0, 20, 7)}])
@pytest.mark.parametrize("how", ["solved", "prepared"])
def test_a_run_that_is_stiff_from_the_start_is_that_of_the_implicit_method(how, options) -> None:
    auto, plain = (
        herk.solve_dae(relaxation(ALWAYS), method=method, **TOLERANCES, **options)
        if how == "solved"
        else herk.prepare(relaxation(ALWAYS), method=method, **TOLERANCES, **options).solve()
        for method in ("auto", "radau5")
    )
    assert used(auto) == ["radau5"]
    assert "stability" in auto.methods[0].why
    assert auto.method == "auto"
    assert np.array_equal(auto.t, plain.t)
    assert np.array_equal(auto.y, plain.y)
    assert auto.nstep == plain.nstep
    assert auto.nfev > plain.nfev  # what it took to see that is counted too


@pytest.mark.parametrize(
    ("name", "rtol"),
    [
        ("transistor_amplifier", 1e-4),
        ("transistor_amplifier", 1e-6),
        ("time_varying", 1e-6),
        ("time_varying", 1e-8),
    ],
)
def test_where_explicit_steps_are_dear_the_implicit_method_begins(name, rtol) -> None:
    """Solving for exponentials, or a scaled system for y', in every stage; real times are 4 to 1 and more."""
    sol = herk.solve_dae(testset.get(name), rtol=rtol, atol=rtol)
    assert used(sol) == ["radau5"]
    assert "times the work" in sol.methods[0].why


def test_dear_explicit_steps_begin_where_implicit_ones_would_be_many_times_shorter() -> None:
    """At 1e-12, 48 explicit steps beside 393 implicit ones, each of which takes a quarter of the time."""
    sol = herk.solve_dae(testset.get("time_varying"), rtol=1e-12, atol=1e-12)
    assert used(sol) == ["dop853"]


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6])
def test_a_short_run_takes_the_method_whose_steps_cost_less_in_all(tolerance) -> None:
    """Akzo by both methods, operations counted after the runs: 0.3 and 0.6 of the explicit ones."""
    problem, given = testset.get("akzo"), {"rtol": tolerance, "atol": tolerance}
    by_dop853, by_radau5 = (
        herk.solve_dae(problem, method=method, **given) for method in ("dop853", "radau5")
    )
    run = started(request(problem.model, None, None, "auto", OPTIONS | given, {}))
    work = work_of(run.request, run.machine)
    explicit, implicit = (
        count({name: getattr(sol, name) for name in ("nfev", "ngev", "njev", "nlu", "nit")}, sol.nstep)
        for count, sol in ((work.explicit, by_dop853), (work.implicit, by_radau5))
    )
    cheaper = "radau5" if implicit < explicit else "dop853"
    assert used(herk.solve_dae(problem, **given)) == [cheaper]


def test_a_fast_oscillation_is_not_taken_for_decay() -> None:
    """300 periods ask for more than 600 steps of any method; eigenvalues are +-i, and -0.5 +- i."""
    for damping in (0.0, 1.0):
        f = ["v", f"-x - {damping}*v + cos(t)"]
        model = Model("oscillator", ["x", "v"], [[1, 0], [0, 1]], f, t_span=(0, 2000), y0=(1, 0))
        assert used(herk.solve_dae(model, **TOLERANCES)) == ["dop853"]


def test_decay_as_slow_as_the_solution_itself_is_not_stiffness() -> None:
    """y = cos t with the rate 2 to t = 1e5: explicit steps are as short as accuracy asks for."""
    model = relaxation("2", 1e5)
    auto, implicit = (herk.solve_dae(model, method=method, **TOLERANCES) for method in ("auto", "radau5"))
    assert used(auto)[-1] == "dop853"
    assert np.count_nonzero(auto.t <= auto.methods[-1].t) < 0.01 * implicit.nstep


def test_what_is_decided_does_not_depend_on_runs_before(monkeypatch) -> None:
    """Solved for y the constraint is a formula, solved for x it takes Newton: each start has its own work."""
    seen: list[Work] = []
    monkeypatch.setattr(choice, "work_of", lambda *given: seen.append(work_of(*given)) or seen[-1])

    def works(factor: str, starts: list[tuple[float, float]]) -> list[Work]:
        """Return what is counted from these starts, in code of its own, since no other has this factor."""
        f = ["-x - y", f"{factor}*x**3 + y - c"]
        for x, y in starts:
            values = {"c": float(factor) * x**3 + y}
            model = Model(
                "two", ["x", "y"], [[1, 1], [0, 0]], f, parameters=values, t_span=(0, 0.1), y0=(x, y)
            )
            herk.solve_dae(model)
        return seen[-len(starts) :]

    steep, flat = (2.0, 1.0), (0.01, 1.0)
    one, other = works("1.25", [steep, flat]), works("1.75", [flat, steep])
    assert one == other[::-1]
    assert one[0] != one[1]


def test_a_change_is_told_in_the_summary() -> None:
    sol = herk.solve_dae(relaxation(), method="auto", **TOLERANCES)
    assert "auto: dop853 from t = 0, radau5 from t =" in sol.summary()


def test_the_explicit_method_comes_back_where_it_is_stable_again() -> None:
    """The rate falls from 1e5 to 1 around t = 5; later the explicit method needs fewer operations."""
    model = relaxation("1 + 1e5/(1 + exp(20*(t - 5)))", 2000.0)
    sol = herk.solve_dae(model, method="auto", **TOLERANCES)
    assert sol.success, sol.message
    assert used(sol) == ["radau5", "dop853"]
    assert sol.methods[1].t > 5.0
    assert "stable again" in sol.methods[1].why
    assert np.abs(sol.y[0] - np.cos(sol.t)).max() < CLOSE
    stiff, alone = (herk.solve_dae(model, method=method, **TOLERANCES) for method in ("radau5", "dop853"))
    assert sol.nstep < min(stiff.nstep, alone.nstep)


def test_dense_output_and_t_eval_know_nothing_of_a_change() -> None:
    times = np.linspace(0.0, 20.0, 1001)
    sol = herk.solve_dae(relaxation(), method="auto", dense_output=True, **TOLERANCES)
    assert used(sol) == ["dop853", "radau5"]
    changed = sol.methods[1].t
    near = changed + np.array([-5e-4, -1e-6, 0.0, 1e-6, 5e-4])
    for at in (times, near):
        assert np.abs(sol(at)[0] - np.cos(at)).max() < CLOSE
        assert np.abs(sol(at)[1] - 2 * sol(at)[0]).max() < 1e-14
    for wanted in (times, np.array([changed]), np.array([0.5 * changed, changed, 20.0])):
        sampled = herk.solve_dae(relaxation(), method="auto", t_eval=wanted, **TOLERANCES)
        assert np.array_equal(sampled.t, wanted)
        assert np.abs(sampled.y[0] - np.cos(wanted)).max() < CLOSE
    assert (np.diff(sol.t) > 0).all()


def test_events_are_found_once_across_a_change() -> None:
    changed = herk.solve_dae(relaxation(), method="auto", **TOLERANCES).methods[1].t

    def crossing(t, y):
        return y[0]

    def at_the_change(t, y):
        return t - changed

    sol = herk.solve_dae(relaxation(), method="auto", events=[crossing, at_the_change], **TOLERANCES)
    zeros = np.pi / 2 + np.pi * np.arange(6)
    assert sol.t_events[0] == pytest.approx(zeros, abs=CLOSE)
    assert sol.t_events[1] == pytest.approx([changed], abs=1e-14)
    crossing.terminal = 3
    sol = herk.solve_dae(relaxation(), method="auto", events=crossing, **TOLERANCES)
    assert sol.t_events[0] == pytest.approx(zeros[:3], abs=CLOSE)
    assert sol.t[-1] == sol.t_events[0][-1]


def test_a_run_backwards_changes_too() -> None:
    """Backwards, the rate must have the other sign for y to be attracted."""
    f = [f"({RATE.format(t='(-t)')})*(y - cos(t)) - sin(t)"]
    model = Model("backwards", ["y"], [[1]], f, t_span=(0, -20), y0=(1.0,))
    sol = herk.solve_dae(model, method="auto", **TOLERANCES)
    assert used(sol) == ["dop853", "radau5"]
    assert np.abs(sol.y[0] - np.cos(sol.t)).max() < CLOSE
    assert sol.t[-1] == -20.0


def test_breakpoints_are_passed_with_the_method_in_use() -> None:
    model = relaxation()
    sol = herk.solve_dae(model, method="auto", breakpoints=[5.0, 10.0], **TOLERANCES)
    assert used(sol) == ["dop853", "radau5"]
    assert np.abs(sol.y[0] - np.cos(sol.t)).max() < CLOSE


def test_callables_change_as_models_do() -> None:
    def f(t, y):
        return np.array([-1e5 * (y[0] - np.cos(t)) - np.sin(t)])

    dae = called_back(herk.Dae(E=np.eye(1), f=f, n=1))
    sol = herk.solve_dae(dae, (0.0, 20.0), [1.0], method="auto", **TOLERANCES)
    assert used(sol) == ["dop853", "radau5"]
    assert np.abs(sol.y[0] - np.cos(sol.t)).max() < CLOSE


def test_a_method_that_cannot_begin_leaves_the_run_to_the_other_one(monkeypatch) -> None:
    def refuse(*_):
        raise InputError("not here")

    monkeypatch.setattr(start.radau, "ready", refuse)
    model = relaxation(f"0.3*({LATE})", 3.0)
    sol = herk.solve_dae(model, method="auto", dense_output=True, **TOLERANCES)
    assert sol.success, sol.message
    assert used(sol) == ["dop853", "radau5", "dop853"]
    assert "cannot begin" in sol.methods[2].why
    assert np.abs(sol.y[0] - np.cos(sol.t)).max() < CLOSE


def test_a_prepared_run_changes_in_the_same_way_every_time() -> None:
    prepared = herk.prepare(relaxation(), method="auto", **TOLERANCES)
    first, second = prepared.solve(), prepared.solve()
    assert used(first) == used(second) == ["dop853", "radau5"]
    assert np.array_equal(first.t, second.t)
    assert np.array_equal(first.y, second.y)


def test_fixed_steps_are_made_with_the_explicit_method_alone() -> None:
    sol = herk.solve_dae(testset.get("pendulum"), method="auto", step=0.01)
    assert used(sol) == ["dop853"]
    assert sol.methods[0].why == "asked for"


def test_limits_hold_across_a_change() -> None:
    sol = herk.solve_dae(relaxation(), method="auto", max_steps=40, **TOLERANCES)
    assert sol.reason is herk.Reason.MAX_STEPS
    assert sol.nstep == 40
    assert used(sol) == ["dop853", "radau5"]


def test_the_dominating_eigenvalue_is_seen_at_the_edge_of_stability() -> None:
    """-1 and -1000: steps of 6.3/1000 excite the second one, whatever the first does."""
    model = Model("two", ["x", "z"], [[1, 0], [0, 1]], ["-x", "-1000*(z - x)"], t_span=(0, 5), y0=(1, 0))
    options = OPTIONS | {"rtol": 1e-5, "atol": 1e-5}
    run = started(request(model, None, None, "auto", options, {}))
    run.machine.state.worth = 1e300  # nobody is asked
    run.go()
    assert run.machine.state.fastest == pytest.approx(1000.0, rel=0.05)


@pytest.mark.parametrize("name", ["dopri5", "dop853", "tsit5"])
def test_the_bound_of_stability_holds_in_every_direction_of_decay(name) -> None:
    tableau = herk.METHODS[name]
    limit = bound(tableau)
    assert 0.0 < limit <= real_bound(tableau) + 0.02
    A, b = np.asarray(tableau.A, float), np.asarray(tableau.b, float)
    for angle in np.deg2rad([93, 120, 150, 180]):
        z = 0.99 * limit * np.exp(1j * angle)
        assert abs(1 + z * b @ np.linalg.solve(np.eye(len(b)) - z * A, np.ones(len(b)))) <= 1 + 1e-9


def test_operations_of_generated_code_are_counted_by_function() -> None:
    text = (
        "def complete(t):\n    a = b*c + exp(d)\n    solve_leveled(work, 3)\n\ndef rate(t):\n    a = b - c\n"
    )
    assert costs_of(text) == (2 + 20 + 27, 1, (2 + 20 + 1) / 2)


def test_a_system_for_slopes_is_counted_with_its_scaling() -> None:
    """Four times a root for each of 6 + 4 lines, and twice 4 operations for an entry; then 2 * 6 * 4**2."""
    text = "def rate(t):\n    if solve_stacked(work[:24], 6, 4, work[24:30], work[30:]) == 0.0:\n        return\n"
    assert costs_of(text)[1] == 4 * (10 * 20 + 2 * 4 * 24) + 192


@pytest.mark.parametrize("stages", [3, 5, 7])
def test_linear_algebra_of_any_number_of_stages_is_that_of_a_real_and_the_complex_matrices(stages) -> None:
    """A complex product and sum are eight real operations, a real one two: factors take (2 or 8)/3 n^3.

    Those along a row are done many at once, which leaves one for each row that is begun: n^2/2 in factors,
    4 n in two triangles and two changes of basis.
    """
    n, pairs = 30, (stages - 1) // 2
    work = Work(n, 0.0, 0.0, 0.0, stages)
    factors = work.linear({"nlu": 1 + pairs, "nit": 0})
    rows = (1 + pairs) * A_ROW
    assert factors == pytest.approx((2 / 3 + pairs * 8 / 3) * n**3 / LANES + rows * n**2 / 2)
    iteration = work.linear({"nlu": 0, "nit": 1})
    assert iteration == pytest.approx(2 * (2 + 8 * pairs) * n**2 / LANES + rows * 4 * n)
    assert work.expected() >= Work(n, 0.0, 0.0, 0.0).expected()


@pytest.mark.parametrize(("accurate", "longer"), [(0.15, 1.5), (0.0, INFINITE)])
def test_how_long_explicit_steps_were_beside_implicit_ones_is_remembered(accurate, longer) -> None:
    """Where stability did not limit them; where it did, it may allow longer ones later.

    On the wheelset, whose forces have kinks at which steps of any order are short, they were expected to be
    three times as long again and again.
    """
    explicit, asked = herk.METHODS["dop853"], request(relaxation("2", 1e6), None, None, "radau5", OPTIONS, {})
    work = Work(3, 0.0, 10.0, 10.0)
    calls = iter(range(32, 1 << 20, 32))
    machine = SimpleNamespace(loop=SimpleNamespace(h_tried=0.001), fastest=lambda: 0.01)
    machine.counts = lambda: dict.fromkeys(choice.EXPECTED, next(calls))
    costs = work, choice.guessed(work, explicit.stages)
    plan = Plan(explicit, trial=True, pace=1e-9, cost=10.0, accurate=accurate, costs=costs)
    chooser, change, steps = choice.Chooser(asked, machine, plan), None, 0
    while change is None:
        steps += 32
        change = chooser.look(0.1 * steps, steps, limited=False)
    assert chooser.longer == pytest.approx(longer)
    assert change.plan.longer == pytest.approx(longer)


def test_steps_at_their_present_length_decide_not_those_of_easier_times() -> None:
    """A million explicit steps lead to the end; most of the way to the change none is limited."""
    sol = herk.solve_dae(relaxation(LATE.replace("(1 - t)", "(15 - t)"), 100.0), **TOLERANCES)
    explicit = np.count_nonzero(sol.t <= sol.methods[1].t)
    assert used(sol) == ["dop853", "radau5"]
    assert explicit < 0.5 * len(sol.t)


def test_stability_is_suspected_before_it_is_the_only_limit() -> None:
    problem = testset.get("rectifier")
    auto, implicit = (
        herk.solve_dae(problem, method=method, rtol=1e-8, atol=1e-8) for method in ("auto", "radau5")
    )
    assert auto.nstep < 1.5 * implicit.nstep


@pytest.mark.parametrize(("t_end", "estimated"), [(10.0, False), (10000.0, True)])
def test_eigenvalues_are_estimated_only_where_enough_steps_are_left_for_a_change(t_end, estimated) -> None:
    model = Model("spring", ["x", "v"], [[1, 0], [0, 1]], ["v", "-7.25*x"], t_span=(0, t_end), y0=(1, 0))
    run = started(request(model, None, None, "auto", OPTIONS, {}))
    run.go()
    assert run.request.plan is not None
    assert (run.machine.state.fastest > 0.0) is estimated
