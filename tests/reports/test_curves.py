"""Medians over a decade, and the work that an error costs."""

from __future__ import annotations

import numpy as np
import pytest

from reports import contents
from reports.curves import decades, medians, work_at, work_table
from tests.reports.conftest import TOLERANCES, run, sweep


def frame(rows):
    return contents.sort(rows).runs


def test_a_decade_holds_its_loosest_tolerance_and_not_its_tightest():
    assert decades(np.array([1e-4, 10**-4.25, 10**-4.75, 1e-5, 10**-5.25])).tolist() == [4, 4, 4, 5, 5]


def test_a_lone_tolerance_at_the_end_joins_the_decade_before():
    assert decades(np.array(TOLERANCES)).tolist() == [*np.repeat(range(3, 11), 4), 10]
    assert decades(np.array([1e-4, 1e-5, 1e-6])).tolist() == [4, 5, 6]


def test_medians_are_those_of_the_logarithms_with_the_range_beside():
    curve = medians(frame(sweep("herk_dop853", "overdetermined", 8, 1e-5, 1.0)), "time", "mixed")
    assert curve.places.tolist() == list(range(3, 11))
    assert curve.runs.tolist() == [4] * 7 + [5]
    assert curve.error[0] == pytest.approx(10**-3.375)  # between 10^-3.25 and 10^-3.5
    assert (curve.low[0], curve.high[0]) == pytest.approx((10**-3.75, 1e-3))
    assert curve.error[-1] == pytest.approx(10**-10.5)
    assert curve.cost[0] == pytest.approx(1e-5 * 10 ** (3.375 / 8))


def test_one_wild_run_does_not_move_the_median_by_a_decade():
    rows = sweep("herk_dop853", "overdetermined", 8, 1e-5, 1.0)
    wild = [{**row, "mescd": 0.0} if row["rtol"] == pytest.approx(1e-5) else row for row in rows]
    assert medians(frame(wild), "time", "mixed").error[2] < 10 ** (-5.375 + 0.5)


@pytest.mark.parametrize("error", [1e-4, 3e-6, 1e-8])
def test_work_at_an_error_follows_the_power_law_of_the_runs(error):
    curve = medians(frame(sweep("herk_dop853", "overdetermined", 8, 1e-5, 1.0)), "time", "mixed")
    assert work_at(curve, error) == pytest.approx(1e-5 * error ** (-1 / 8))


def test_an_error_never_reached_has_no_work_and_one_always_reached_the_least():
    curve = medians(frame(sweep("herk_dop853", "overdetermined", 8, 1e-5, 1.0)), "time", "mixed")
    assert work_at(curve, 1e-12) is None
    assert work_at(curve, 1.0) == curve.cost.min()


def test_failed_runs_and_runs_without_error_count_for_nothing():
    rows = [run(rtol=1e-4, status="failed", mescd=9.0, cpu_min=1.0), run(rtol=1e-5, cpu_min=1.0)]
    assert len(medians(frame(rows), "time", "mixed")) == 0
    assert work_table(frame(rows), (1e-4,))[1e-4].isna().all()


def test_survivors_do_not_speak_for_a_decade_in_which_most_runs_failed():
    rows = [
        run(rtol=10 ** (-4 - k / 4), status="ok" if k < 1 else "failed", mescd=4.0, cpu_min=1.0)
        for k in range(4)
    ]
    rows += [
        run(rtol=10 ** (-5 - k / 4), status="ok" if k < 2 else "failed", mescd=5.0, cpu_min=2.0)
        for k in range(4)
    ]
    curve = medians(frame(rows), "time", "mixed")
    assert curve.places.tolist() == [5]
    assert work_at(curve, 1e-4) == pytest.approx(2.0)


def test_an_error_of_zero_is_a_tiny_one():
    assert medians(
        frame([run(rtol=1e-4, mescd=4.0, error_end=0.0, cpu_min=1.0)]), "time", "error_end"
    ).error.tolist() == [1e-18]
