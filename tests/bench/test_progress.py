"""Progress is a bar on a terminal and plain lines elsewhere.

The time is estimated from what earlier runs took.
"""

from __future__ import annotations

import io

import pytest

from herk.bench import estimate, record, study, sweeps
from herk.bench.progress import Progress
from herk.bench.runner import run

PLAN = {
    "name": "small",
    "rtol": [1e-3, 1e-4],
    "case": [{"problem": "akzo", "solver": ["scipy_rk45", "scipy_bdf"], "form": ["ode"]}],
}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def two():
    return sweeps.expand(study.parse(PLAN))


def row(sweep, setting, **fields):
    return record.make("run", **run.identity(sweep, setting), status="ok", **fields)


def test_elsewhere_a_line_tells_how_far_it_is(two):
    stream = io.StringIO()
    with Progress("small", two, estimate.from_records([]), stream) as progress:
        for sweep in two:
            for setting in sweep.settings:
                progress.advance(sweep, [row(sweep, setting)])
    lines = stream.getvalue().splitlines()
    assert "small 2/2: akzo, scipy_rk45 on ode (4 ok;" in lines[-1]
    assert "\r" not in stream.getvalue()


def test_on_a_terminal_there_is_a_bar_with_the_time_left(two):
    stream = Terminal()
    with Progress("small", two, estimate.from_records([]), stream) as progress:
        progress.advance(two[0], [row(two[0], two[0].settings[0])])
        progress.bar.refresh()
    assert "small" in stream.getvalue()
    assert "left" in stream.getvalue()
    assert "scipy_bdf on ode" in stream.getvalue()


def test_a_row_for_every_setting_ends_its_sweep(two):
    progress = Progress("small", two, estimate.from_records([]), io.StringIO())
    progress.advance(two[0], [row(two[0], run.EVERY_SETTING) | {"status": "unsupported"}])
    assert progress.done == 1
    assert progress.weight == pytest.approx(progress.whole / 2)


def test_the_time_is_that_of_earlier_runs(two):
    spent = {1e-3: 2.0, 1e-4: 5.0}
    known = [row(sweep, setting, spent=spent[setting.rtol]) for sweep in two for setting in sweep.settings]
    found = estimate.from_records(known)
    assert found.seen(two) == 1.0
    assert found.total(two, 1) == pytest.approx(2 * (7.0 + estimate.PROCESS))
    assert found.total(two, 2) == pytest.approx(7.0 + estimate.PROCESS)
    assert estimate.from_records(known[:2]).seen(two) == 0.5
    assert estimate.from_records([]).total(two, 1) == pytest.approx(
        4 * estimate.OTHERS + 2 * estimate.PROCESS
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (59.6, "60 s"), (89, "89 s"), (90, "1 min 30 s"), (125, "2 min 05 s")],
)
def test_times_are_said_as_people_do(seconds, words):
    assert estimate.words(seconds) == words
