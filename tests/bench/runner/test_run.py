"""A sweep becomes records, whatever its solver does.

One process for all settings, and only the setting that kills it is lost.
"""

from __future__ import annotations

import ctypes
import json
import os
import time
from dataclasses import dataclass, field

import numba
import numpy as np
import pytest

import testset
from herk.bench import plugins, study, sweeps
from herk.bench.runner import process, run
from herk.bench.runner.worker import Work
from herk.core import Problem, Reason, Settings, Solution

SETTINGS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)


@dataclass(frozen=True)
class Ill:
    """A solver that misbehaves at some tolerances: rtol -> what it does there."""

    acts: dict[float, str] = field(default_factory=dict)
    name: str = "ill"
    family: str = "ill"
    forms: tuple[str, ...] = ("overdetermined",)
    order: int = 1
    adaptive: bool = True
    tags: frozenset[str] = frozenset()

    def available(self):
        return True, ""

    def supports(self, problem, form):
        return True, ""

    def prepare(self, problem, form):
        return problem

    def solve(self, problem: Problem, settings: Settings) -> Solution:
        act, began = self.acts.get(settings.rtol, "nothing"), time.monotonic()
        if act == "lingers" or (act == "compiles" and compiles()):
            return lingers(settings, began)
        ACTS[act]()
        y = np.full((len(problem.y0), 2), float(os.getpid()))
        return Solution(t=np.array(problem.t_span), y=y, reason=Reason.FINISHED, message="fine", nstep=1)


def lingers(settings, began):
    """Take longer than allowed, but not for ever: a solver that honours its limit."""
    time.sleep(max(began + settings.time_limit + 0.05 - time.monotonic(), 0.0))
    CALLS.append(settings.rtol)
    return Solution(
        t=np.zeros(1), y=np.full((2, 1), float(len(CALLS))), reason=Reason.TIME_LIMIT, message="late"
    )


def compiles():
    """Compile something and return True, but only once in a process."""
    if not CALLS:
        numba.njit(lambda x: x + 1)(1)
    return not CALLS


def builds():
    """Compile something that takes a while, but only once in a process."""
    if not BUILT:
        time.sleep(0.05)
        BUILT.append(numba.njit(lambda x: x + 2)(1))


def loads():
    """Take a while in the first run of a process, as one that loads a library."""
    if not BUILT:
        BUILT.append(0)
        time.sleep(0.3)


def throws():
    raise ZeroDivisionError("by intention")


def hogs():
    kept = []
    while True:
        kept.append(np.ones(10**7))


def prints():
    os.write(1, b"x" * 10**6)
    os.write(2, b"x" * 10**6)
    print("y" * 10**6)


def exits():
    os._exit(3)


CALLS = []  # late runs of this process
BUILT: list[int] = []  # what this process has compiled
ACTS = {
    "nothing": lambda: None, "compiles": lambda: None, "builds": builds, "loads": loads,
    "hangs": lambda: time.sleep(1000), "exits": exits, "throws": throws, "hogs": hogs, "prints": prints,
    "crashes": lambda: ctypes.string_at(0),
}  # fmt: skip


def pair(solver):
    return solver, testset.get("academic")


def process_of(problem, settings, solution, again):
    return int(solution.y[0, 0])


def findings(acts, limit=0.3, memory=2e9, solved=False):
    settings = tuple(Settings(rtol=rtol, time_limit=limit) for rtol in SETTINGS)
    work = Work(Given(Ill(acts)), "overdetermined", settings, process_of, memory_limit=memory, solved=solved)
    return list(process.sweep(work))


@dataclass(frozen=True)
class Given:
    solver: Ill

    def __call__(self):
        return pair(self.solver)


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(process, "GRACE", 0.5)


def test_one_process_does_the_whole_sweep():
    found = findings({})
    assert [number for number, _ in found] == [0, 1, 2, 3, 4]
    assert len({each.observed for _, each in found}) == 1
    assert found[0][1].observed != os.getpid()


EXPECTED = {
    "throws": (Reason.EXCEPTION, "ZeroDivisionError: by intention", 1),
    "exits": (Reason.CRASHED, "exit code 3", 2),
    "crashes": (Reason.CRASHED, "SIGSEGV", 2),
    "hogs": (Reason.CRASHED, "0.5 GB of memory", 1),
    "prints": (Reason.FINISHED, "fine", 1),
}


@pytest.mark.parametrize("act", EXPECTED)
def test_only_the_setting_that_misbehaves_is_lost(act, capfd):
    reason, words, processes = EXPECTED[act]
    found = dict(findings({1e-2: act}, limit=20.0, memory=0.5e9 if act == "hogs" else 4e9))
    assert sorted(found) == [0, 1, 2, 3, 4]
    assert found[1].reason is reason
    assert words in found[1].message
    assert {found[number].reason for number in (0, 2, 3, 4)} == {Reason.FINISHED}
    assert len({found[number].observed for number in (0, 2, 3, 4)}) == processes
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("act", ["hangs", "lingers"])
def test_after_a_success_a_late_run_ends_the_sweep_and_the_rest_is_said_not_to_be_run(act):
    (_, first), (_, late), (number, rest) = findings({1e-2: act})
    assert (first.reason, late.reason, rest.reason) == (Reason.FINISHED, Reason.TIME_LIMIT, Reason.TIME_LIMIT)
    assert number is None
    assert "Not run" in rest.message


def test_a_sweep_that_goes_on_knows_that_cheaper_settings_succeeded():
    found = findings(dict.fromkeys(SETTINGS, "hangs"), solved=True)
    assert [number for number, _ in found] == [0, None]


def test_a_late_run_gets_a_second_chance_only_if_it_compiled():
    assert dict(findings({1e-1: "compiles"}, limit=3.0))[0].reason is Reason.FINISHED
    late = dict(findings({1e-1: "lingers"}))[0]
    assert (late.reason, late.observed) == (Reason.TIME_LIMIT, 1)  # called once


def test_compiling_does_not_count_as_solving():
    """The first run compiles for a while and ends well in time.

    What is recorded is another one, which has nothing to compile.
    """
    found = dict(findings({1e-1: "builds"}, limit=60.0))[0]
    assert found.reason is Reason.FINISHED
    assert found.wall[0] < 0.02


def test_what_the_first_run_of_a_process_loads_is_not_timed():
    work = Work(
        Given(Ill({1e-1: "loads"})), "overdetermined", (Settings(rtol=1e-1),), process_of, 2, long=0.2
    )
    [(_, found)] = process.sweep(work)
    assert found.reason is Reason.FINISHED
    assert max(found.wall) < 0.2


@pytest.mark.parametrize("brief", [0.0, 0.02])
def test_short_runs_are_timed_until_enough_time_is_seen(brief):
    work = Work(Given(Ill()), "overdetermined", (Settings(rtol=1e-1),), process_of, 2, 0.2, brief)
    [(_, found)] = process.sweep(work)
    assert found.reason is Reason.FINISHED
    assert (len(found.wall) > 2) == (brief > 0.0)


def test_a_loose_tolerance_alone_may_be_late():
    found = dict(findings({1e-1: "lingers", 1e-2: "lingers"}))
    assert found[1].reason is Reason.TIME_LIMIT
    assert found[0].reason is Reason.TIME_LIMIT
    assert {found[number].reason for number in (2, 3, 4)} == {Reason.FINISHED}


@pytest.mark.parametrize(
    ("act", "reason", "tries"),
    [("exits", Reason.CRASHED, 3), ("lingers", Reason.TIME_LIMIT, 3), ("hangs", Reason.TIME_LIMIT, 1)],
)
def test_a_solver_that_always_dies_is_late_or_hangs_is_given_up(act, reason, tries):
    found = findings(dict.fromkeys(SETTINGS, act))
    assert [number for number, _ in found] == [*range(tries), None]
    assert {each.reason for _, each in found} == {reason}


def test_a_call_returns_its_result_or_says_why_not():
    assert process.call(Given(Ill()))[0][0] == Ill()
    assert process.call(throws)[1] == "ZeroDivisionError: by intention"
    assert "exit code 3" in process.call(exits)[1]


@pytest.fixture
def records(toy, toys):
    """Return all records of sweeps of the user's study, by solver."""
    [loaded] = plugins.load([toy])

    def made(*solvers, **settings):
        own = study.with_settings(study.load(str(toys)), **settings)
        choice = sweeps.Choice(solver=solvers, files=(loaded.path,), own_problems=loaded.problems)
        return [rec for sweep in sweeps.expand(own, choice) for batch in run.records(sweep) for rec in batch]

    return made


def test_a_run_is_recorded_with_errors_counters_times_and_drift(records):
    """Euler with n steps ends at (1 - 1/n)^n, and the toy solver misses its constraint by 1e-3 t."""
    rows = [rec for rec in records("toy_euler", repeats=3) if rec["kind"] == "run"]
    assert [rec["rtol"] for rec in rows] == [1e-1, 1e-2, 1e-3]
    for rec, count in zip(rows, (3, 10, 32), strict=True):
        error = abs((1 - 1 / count) ** count - np.exp(-1.0))
        assert rec["status"] == "ok"
        assert rec["error_end.first"] == pytest.approx(error)
        assert rec["mescd.first"] == pytest.approx(-np.log10(error / (1.0 + np.exp(-1.0))))
        assert rec["error_grid.first"] >= rec["error_end.first"]
        assert rec["drift.all"] == rec["invariant.difference"] == pytest.approx(1e-3)
        assert (rec["nstep"], rec["nfev"], rec["t_reached"], rec["t_end"]) == (count, count, 1.0, 1.0)
        assert rec["repeats"] >= 3
        assert 0.005 < rec["wall_min"] <= rec["wall_median"]
        assert rec["cpu_min"] < rec["wall_min"]
        assert len(json.loads(rec["options"])["problem_file"]) == 12


def test_runs_are_repeated_no_longer_than_the_study_says(records):
    """A run takes more than 5 ms: in 50 ms there are at most ten, however many are asked for."""
    short, long = (
        [
            rec["repeats"]
            for rec in records("toy_euler", repeats=30, repeat_seconds=seconds)
            if rec["kind"] == "run"
        ]
        for seconds in (0.05, 60.0)
    )
    assert max(short) <= 10
    assert long == [30, 30, 30]


def test_histories_are_kept_where_asked_and_stand_before_their_run(records):
    made = records("toy_euler")
    kinds = [(rec["kind"], rec.get("name", rec.get("rtol"))) for rec in made]
    names = ["drift.level0", "invariant.difference", "step", "y.x", "y.y", "reference.x", "reference.y"]
    assert kinds == [("run", 1e-1), *(("series", name) for name in names), ("run", 1e-2), ("run", 1e-3)]
    assert {rec["run"] for rec in made if rec["kind"] == "series"} == {made[-2]["key"]}
    twin = [rec["name"] for rec in records("toy_twin") if rec["kind"] == "series"]
    assert twin == ["drift.level0", "invariant.difference", "step"]


def test_deaths_and_hangs_are_rows_with_reasons(records):
    rows = {rec["rtol"]: rec for rec in records("toy_picky", time_limit=0.5) if rec["kind"] == "run"}
    assert [(rtol, row["status"], row["reason"]) for rtol, row in rows.items()] == [
        (1e-1, "ok", "finished"), (1e-2, "failed", "crashed"), (1e-3, "ok", "finished"),
    ]  # fmt: skip
    assert "exit code 7" in rows[1e-2]["message"]


def test_what_is_not_installed_or_not_supported_is_one_row_for_all_settings(records):
    [row] = records("toy_missing")
    assert (row["status"], row["rtol"], row["message"]) == ("unavailable", None, "pip install nothing")
    [row] = [rec for rec in records("scipy_rk45") if rec["form"] == "ode"]
    assert (row["status"], row["rtol"], row["reason"]) == ("unsupported", None, "unsupported")
    assert "callables" in row["message"]


def test_what_is_done_is_left_out(toy, toys):
    [loaded] = plugins.load([toy])
    sweep = sweeps.expand(
        study.load(str(toys)), sweeps.Choice(files=(loaded.path,), own_problems=loaded.problems)
    )[0]
    keys = [run.record.key("run", run.identity(sweep, setting)) for setting in sweep.settings]
    assert run.remaining(sweep, set()) == sweep
    assert [setting.rtol for setting in run.remaining(sweep, keys[1:2]).settings] == [1e-1, 1e-3]
    assert [run.remaining(sweep, some).solved for some in (keys[1:2], keys[:1])] == [False, True]
    assert run.remaining(sweep, keys) is None
    assert run.remaining(sweep, {run.record.key("run", run.identity(sweep))}) is None


def test_another_text_of_a_file_gives_other_keys(toy, toys):
    def key():
        [loaded] = plugins.load([toy])
        sweep = sweeps.expand(
            study.load(str(toys)), sweeps.Choice(files=(loaded.path,), own_problems=loaded.problems)
        )[0]
        return run.record.key("run", run.identity(sweep, sweep.settings[0]))

    before = key()
    assert key() == before
    toy.write_text(toy.read_text() + "\n# changed\n")
    assert key() != before


@pytest.mark.parametrize("span", [(0.0, 1e11), (2.0, -1e6)])
def test_output_times_follow_a_run_that_happens_early(span):
    points = span[0] + np.sign(span[1] - span[0]) * np.array(
        [0.0, 1e-3, 1e-2, 1.0, 10.0, abs(span[1] - span[0])]
    )
    early = run.output_times(span, points, 40)
    assert (early.size, early[0], early[-1]) == (41, *span)
    assert np.all(np.diff(early) * np.sign(span[1] - span[0]) > 0)
    ratios = np.diff(early)[2:] / np.diff(early)[1:-1]
    assert ratios == pytest.approx(ratios[0], rel=1e-3)
    even = run.output_times(span, np.linspace(*span, 6), 40)
    assert np.diff(even) == pytest.approx((span[1] - span[0]) / 40)
