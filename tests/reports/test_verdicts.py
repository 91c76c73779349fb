"""Verdicts say what the records show, and no more.

Nothing is concluded from a run that our own limit stopped.
"""

from __future__ import annotations

import pytest

from reports import contents, verdicts
from reports.claims import Claim
from reports.verdicts import Race
from tests.reports.conftest import TOLERANCES, run, sweep

MINE, OTHER = ("herk_dop853", "overdetermined"), ("scipy_lsoda", "ode")
STOPPED = {"status": "failed", "reason": "time_limit", "message": "Stopped after 10 s."}


def races(rows, *errors):
    found = contents.sort(rows)
    return verdicts.races(found.sweeps, errors or (1e-6,), found.group)


def race(mine, foreign, case="a", stopped=0, implicit=None, sooner=()):
    best = {"half-explicit": mine, "our implicit": implicit, "foreign": foreign}
    halted = {**dict.fromkeys(best, 0), "foreign": stopped}
    return Race(case, 1e-6, best, halted, dict.fromkeys(best, 1), {**dict.fromkeys(best), **dict(sooner)})


def test_the_ratio_of_two_power_laws_is_that_of_their_constants():
    """Ours needs 1e-5 tol^(-1/8) s, the rival 24 times as much: at 1e-8 that is 100 µs against 2.4 ms."""
    [found] = races([*sweep(*MINE, 8, 1e-5, 1.0), *sweep(*OTHER, 8, 24e-5, 1.0)], 1e-8)
    assert found.ratio == pytest.approx(1 / 24)
    assert (
        str(found.claim)
        == "Fastest to an error of 1e-8 on pendulum, group by group: half-explicit herk_dop853 in 100 µs;"
        " foreign scipy_lsoda · ode in 2.4 ms. The half-explicit one needs 1/24 of the time of the foreign one."
    )


def test_a_solver_that_is_faster_is_said_to_be_faster():
    assert race(("herk", 4e-4), ("lsoda", 1e-4)).outcome == "behind"
    assert str(race(("herk", 4e-4), ("lsoda", 1e-4)).claim).endswith(
        "The half-explicit one needs 4 times the time of the foreign one."
    )


def test_times_within_the_noise_are_called_level():
    assert race(("herk", 1.2e-4), ("lsoda", 1e-4)).outcome == "level"


def test_what_our_limit_stopped_is_open_and_not_a_defeat():
    assert race(("herk", 1.0), None, stopped=2).outcome == "open"
    assert "foreign: open, because our limit stopped 2 curves" in str(
        race(("herk", 1.0), None, stopped=2).claim
    )


def test_a_curve_without_a_tighter_tolerance_bounds_what_is_said_of_the_others():
    """LSODA ends at 1e-4 after 2 ms, Radau gets to 1e-6 in 1 s: 1/1000 of 1 s says nothing about LSODA."""
    found = race(("herk", 1e-3), ("radau", 1.0), sooner={"foreign": ("lsoda", 2e-3)})
    assert (found.ratio, found.outcome, found.bounded) == (0.5, "ahead", True)
    assert str(found.claim).endswith(
        "foreign radau in 1 s (lsoda ends above it after 2 ms). The half-explicit one needs at most 1/2 of the"
        " time of a foreign one."
    )
    assert race(("herk", 1e-3), ("radau", 1.0), sooner={"foreign": ("lsoda", 5e-4)}).outcome == "open"
    assert race(("herk", 2.0), ("radau", 1.0), sooner={"half-explicit": ("other", 0.1)}).outcome == "open"
    assert race(("herk", 2.0), ("radau", 1.0), sooner={"foreign": ("lsoda", 0.1)}).outcome == "behind"


def test_only_a_curve_that_ends_before_the_fastest_gets_there_counts_as_sooner():
    reaching = [*sweep(*MINE, 8, 1e-5, 1.0), *sweep(*OTHER, 8, 24e-5, 1.0)]
    short = [row for row in sweep("scipy_radau", "ode", 8, 30e-5, 1.0) if row["rtol"] >= 1e-5]
    [found] = races([*reaching, *short], 1e-8)
    last = 30e-5 * 10 ** (4.5 / 8)  # the median of its last decade, 1e-4 to 1e-5, is at 10^-4.5
    assert found.sooner["foreign"] == ("scipy_radau · ode", pytest.approx(last))
    assert last < found.best["foreign"][1] == pytest.approx(2.4e-3)
    dear = [row for row in sweep("scipy_radau", "ode", 8, 30e-4, 1.0) if row["rtol"] >= 1e-5]
    assert races([*reaching, *dear], 1e-8)[0].sooner["foreign"] is None


def test_where_one_side_alone_gets_there_that_is_said_of_either():
    assert race(("herk", 1.0), None).outcome == "alone"
    assert race(None, ("lsoda", 1.0)).outcome == "missed"
    assert race(None, None).outcome == "none"
    assert "foreign: none with the tolerances tried" in str(race(("herk", 1.0), None).claim)
    assert "half-explicit: none with the tolerances tried" in str(race(None, ("lsoda", 1.0)).claim)


def test_a_curve_with_a_stopped_run_that_gets_there_all_the_same_is_not_open():
    rows = [
        *sweep(*MINE, 8, 1e-5, 1.0),
        *sweep(*OTHER, 8, 1e-4, 1.0),
        run(solver="scipy_lsoda", form="ode", rtol=1e-12, **STOPPED),
    ]
    [found] = races(rows)
    assert (found.outcome, found.stopped["foreign"]) == ("ahead", 0)


def test_a_form_that_is_slow_does_not_stand_for_its_solver():
    rivals = [*sweep(*OTHER, 8, 1e-4, 1.0), *sweep("scipy_lsoda", "baumgarte", 8, 9e-4, 1.0)]
    [found] = races([*rivals, *sweep(*MINE, 8, 2e-4, 1.0)])
    assert found.best["foreign"][0] == "scipy_lsoda · ode"
    assert found.ratio == pytest.approx(2.0)


def test_our_radau5_is_neither_half_explicit_nor_foreign():
    rows = [
        *sweep("irk_radau5", "index1", 8, 1e-6, 1.0),
        *sweep(*MINE, 8, 1e-5, 1.0),
        *sweep(*OTHER, 8, 1e-4, 1.0),
    ]
    [found] = races(rows)
    assert found.best["our implicit"][0] == "irk_radau5 · index1"
    assert found.ratio == pytest.approx(0.1)


def test_the_control_without_constraints_does_not_race():
    rows = [
        *sweep(*MINE, 8, 1e-5, 1.0),
        *sweep("herk_dop853", "ode", 8, 1e-7, 1.0),
        *sweep(*OTHER, 8, 1e-4, 1.0),
    ]
    [found] = races(rows)
    assert found.best["half-explicit"][0] == "herk_dop853"


def test_the_tally_counts_every_outcome_and_names_the_losses():
    found = [
        race(("h", 1.0), ("x", 8.0), "a"),
        race(("h", 1.0), ("x", 1.0), "b"),
        race(("h", 4.0), ("x", 1.0), "c"),
        race(("h", 4.0), None, "d"),
        race(("h", 4.0), None, "e", stopped=1),
        race(None, ("x", 4.0), "f"),
        race(None, None, "g"),
    ]
    assert (
        str(verdicts.tally(found))
        == "At an error of 1e-6 a half-explicit method is faster than every foreign solver on 1 of 3"
        " problems on which both reach it, level on 1 (b), slower on 1 (c); in the median it needs 1.00 of"
        " the time of the fastest foreign one. With the tolerances tried only half-explicit methods reach"
        " it on d, only foreign solvers reach it on f and neither reach it on g. On e the runs"
        " that would decide are missing: our limit stopped them, or the tolerances tried end too early."
    )


def test_without_runs_the_tally_says_so():
    assert "cannot be compared" in str(verdicts.tally([]))
    assert "no problem allows a comparison" in str(verdicts.tally([race(None, None)]))


def test_a_stopped_run_is_told_apart_from_a_failed_one():
    rows = [
        run(rtol=1e-3, **STOPPED),
        run(rtol=1e-4, status="failed", reason="max_steps"),
        run(rtol=1e-5, status="failed", reason="newton"),
        run(rtol=1e-6, mescd=-1.0),
        run(rtol=1e-7, mescd=7.0),
        run(solver="ida", status="unavailable", reason="unavailable"),
    ]
    assert verdicts.endings(contents.sort(rows)).facts == {
        "runs": 5, "right": 1, "wrong": 1, "stopped": 2, "failed": 1, "solvers": 1, "problems": 1,
    }  # fmt: skip


def test_stiffness_is_claimed_from_a_measured_product_and_not_from_a_time_out():
    measured = {"h_lambda_bound": 3.3, "mescd": 5.0}
    rows = [
        *(run(problem="slow", rtol=rtol, **STOPPED) for rtol in TOLERANCES),
        run(problem="smooth", rtol=1e-6, h_lambda=0.2, **measured),
        run(problem="stiff", rtol=1e-3, h_lambda=3.2, **measured),
        run(problem="stiff", rtol=1e-6, h_lambda=1.7, **measured),
    ]
    claim = verdicts.stiff(contents.sort(rows))
    assert claim.facts == {"limited": [["stiff", "herk_dop853", 1e-3, 3.2, 3.3]], "measured": 3}
    assert (
        str(claim)
        == "Stability limits the steps of explicit methods on stiff (herk_dop853, rtol 1e-3: step times"
        " eigenvalue 3.2 of 3.3); measured on 3 runs."
    )
    assert isinstance(claim, Claim)


def test_tableaux_of_the_half_explicit_method_are_one_solver():
    rows = [
        run(rtol=1e-3, solver=name) for name in ("herk_dop853", "herk_dopri5", "scipy_lsoda", "scipy_radau")
    ]
    assert verdicts.endings(contents.sort(rows)).facts["solvers"] == 3
