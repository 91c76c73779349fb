"""Observed orders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from herk.bench import record
from reports import contents, orders, verdicts
from tests.reports.conftest import run

STEPS = np.array([1 / 2**k for k in range(2, 10)])


@pytest.mark.parametrize("order", [1, 2, 4, 5.5])
def test_the_order_of_a_power_of_the_step_is_its_exponent(order):
    assert orders.observed(STEPS, 3.0 * STEPS**order) == pytest.approx(order)


def test_the_order_shows_at_small_steps_although_large_ones_say_otherwise():
    assert orders.observed(STEPS, STEPS**2 + 100 * STEPS**4) == pytest.approx(2, abs=0.1)


def test_rounding_at_the_end_does_not_spoil_the_order():
    errors = np.maximum(STEPS**5, 3e-13)
    assert errors[-1] == 3e-13
    assert orders.observed(STEPS, errors) == pytest.approx(5)


def test_two_slopes_above_rounding_are_no_order():
    assert orders.observed(STEPS, np.array([1e-3, 1e-6, 1e-9, *[1e-16] * 5])) is None


def test_a_method_that_stalls_is_not_said_to_keep_its_order(found):
    assert orders.verdict(orders.observed(STEPS, np.maximum(STEPS**4, 1e-6)), 4.0) == "below"


def test_errors_that_fall_faster_than_the_order_do_not_show_it():
    assert orders.verdict(orders.observed(STEPS, STEPS**6.4), 5.0) == orders.FASTER
    assert orders.verdict(orders.observed(STEPS, STEPS**5.4), 5.0) == "kept"


def test_the_table_judges_each_group_for_itself(found):
    table = orders.table(found, orders.sweeps(found)).set_index(["method", "group"])
    assert table.loc[("herk_heun", "positions"), ["claimed", "observed", "verdict"]].tolist() == [
        2.0,
        pytest.approx(2.0),
        "kept",
    ]
    assert table.loc[("herk_heun", "multipliers"), ["claimed", "observed", "verdict"]].tolist() == [
        2.0,
        pytest.approx(1.0),
        "below",
    ]
    assert (table.loc["herk_rk4", "verdict"] == "kept").all()


def test_errors_over_time_go_before_errors_at_the_end(found):
    """The errors at the end in these records do not converge at all."""
    assert orders.groups(found.fixed)["all"] == "error_grid"


def test_one_lucky_error_where_the_sign_changes_does_not_spoil_the_order():
    errors = 3.0 * STEPS**5
    errors[4] /= 1000
    assert orders.observed(STEPS, errors) == pytest.approx(5, abs=0.01)


def test_errors_as_large_as_the_solution_are_not_yet_convergence():
    assert orders.observed(STEPS, np.array([9.0, 3.0, 1.0, 0.5, 1e-1, 1e-2, 1e-3, 1e-4])) == pytest.approx(
        np.log2(10)
    )


def test_what_the_constraints_alone_determine_has_no_order_and_spoils_none(found):
    sweep = orders.sweeps(found)[0]
    exact = replace(sweep, errors=np.full(len(sweep.steps), 1e-15))
    assert orders.table(found, [exact])["verdict"].tolist() == [orders.EXACT]
    both = orders.table(
        found, [replace(sweep, errors=sweep.steps**4, solver="herk_rk4"), replace(exact, solver="herk_rk4")]
    )
    assert verdicts.orders(both).facts["kept"] == 1


def test_the_verdict_counts_methods_on_problems_and_names_who_is_below_and_who_cannot_be_judged(found):
    table = orders.table(found, orders.sweeps(found))
    claim = verdicts.orders(table)
    assert claim.facts == {
        "problem": "",
        "kept": 1,
        "faster": 0,
        "below": ["herk_heun on pendulum"],
        "unjudged": [],
    }
    assert str(claim).startswith("The claimed order is observed in 1 of 2 cases")
    assert "Below it: herk_heun on pendulum." in str(claim)
    fast = table.assign(verdict=orders.FASTER)
    assert str(verdicts.orders(fast)).endswith(
        "In all others the error still falls faster where rounding ends it."
    )
    few = table.assign(verdict="too few steps above rounding")
    assert "Not to be judged, because too few steps lie above rounding: herk_heun on pendulum" in str(
        verdicts.orders(few)
    )


def test_an_implicit_method_is_shown_beside_without_a_claim():
    steps = [
        run(study="convergence", solver="radau_iia3", form="index1", step=h, error_grid=h**3) for h in STEPS
    ]
    about = record.make("solver", solver="radau_iia3", version="1", family="irk", order=5, tags=["implicit"])
    found = contents.sort([about, *steps])
    table = orders.table(found, orders.sweeps(found))
    assert table["verdict"].tolist() == ["no claim"]
    assert table["observed"].tolist() == [pytest.approx(3.0)]
