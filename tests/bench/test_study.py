"""Studies are data: they survive TOML, mistakes in them are named.

And the command line chooses among all problems and solvers.
"""

from __future__ import annotations

import pytest

import baselines
import testset
from herk.bench import study, sweeps
from herk.bench.sweeps import Choice
from herk.core import InputError

SMALL = {
    "name": "small",
    "rtol": [1e-4, 1e-3],
    "case": [{"problem": "akzo", "solver": ["scipy_*"], "form": ["ode"]}],
}


@pytest.mark.parametrize("name", study.names())
def test_every_pattern_of_a_study_finds_something(name):
    for case in study.load(name).case:
        for patterns, known in ((case.problem, testset.names()), (case.solver, baselines.names())):
            for pattern in patterns:
                assert sweeps._chosen([pattern], known, "name")


def test_the_standard_studies_are_there_with_four_tolerances_per_decade():
    assert set(study.names()) >= {"work_precision", "convergence", "drift"}
    own = study.load("work_precision")
    assert (own.rtol[0], own.rtol[-1], len(own.rtol)) == (1e-3, 1e-12, 37)
    assert own.rtol[:5] == (1e-3, 5.623e-4, 3.162e-4, 1.778e-4, 1e-4)
    assert own.timed


def test_quick_replaces_what_it_names_and_is_smaller():
    for name in study.names():
        whole, short = (sweeps.expand(study.load(name, quick)) for quick in (False, True))
        assert 0 < sum(len(each.settings) for each in short) < sum(len(each.settings) for each in whole)


def test_steps_are_counted_over_the_span_and_doubled():
    own = study.parse({**SMALL, "rtol": [], "steps": {"from": 8, "to": 64}})
    sweep = sweeps.expand(own)[0]
    assert [setting.step for setting in sweep.settings] == [180 / 8, 180 / 16, 180 / 32, 180 / 64]
    assert {(setting.rtol, setting.atol) for setting in sweep.settings} == {(None, None)}


def test_loose_tolerances_come_first():
    assert study.parse(SMALL).rtol == (1e-3, 1e-4)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rtols": [1]}, "'rtols'.*'rtol'"),
        ({"case": [{"problem": "akzo", "solver": "x", "froms": 1}]}, "'froms'"),
        ({"case": [{"solver": "x"}]}, "needs problem and solver"),
        ({"case": [{"problem": 3, "solver": "x"}]}, "a list of names, not 3"),
        ({"case": []}, r"at least one \[\[case\]\]"),
        ({"steps": [8]}, "not both"),
        ({"rtol": []}, "needs tolerances"),
        ({"rtol": {"form": 1e-3}}, "'form'.*'from'"),
    ],
)
def test_a_mistake_in_a_study_is_named(changes, words):
    with pytest.raises(InputError, match=words):
        study.parse({**SMALL, **changes})


def test_an_unknown_study_and_a_broken_file_are_named(tmp_path):
    with pytest.raises(InputError, match="work_precision"):
        study.load("work_precison")
    (tmp_path / "bad.toml").write_text("title = [")
    for name in ("bad.toml", "absent.toml"):
        with pytest.raises(InputError, match=name):
            study.load(str(tmp_path / name))


def test_patterns_choose_and_strangers_are_added():
    own = study.parse(SMALL)
    solvers = {sweep.solver for sweep in sweeps.expand(own)}
    assert solvers == {name for name in baselines.names() if name.startswith("scipy_")}
    some = sweeps.expand(own, Choice(solver=("scipy_rk*",)))
    assert {(sweep.problem, sweep.solver, sweep.form) for sweep in some} == {("akzo", "scipy_rk45", "ode")}
    other = sweeps.expand(own, Choice(problem=("pend?lum",), solver=("scipy_rk45", "herk_rk4")))
    forms = {("scipy_rk45", "ode")} | {("herk_rk4", form) for form in baselines.get("herk_rk4").forms}
    assert {(sweep.problem, sweep.solver, sweep.form) for sweep in other} == {
        ("pendulum", *pair) for pair in forms
    }


def test_a_tag_chooses_problems():
    tagged = sweeps.expand(study.load("work_precision"), Choice(tag="chemistry"))
    assert {sweep.problem for sweep in tagged} == set(testset.names("chemistry"))


@pytest.mark.parametrize("choice", [Choice(problem=("pendulm",)), Choice(solver=("scipy_rad",))])
def test_a_pattern_without_a_match_is_an_error_with_the_nearest_names(choice):
    with pytest.raises(InputError, match=r"Did you mean '(pendulum|scipy_radau)'"):
        sweeps.expand(study.parse(SMALL), choice)


@pytest.mark.parametrize("installed", [True, False])
def test_a_stand_in_takes_part_only_where_the_solver_it_stands_in_for_is_missing(installed, monkeypatch):
    case = {"problem": "akzo", "solver": ["ida_scikits_jac"], "form": ["index1"]}
    more = {"stand_in": {"ida_scikits_jac": "ida_sundae_jac"}}
    own = study.parse({"name": "small", "rtol": [1e-4], "case": [case], **more})
    monkeypatch.setattr(
        type(baselines.get("ida_scikits_jac")), "available", lambda self: (installed, "not here")
    )
    more = [] if installed else ["ida_sundae_jac"]  # the missing one stays, as a row that says why
    assert [each.solver for each in sweeps.expand(own)] == ["ida_scikits_jac", *more]


def test_cases_are_run_on_every_place_unless_they_name_a_problem():
    cases = [
        {"solver": "scipy_rk45", "form": "ode"},
        {"solver": "herk_bs32", "form": "ode", "problem": "rlc"},
    ]
    places = [{"problem": "akzo", "rtol": [1e-3]}, {"problem": "pendulum", "changes": [{"t_end": 1.0}]}]
    found = sweeps.expand(study.parse({"name": "small", "rtol": [1e-4], "on": places, "case": cases}))
    assert [(each.problem, each.solver, each.changes, each.settings[0].rtol) for each in found] == [
        ("akzo", "scipy_rk45", "{}", 1e-3),
        ("pendulum", "scipy_rk45", '{"t_end":1.0}', 1e-4),
        ("rlc", "herk_bs32", "{}", 1e-4),
    ]


def test_a_tag_chooses_solvers_and_one_without_it_is_added_where_it_is_asked_for():
    own = study.parse(
        {"name": "small", "rtol": [1e-4], "case": [{"problem": "pendulum", "tag": "projected"}]}
    )
    tagged = {name for name in baselines.names() if "projected" in baselines.get(name).tags}
    assert {each.solver for each in sweeps.expand(own)} == tagged >= {"radau5_projected", "cvode_projected"}
    (added,) = sweeps.expand(own, Choice(solver=("herk_radau5",)))
    assert (added.solver, added.form) == ("herk_radau5", "overdetermined")


def test_counts_of_steps_between_doublings():
    own = study.parse({**SMALL, "rtol": [], "steps": {"from": 4, "to": 16, "per_doubling": 2}})
    assert own.steps == (4, 6, 8, 11, 16)


FIVE = ("pendulum", "wind_pendulum", "spring_chain", "cv_circuit", "akzo")
BASELINES = {
    ("herk_dop853", "overdetermined"),
    ("herk_dop853", "ode"),
    ("scipy_radau", "ode"),
    ("scipy_radau", "baumgarte"),
    ("scipy_lsoda", "ode"),
    ("scipy_dop853", "ode"),
    ("ida_scikits_jac", "index1"),
    ("ida_scikits_jac", "index2"),
    ("ida_scikits_jac", "ggl"),
    ("radau5", "index1"),
    ("radau5_projected", "index1"),
    ("casadi_idas", "index1"),
}


@pytest.mark.parametrize(("name", "problems"), [("work_precision", FIVE), ("drift", FIVE[:4])])
def test_every_baseline_asked_for_runs_on_each_of_the_five_problems(name, problems):
    asked = {(each.problem, each.solver, each.form) for each in sweeps.expand(study.load(name))}
    assert {(problem, *pair) for problem in problems for pair in BASELINES} <= asked


def test_radau_and_ida_through_scikits_odes_run_on_the_five_problems_in_a_quick_report_too():
    asked = {(each.problem, each.solver) for each in sweeps.expand(study.load("work_precision", quick=True))}
    assert {(problem, solver) for problem in FIVE for solver in ("scipy_radau", "ida_scikits_jac")} <= asked


def test_orders_are_measured_for_every_half_explicit_method_on_the_five_problems():
    asked = {(each.problem, each.solver) for each in sweeps.expand(study.load("convergence"))}
    methods = [name for name in baselines.names() if name.startswith("herk_")]
    assert {(problem, solver) for problem in FIVE for solver in (*methods, "radau_iia3")} <= asked
