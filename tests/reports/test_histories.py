"""Figures over time: what they draw of the series."""

from __future__ import annotations

import numpy as np
import pytest

from herk.reproductions.style import Look
from reports import histories

LOOK = Look("#000000", "o", (), ours=True)


def test_the_largest_deviation_so_far_grows_and_is_drawn_where_it_does():
    first = ([0.0, 1.0, 2.0, 3.0], [0.0, -1e-3, 5e-4, 2e-3])
    second = ([0.5, 2.5], [1e-4, 1.5e-3])
    t, values = histories.largest_so_far([first, second])
    assert t.tolist() == [0.0, 0.5, 1.0, 2.5, 3.0]
    assert values.tolist() == [histories.LEAST, 1e-4, 1e-3, 1.5e-3, 2e-3]


def test_a_deviation_that_stays_is_drawn_until_the_end():
    t, values = histories.largest_so_far([(list(range(100)), [1e-3] * 100)])
    assert t.tolist() == [0, 99]
    assert values.tolist() == [1e-3, 1e-3]


def test_what_is_no_number_is_no_deviation():
    _, values = histories.largest_so_far([([0.0, 1.0, 2.0], [1e-6, None, 1e-5])])
    assert values.tolist() == [1e-6, 1e-5]


def test_constraints_of_all_levels_and_every_invariant_have_a_panel():
    t = [0.0, 1.0]
    series = {
        "drift.level0": (t, [0.0, 1e-9]),
        "drift.level1": (t, [0.0, 1e-7]),
        "invariant.energy": (t, [0.0, -1e-5]),
    }
    figure = histories.kept([("ours", LOOK, series)])
    drawn = {axes.get_title(): axes.get_lines()[0].get_ydata()[-1] for axes in figure.axes}
    assert drawn == {"constraints": pytest.approx(1e-7), "energy": pytest.approx(1e-5)}
    assert all(np.all(line.get_ydata() > 0) for axes in figure.axes for line in axes.get_lines())


def test_without_constraints_and_invariants_there_is_no_picture():
    assert histories.kept([("ours", LOOK, {"step": ([0.0], [1.0])})]) is None
    assert histories.kept([]) is None


def test_of_many_points_the_extremes_are_kept_in_their_order():
    t = np.arange(1000.0)
    values = np.ones(1000)
    values[[137, 501]] = 1e-9, 40.0
    values[700] = np.nan
    few, kept = histories.fewer(t, values)
    assert len(few) <= histories.MOST_POINTS
    assert np.all(np.diff(few) > 0)
    assert (kept.min(), kept.max()) == (1e-9, 40.0)
    assert {137.0, 501.0} <= set(few)
    assert histories.fewer(t[:5], values[:5])[0].tolist() == t[:5].tolist()


def test_time_is_logarithmic_where_half_of_the_points_are_in_its_first_thousandth():
    early, even = [0.0, *np.geomspace(1e-6, 1e6, 50).tolist()], np.linspace(0.0, 10.0, 51).tolist()
    for times, scale in ((early, "log"), (even, "linear")):
        values = [1.0] * len(times)
        path = histories.trajectory({"y.x": (times, values)}, {}, ["x"])
        steps = histories.steps([("ours", LOOK, {"step": (times, values)})])
        assert [axes.get_xscale() for axes in (*path.axes, *steps.axes)] == [scale, scale]


def test_slow_growth_is_drawn_as_it_happens_and_not_all_at_the_end():
    """A violation that grows by less than a tenth from point to point, and thousandfold in all."""
    t = list(np.linspace(1.0, 100.0, 400))
    times, top = histories.largest_so_far([(t, [1e-9 * time**2 for time in t])])
    drawn = np.array([top[np.searchsorted(times, time, side="right") - 1] for time in t])
    assert (drawn > 0.8 * 1e-9 * np.array(t) ** 2).all()
    assert len(times) < 200
