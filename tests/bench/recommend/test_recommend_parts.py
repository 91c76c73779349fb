"""The parts of an inquiry on examples with known answers: switches, flow, agreement, ranking, evidence."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import baselines
import herk
from baselines.flow import Flow
from herk.bench.agreement import agree, kind
from herk.bench.plugins import from_model
from herk.bench.recommend import advice, evidence
from herk.bench.recommend.advice import cure
from herk.bench.recommend.answer import HEAD, cells
from herk.bench.recommend.candidates import candidates, referees
from herk.bench.recommend.clock import SOLVING, Clock
from herk.bench.recommend.examine import Facts, decay, examine, explore, grid
from herk.bench.recommend.inquiry import recommend, tolerances
from herk.bench.recommend.rank import GIVEN_UP, Measured, Row, Trial, choose, ranking, reached
from herk.bench.recommend.switching import Switch, switches
from herk.bench.recommend.trial import Run
from herk.core import InputError, Reason

FACTS = Facts("m", "model", "model", ("x",), (0.0, 1.0), 3, 3, (), (), (), (1.0,), 1.0, 10.0, (0.5, 1.0))


def run(solver="herk_dop853", form="overdetermined", rtol=1e-6, values=(1.0,), **fields) -> Run:
    return Run(
        solver,
        form,
        rtol,
        Reason.FINISHED,
        y=np.array([values]),
        **{"seconds": 1.0, "nstep": 10, "drift": 0.0, **fields},
    )


def trial(solver: str, errors: dict[float, float], seconds: float = 1.0, **fields) -> Trial:
    runs = tuple(
        Measured(run(solver, rtol=rtol, seconds=seconds, **fields), error)
        for rtol, error in sorted(errors.items(), reverse=True)
    )
    return Trial((solver, "overdetermined"), runs)


def model(*f: str, y0=(1.0, 0.0), t_span=(0.0, 4.0)) -> herk.Model:
    return herk.Model("m", ["x", "v"], np.eye(2), f, t_span=t_span, y0=y0)


@pytest.mark.parametrize(("force", "times"), [
    ("Piecewise((1, t < 1.25), (2, True))", [1.25]),
    ("Heaviside(t - 2)", [2.0]),
    ("Abs(sin(pi*t/2))", [2.0]),
    ("Max(t, 3)", [3.0]),
    ("floor(t)", [1.0, 2.0, 3.0]),
    ("x*ceiling(2*t - 1/2)", [0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75]),
    ("Mod(t, 1.5)", [1.5, 3.0]),
    ("sin(t)", None),
])  # fmt: skip
def test_switches_in_time_are_found_exactly(force, times):
    found = switches(model("v", force), np.array([0.0, 4.0]), np.zeros((2, 2)))
    if times is None:
        assert found == ()
    else:
        assert found[0].timed
        np.testing.assert_allclose(found[0].times, times, rtol=1e-14)


def test_switches_by_the_state_are_found_along_the_trajectory():
    t = np.linspace(0.0, 4.0, 200)
    [found] = switches(model("v", "-x - v*Abs(v)"), t, np.array([np.cos(t), -np.sin(t)]).T)
    assert not found.timed
    np.testing.assert_allclose(found.times, [math.pi], atol=1e-3)  # where v = -sin t changes sign


def test_flow_follows_the_exact_solution_and_computes_multipliers():
    circle = herk.Model(
        "c",
        ["x", "y", "v", "w", "l"],
        np.diag([1, 1, 1, 1, 0]),
        ["v", "w", "-2*x*l", "-2*y*l", "x**2 + y**2 - 1"],
        t_span=(0.0, 3.0),
        y0=(1, 0, 0, 1, None),
    )
    problem = from_model(circle)
    np.testing.assert_allclose(problem.y0[4], 0.5)
    _, t, y = explore(problem)
    exact = np.array([np.cos(t), np.sin(t), -np.sin(t), np.cos(t), np.full_like(t, 0.5)]).T
    np.testing.assert_allclose(y, exact, atol=1e-4)


@pytest.mark.parametrize("unit", [1e-12, 1e9])
def test_a_trajectory_is_explored_in_any_unit(unit: float) -> None:
    """x = unit cos(t): an absolute tolerance of 1e-9 would let it stay where it is."""
    _, t, y = explore(from_model(model("v", "-x", y0=(unit, 0.0))))
    assert t[-1] == 4.0
    np.testing.assert_allclose(y[:, 0] / unit, np.cos(t), atol=1e-4)


def test_a_model_in_odd_units_is_well_posed(tmp_path: Path) -> None:
    """x' = -x, 0 = x - z with x and z in units of 1e-2 and 1e16: [E; dg/dy] is regular in any of them."""
    path, sent = tmp_path / "units.py", []
    path.write_text(
        "import herk\n"
        "rows = ['-x', '1e2*x - 1e-16*z']\n"
        "model = herk.Model('u', ['x', 'z'], [[1, 0], [0, 0]], rows, t_span=(0, 1), y0=[1e-2, 1e16])\n"
    )
    examine(lambda *message: sent.append(message), str(path))
    (kind_of, found) = sent[0]
    assert kind_of == "facts", found
    assert found.sizes[1] == pytest.approx(1e16)


def test_decay_is_the_eigenvalue_and_stability_counts_its_steps():
    problem = from_model(
        herk.Model(
            "d", ["x", "z"], np.diag([1, 0]), ["-1000*z + cos(t)", "x - z"], t_span=(0.0, 2.0), y0=(0.0, 0.0)
        )
    )
    flow, t, y = explore(problem)
    assert isinstance(flow, Flow)
    fastest, steps = decay(flow, t, y, np.array([1.0, 1.0]))
    assert fastest == pytest.approx(1000.0, rel=1e-5)
    assert steps == pytest.approx(2000.0 / 3.3, rel=1e-3)


def test_growth_is_no_decay():
    flow, t, y = explore(from_model(model("v", "x")))  # eigenvalues 1 and -1
    assert decay(flow, t, y, np.array([1.0, 1.0]))[0] == pytest.approx(1.0, rel=1e-4)


def test_jump_in_the_state_is_no_decay():
    """Dry friction: x'' = -x - sign(x')/5 has eigenvalues +-i wherever it is smooth.

    At the start x' = 0 it is not.
    """
    flow, t, y = explore(from_model(model("v", "-x - 0.2*sign(v)")))
    assert flow.decay(t[0], y[0], np.array([1.0, 1.0])) > 1e5
    assert decay(flow, t, y, np.array([1.0, 1.0])) == pytest.approx((0.0, 0.0), abs=1e-4)


def test_grid_avoids_jumps_and_ends_at_the_end():
    times = np.array(grid((0.0, 4.0), (1.0,)))
    assert times[-1] == 4.0
    assert np.abs(times - 1.0).min() > 0.003
    assert (np.diff(times) > 0).all()
    assert grid((4.0, 0.0))[-1] == 0.0


def test_reference_needs_two_solvers_that_share_neither_method_nor_library():
    origins = {
        "a": ("explicit", "ours"),
        "b": ("explicit", "theirs"),
        "c": ("implicit", "theirs"),
        "d": ("implicit", "third"),
    }

    def apart(first, second):
        return not set(origins[first]) & set(origins[second])

    near, far = run("a"), run("d", values=(1.0 + 1e-9,))
    assert agree([near, run("b")], [1.0], apart) is None
    assert agree([run("b"), run("c")], [1.0], apart) is None
    found = agree([near, run("c", values=(1.1,)), far], [2.0], apart)
    assert (found.first, found.second) == (near, far)
    assert found.digits[0] == pytest.approx(9.3, abs=0.01)


def test_kinds_of_method_are_told_apart():
    assert [kind(name) for name in ("herk_dopri5", "scipy_bdf", "scipy_radau")] == [
        "explicit",
        "multistep",
        "implicit one-step",
    ]


def test_one_lucky_run_does_not_count():
    lucky = trial("herk_dop853", {1e-4: 1e-7, 1e-5: 1e-4, 1e-6: 1e-7, 1e-7: 1e-8})
    assert reached(lucky, 1e-6).run.rtol == 1e-6
    assert reached(trial("herk_dop853", {1e-4: 1e-7, 1e-5: 1e-4}), 1e-6) is None


def test_tighter_run_that_was_cut_off_takes_nothing_back():
    good = trial("scipy_radau", {1e-6: 1e-7, 1e-7: 1e-8})
    late = Measured(replace(run("scipy_radau", rtol=1e-8), reason=Reason.TIME_LIMIT), math.inf)
    failed = Measured(replace(run("scipy_radau", rtol=1e-8), reason=Reason.STEP_UNDERFLOW), math.inf)
    assert reached(replace(good, runs=(*good.runs, late)), 1e-6).run.rtol == 1e-6
    assert reached(replace(good, runs=(*good.runs, failed)), 1e-6) is None


def test_solver_given_up_after_it_reached_the_accuracy_is_ranked_without_blame():
    [row] = ranking([replace(trial("scipy_rk45", {1e-6: 1e-8}), note=f"{GIVEN_UP} too slow")], 1e-6)
    assert (row.rank, row.note) == (1, "")


def test_without_constraints_there_is_no_drift_to_show():
    [row] = ranking([trial("scipy_rk45", {1e-6: 1e-8}, drift=math.nan)], 1e-6)
    assert cells(row)[HEAD.index("max |g|")] == "-"


def test_ranking_is_by_time_and_keeps_those_that_fall_short():
    rows = ranking(
        [trial("slow", {1e-6: 1e-8}, 5.0), trial("short", {1e-6: 1e-3}), trial("fast", {1e-6: 1e-8}, 2.0)],
        1e-6,
    )
    assert [(row.solver, row.rank) for row in rows] == [("fast", 1), ("slow", 2), ("short", None)]
    assert "does not reach" in rows[2].note


def test_herk_is_chosen_for_restarts_unless_it_is_too_slow():
    def row(solver: str, rank: int, seconds: float) -> Row:
        return Row(solver, "overdetermined", rank, 1e-6, 1e-7, seconds, 1, 1, 0.0, 0.0)

    rows = [row("radau5", 1, 1.0), row("herk_dop853", 2, 2.0)]
    assert choose(rows, restarts=False) is rows[0]
    assert choose(rows, restarts=True) is rows[1]
    assert choose([row("radau5", 1, 1.0), row("herk_dop853", 2, 4.0)], restarts=True).solver == "radau5"
    assert choose([], restarts=True) is None


@pytest.mark.parametrize(
    ("solver", "words"),
    [("herk_dop853", "as the code below does"), ("radau5", "the code below steps across it")],
)
def test_advice_on_a_switch_says_what_the_code_does(solver, words):
    facts = Facts(**{**FACTS.__dict__, "switches": (Switch("t - 0.7", True, (0.7,)),)})
    [said] = advice.switches(facts, (), Row(solver, "overdetermined", 1, 1e-6, 1e-7, 1.0, 1, 1, 0.0, 0.0))
    assert "not smooth at t = 0.7" in said
    assert words in said
    assert "below" not in advice.switches(facts, (), None)[0]


def tags(name: str) -> frozenset[str]:
    return frozenset({"explicit" if name.startswith("herk") else "implicit"})


@pytest.mark.parametrize(
    ("explicit", "stability", "verdict"),
    [
        (1000, 800.0, "stiff"),
        (150, 130.0, "mildly stiff"),
        (1000, 20.0, "not stiff"),
        (40, 800.0, "not stiff"),
        (None, 1e6, "stiff"),
    ],
)
def test_stiffness_needs_both_many_steps_and_eigenvalues_that_explain_them(explicit, stability, verdict):
    facts = Facts(**{**FACTS.__dict__, "stability_steps": stability})
    trials = [trial("radau", {1e-3: 1e-4}, nstep=50)]
    trials += [trial("herk_dopri5", {1e-3: 1e-4}, nstep=explicit)] if explicit else []
    assert evidence.stiffness(facts, trials, tags).verdict == verdict


def steps_around(jump: float | None, rtol: float, order: int = 5) -> np.ndarray:
    """Return times as a step size control makes them: steps of rtol^(1/order), at a jump down to rtol."""
    t = [0.0]
    while t[-1] < 4.0:
        smooth = rtol ** (1 / order)
        t.append(t[-1] + (smooth if jump is None else min(smooth, max(rtol, 0.5 * abs(t[-1] - jump)))))
    return np.array(t)


def test_steps_that_collapse_are_found_where_they_do():
    def at(jump):
        runs = [
            Measured(run("herk_dopri5", rtol=rtol, t=steps_around(jump, rtol)), 0.0)
            for rtol in (1e-4, 1e-6, 1e-9)
        ]
        return evidence.collapses([Trial(("herk_dopri5", "overdetermined"), tuple(runs))], lambda _: 5)

    assert at(None) == ()
    assert len(at(1.3)) == 1
    assert at(1.3)[0] == pytest.approx(1.3, abs=1e-3)


def test_drift_is_reported_only_where_constraints_drift():
    kept, lost = Measured(run(drift=1e-14), 0.0), Measured(run("scipy_radau", "ode", drift=1e-4), 0.0)
    assert evidence.drift([kept]) is None
    assert evidence.drift([kept, lost]).worst.solver == "scipy_radau"


def test_half_a_budget_is_gone_when_half_the_clock_is():
    clock = Clock(60.0 / SOLVING)
    assert clock.gone < 0.01
    clock.solving = 15.0
    assert clock.gone == pytest.approx(0.25, abs=0.01)
    clock.start -= 0.5 * 60.0 / SOLVING
    assert clock.gone == pytest.approx(0.5, abs=0.01)
    assert clock.part(0.06) == 3.6


def test_one_candidate_never_gets_all_the_time_that_is_left_and_none_gets_more_than_the_budget():
    clock = Clock(100.0)
    for used in (0.0, 50.0, 99.0):
        clock.start = time.monotonic() - used
        left = clock.deadline - time.monotonic()
        assert 0 < clock.patience - time.monotonic() < 0.5 * left
    clock.start -= 1000.0
    assert clock.patience <= time.monotonic()
    assert clock.left < 0


def test_tolerances_surround_the_error_with_two_tolerances_in_a_decade():
    assert tolerances(1e-6)[:3] == (1e-4, 3e-5, 1e-5)
    assert tolerances(1e-6)[-1] == 1e-11
    assert tolerances(1e-12)[-1] == 1e-13
    assert max(tolerances(0.5)) == 1e-2


def test_forms_a_model_cannot_have_are_not_tried_and_stiff_ones_begin_with_implicit_solvers():
    index1 = candidates(Facts(**{**FACTS.__dict__, "index": 1}))
    assert not {form for _, form in index1} & {"index2", "index3", "ggl", "baumgarte"}
    assert index1[0] == ("herk_dop853", "overdetermined")
    stiff = candidates(Facts(**{**FACTS.__dict__, "stability_steps": 1e6}))
    assert kind(stiff[0][0]) != "explicit"
    assert len(set(stiff)) == len(stiff)


def test_referees_take_the_model_and_two_implicit_ones_vouch_for_each_other_where_it_is_stiff():
    for index in (0, 1, 3):
        stiff = referees(Facts(**{**FACTS.__dict__, "index": index, "stability_steps": 1e6}))
        assert set(stiff) <= set(candidates(Facts(**{**FACTS.__dict__, "index": index})))
        implicit = [(kind(name), baselines.get(name).family) for name, _ in stiff if kind(name) != "explicit"]
        assert any(not set(a) & set(b) for a, b in combinations(implicit, 2))
        assert kind(stiff[-1][0]) == "explicit"


@pytest.mark.parametrize(("message", "words"), [
    ("row 5 (0 = x) follows from the other equations.", "redundant"),
    ("has no solution: 0 = a contradicts 0 = b", "exclude each other"),
    ("Row 0 of g contradicts E y' = f: along the flow", "Correct g"),
    ("z occurs in no equation.", "stands in no equation"),
    ("anything else", "no unique solution"),
])  # fmt: skip
def test_ill_posed_models_get_the_cure_that_fits(message, words):
    assert words in cure(message)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"error": 0.0}, "error must be"),
        ({"error": 2.0}, "error must be"),
        ({"budget": -1.0}, "budget"),
        ({"budget": np.inf}, "budget"),
    ],
)
def test_impossible_wishes_are_refused(tmp_path, arguments, words):
    with pytest.raises(InputError, match=words):
        recommend(tmp_path / "x.py", **arguments)
