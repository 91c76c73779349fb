"""Observed orders."""

from __future__ import annotations

import numpy as np
import pytest

from reports import orders
from reports.verdicts import order_words

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


def test_the_table_judges_each_group_for_itself(found):
    table = orders.table(found, orders.ladders(found)).set_index(["method", "group"])
    assert table.loc[("herk_heun", "positions"), ["claimed", "observed", "verdict"]].tolist() == [2.0, pytest.approx(2.0), "kept"]
    assert table.loc[("herk_heun", "multipliers"), ["claimed", "observed", "verdict"]].tolist() == [2.0, pytest.approx(1.0), "below"]
    assert (table.loc["herk_rk4", "verdict"] == "kept").all()


def test_errors_over_time_go_before_errors_at_the_end(found):
    """The errors at the end in these records do not converge at all."""
    assert orders.groups(found.fixed)["all"] == "error_grid"


def test_the_verdict_names_who_is_below_its_order(found):
    lines = order_words(orders.table(found, orders.ladders(found)))
    assert lines[0].startswith("The claimed order is observed in 6 of 8 cases")
    assert "Below its order: herk_heun on pendulum, multipliers: observed 1.00, claimed 2." in lines
