"""Sentences that say what the records show, and no more."""

from __future__ import annotations

import pytest

from reports import contents, verdicts
from reports.curves import work_table
from reports.verdicts import Duel
from tests.reports.conftest import ladder

OURS = ("herk_dop853",)


def duels(rows, error=1e-6):
    return verdicts.duels(work_table(contents.sort(rows).ladders, (error,)), error, OURS)


def test_the_ratio_of_two_power_laws_is_that_of_their_constants():
    """Ours needs 1e-5 tol^(-1/8) s, the rival 24 times as much: at 1e-8 that is 100 µs against 2.4 ms."""
    rows = [*ladder("herk_dop853", "overdetermined", 8, 1e-5, 1.0), *ladder("scipy_lsoda", "ode", 8, 24e-5, 1.0)]
    (duel,) = duels(rows, 1e-8)
    assert duel.ratio == pytest.approx(1 / 24)
    assert verdicts.duel_words(duel) == (
        "herk_dop853 reaches an error of 1e-8 on pendulum in 1/24 of the time of scipy_lsoda · ode, "
        "the fastest rival (100 µs against 2.4 ms)."
    )


def test_a_rival_that_is_faster_is_said_to_be_faster():
    words = verdicts.duel_words(Duel("akzo", 1e-6, ("herk_dop853", 4e-4), ("scipy_lsoda", 1e-4)))
    assert words.startswith("scipy_lsoda reaches an error of 1e-6 on akzo in 1/4 of the time of herk_dop853")


def test_times_within_the_noise_are_called_level():
    duel = Duel("akzo", 1e-6, ("herk_dop853", 1.2e-4), ("scipy_lsoda", 1e-4))
    assert duel.outcome == "level"
    assert "about the same time" in verdicts.duel_words(duel)


@pytest.mark.parametrize(
    ("ours", "rival", "words"),
    [
        (("herk_dop853", 1.0), None, "no rival reaches it in these records, so there is no comparison"),
        (None, ("scipy_lsoda", 1.0), "none of ours reaches it in these records, so there is no comparison"),
        (None, None, "Nobody reaches"),
    ],
)
def test_where_one_side_is_missing_no_comparison_is_made(ours, rival, words):
    duel = Duel("akzo", 1e-6, ours, rival)
    assert duel.outcome == "no comparison"
    assert words in verdicts.duel_words(duel)


def test_a_form_that_is_slow_does_not_stand_for_its_solver():
    rivals = [*ladder("scipy_lsoda", "ode", 8, 1e-4, 1.0), *ladder("scipy_lsoda", "baumgarte", 8, 9e-4, 1.0)]
    rows = [*rivals, *ladder("herk_dop853", "overdetermined", 8, 2e-4, 1.0)]
    (duel,) = duels(rows)
    assert duel.rival[0] == "scipy_lsoda · ode"
    assert duel.ratio == pytest.approx(2.0)


def test_the_tally_counts_every_outcome_and_names_the_losses():
    found = [
        Duel("a", 1e-6, ("herk", 1.0), ("x", 8.0)),
        Duel("b", 1e-6, ("herk", 1.0), ("x", 1.0)),
        Duel("c", 1e-6, ("herk", 4.0), ("x", 1.0)),
        Duel("d", 1e-6, ("herk", 4.0), None),
    ]
    assert verdicts.tally(found) == (
        "At an error of 1e-6 ours is fastest on 1 of 3 problems, level on 1, behind on 1 (c); the median is 1.00 of the time of the "
        "fastest rival. No comparison is possible on d."
    )


def test_without_runs_the_tally_says_so():
    assert "cannot be compared" in verdicts.tally([])
    assert "no problem allows a comparison" in verdicts.tally([Duel("d", 1e-6, None, None)])
