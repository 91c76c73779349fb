"""Rivals in programs of their own: whatever such a program does costs one run, and its time is its own."""

from __future__ import annotations

import gc
import os
import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import testset
from baselines import other_process
from baselines.other_process import END, OWN_CLOCK, Answer, OtherProcess, Program, ProgramError, outside
from baselines.prepared import implicit
from herk.bench.runner import process
from herk.bench.runner.worker import Work
from herk.core import Reason, Settings

CLAIMED = 0.25  # seconds that the program below says it took
# what rtol asks it to do
FINE, KILLED, HANGS, NONSENSE, QUITS, COMPLAINS, FLOODS = (10.0**-k for k in range(3, 10))
FAKE = f"""
import os, signal, sys, time
print("\\n{END}", flush=True)
for line in sys.stdin:
    a = [float(word) for word in line.split()]
    n = 5
    rtol, z, times = a[0], a[n + 1 : 2 * n + 1], a[3 * n + 2 :]
    if rtol == {KILLED}: os.kill(os.getpid(), signal.SIGKILL)
    if rtol == {HANGS}: time.sleep(1000)
    if rtol == {NONSENSE}: print("42\\n{END}", flush=True); continue
    if rtol == {FLOODS}: kept = [bytearray(10**8) for _ in range(1000)]
    if rtol == {QUITS}: sys.exit("no licence for today")
    print("a library greets\\nseconds {CLAIMED}\\ncounts 7 8 9")
    if rtol == {COMPLAINS}: print("complaint the corrector could not converge"); times = times[:1]
    for t in times: print("point", t, *z)
    print("{END}", flush=True)
"""
PROGRAM = Program((sys.executable, "fake.py"), {"fake.py": FAKE})


@dataclass(frozen=True)
class Fake(OtherProcess):
    """A program that answers with the start at all times, or misbehaves as it is asked to."""

    def prepare(self, problem, form):
        return outside(implicit(problem, form), PROGRAM)


RIVAL = Fake("fake", "fake", ("index1",), 1, True, frozenset({OWN_CLOCK}))


@pytest.fixture
def prepared():
    made = RIVAL.prepare(testset.get("pendulum", t_end=1.0), "index1")
    yield made
    other_process.forget(PROGRAM)


def asked(what: float, **more) -> Settings:
    return Settings(rtol=what, atol=1e-6, **{"time_limit": 20.0, **more})


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_one_process_serves_all_tolerances_and_its_counts_and_seconds_are_passed_on(prepared):
    first = RIVAL.solve(prepared, asked(FINE))
    pid = other_process.session_of(PROGRAM).pid
    second = RIVAL.solve(prepared, asked(FINE, t_eval=np.array([0.0, 0.5])))
    assert other_process.session_of(PROGRAM).pid == pid
    for sol in (first, second):
        assert sol.success, sol.message
        assert (sol.nstep, sol.nfev, sol.njev, sol.seconds) == (7, 8, 9, CLAIMED)
        np.testing.assert_array_equal(sol.y, np.repeat(prepared.start[0][:, None], 2, axis=1))
    np.testing.assert_array_equal(first.t, [0.0, 1.0])
    np.testing.assert_array_equal(second.t, [0.0, 0.5])


@pytest.mark.parametrize(
    ("what", "reason", "words"),
    [
        (KILLED, Reason.CRASHED, "SIGKILL"),
        (HANGS, Reason.TIME_LIMIT, "0.3 s"),
        (NONSENSE, Reason.CRASHED, "something else than agreed"),
        (QUITS, Reason.CRASHED, "no licence for today"),
        (COMPLAINS, Reason.NEWTON, "could not converge"),
    ],
)
def test_a_program_that_dies_hangs_or_talks_nonsense_costs_one_run(prepared, what, reason, words):
    pid = other_process.session_of(PROGRAM).pid
    begun = time.perf_counter()
    sol = RIVAL.solve(prepared, asked(what, time_limit=0.3 if what == HANGS else 20.0))
    assert time.perf_counter() - begun < 10.0
    assert (sol.reason, sol.success) == (reason, False)
    assert words in sol.message
    assert len(sol.t) == 1  # the start
    assert alive(pid) == (what in (NONSENSE, COMPLAINS))
    assert RIVAL.solve(prepared, asked(FINE)).success


def test_temporary_files_of_a_program_go_with_it():
    lines = f"echo; echo '{END}'; read line; mktemp -d; echo '{END}'; sleep 1000"
    program = Program(("sh", "-c", lines), {})
    [folder] = other_process.ask(program, "where", 20.0)
    assert Path(folder).is_dir()
    other_process.forget(program)
    gc.collect()
    assert not Path(folder).exists()


def test_seconds_of_all_segments_are_added_up(prepared):
    sol = RIVAL.solve(replace(prepared, breakpoints=(0.5,)), asked(FINE))
    assert sol.success, sol.message
    assert sol.seconds == 2 * CLAIMED


def test_a_program_that_cannot_be_built_is_an_error_with_the_words_of_the_builder():
    broken = Program((sys.executable,), {}, ((sys.executable, "-c", "raise SystemExit('no such header')"),))
    with pytest.raises(ProgramError, match="no such header"):
        other_process.session_of(broken)


@pytest.mark.parametrize(
    "lines", [[], ["seconds 1"], ["seconds 1", "counts 1 2 3", "point 1 2"], ["counts a b c"]]
)
def test_an_answer_that_is_not_whole_is_refused(lines):
    with pytest.raises(ProgramError, match="agreed"):
        Answer.read(lines, 2)


def loaded():
    return RIVAL, testset.get("pendulum", t_end=1.0)


def test_in_the_bench_a_killed_program_is_one_row_and_times_are_its_own():
    rungs = (asked(FINE), asked(KILLED), asked(FINE, t_eval=np.array([1.0])))
    work = Work(partial(loaded), "index1", rungs, last_of_first, 2)
    found = dict(process.sweep(work))
    assert [found[k].reason for k in range(3)] == [Reason.FINISHED, Reason.CRASHED, Reason.FINISHED]
    assert found[0].wall == (CLAIMED, CLAIMED)
    assert "SIGKILL" in found[1].message


def test_in_the_bench_a_program_has_no_more_memory_than_other_rivals():
    work = Work(partial(loaded), "index1", (asked(FLOODS), asked(FINE)), last_of_first, memory_limit=1e9)
    found = dict(process.sweep(work))
    assert found[0].reason is Reason.CRASHED
    assert "MemoryError" in found[0].message
    assert found[1].reason is Reason.FINISHED


def last_of_first(problem, settings, solution, again):
    return float(solution.y[0, -1])
