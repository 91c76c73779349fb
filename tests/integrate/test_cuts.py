"""Segments end before breakpoints and begin behind them, in either direction."""

from __future__ import annotations

import numpy as np
import pytest

import herk
from herk.integrate.cuts import Cuts

TIMES = (0.0, 1.0, 1.0 + 1e-16, 4.0, 7.0)


def test_a_segment_ends_just_before_a_breakpoint_and_the_next_begins_just_behind() -> None:
    for cuts, sign in ((Cuts(0.0, 4.0, TIMES), 1.0), (Cuts(4.0, 0.0, TIMES), -1.0)):
        assert cuts.following(cuts.t0) == 1.0
        assert 0 < sign * (1.0 - cuts.end(1.0)) < 1e-13
        assert 0 < sign * (cuts.begin(1.0) - 1.0) < 1e-13
        assert cuts.following(cuts.begin(1.0)) == cuts.t1  # which is a breakpoint here
        assert cuts.following(cuts.t1) is None
    assert Cuts(0.0, 4.0, ()).following(0.0) is None
    assert Cuts(0.0, 4.0, ()).end(None) == 4.0


@pytest.mark.parametrize(("t0", "t1", "sign"), [(0.0, 4.0, 1), (4.0, 0.0, -1)])
def test_every_output_time_belongs_to_one_segment(t0: float, t1: float, sign: int) -> None:
    cuts, times = Cuts(t0, t1, (1.0, 3.0)), np.linspace(t0, t1, 9)
    begin, since, found = t0, t0, []
    while True:
        stop = cuts.following(begin)
        own = cuts.wanted(times, since, stop, since == t0)
        moved = cuts.inside(own, begin, cuts.end(stop))
        assert np.abs(moved - own).max() <= cuts.gap
        assert (sign * np.diff(moved) > 0).all()
        found += own.tolist()
        if stop is None:
            break
        begin, since = cuts.begin(stop), stop
    assert found == times.tolist()


def test_a_breakpoint_that_differs_from_the_end_by_rounding_is_the_end() -> None:
    for end in (0.3, np.nextafter(0.3, 0.0), np.nextafter(0.3, 1.0)):
        assert Cuts(0.0, 0.3, (end,)).following(0.0) == 0.3
        assert Cuts(1.0, 0.3, (end,)).following(1.0) == 0.3
        assert Cuts(0.0, 0.3, (end,)).following(0.3) is None


@pytest.mark.parametrize("end", [0.3, np.nextafter(0.3, 0.0)])
def test_a_run_ends_at_the_end_of_its_span_where_that_is_a_breakpoint(end: float) -> None:
    model = herk.Model("m", ["x"], [[1]], ["2*t"], t_span=(0, 0.3), y0=[0])
    sol = herk.solve_dae(model, breakpoints=[end], dense_output=True)
    assert sol.success
    assert sol.t[-1] == 0.3
    assert sol.y[0, -1] == pytest.approx(0.09, rel=1e-9)
    assert sol(0.3)[0] == pytest.approx(0.09, rel=1e-9)
