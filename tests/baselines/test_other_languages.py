"""Rivals in Octave, R and C: killed, stopped, short of memory or left alone, each costs one run."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import baselines
import testset
from baselines import other_process
from herk.bench.runner import process
from herk.bench.runner.worker import Work
from herk.core import Reason, Settings

LANGUAGES = ("octave_dassl", "desolve_radau", "ida_c_jac")
QUICK = Settings(rtol=1e-4, atol=1e-4, time_limit=30.0)
FAR = (0.0, 1e6)  # seconds of the pendulum: no rival gets there while a test waits


def rival(name: str):
    solver = baselines.get(name)
    available, why = solver.available()
    if not available:
        pytest.skip(why)
    return solver, testset.get("pendulum", t_end=0.5)


@pytest.fixture(params=LANGUAGES)
def begun(request):
    """Return a solver, a form whose program runs, and the number of that process."""
    solver, problem = rival(request.param)
    prepared = solver.prepare(problem, "index1")
    assert solver.solve(prepared, QUICK).success
    yield solver, prepared, other_process.session_of(prepared.program).pid
    other_process.forget(prepared.program)


def state(pid: int) -> str:
    """Return the letter Linux has for a process, Z if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def ended(pid: int) -> bool:
    end = time.monotonic() + 20
    while state(pid) != "Z" and time.monotonic() < end:
        time.sleep(0.02)
    return state(pid) == "Z"


def test_a_program_killed_while_it_solves_costs_one_run(begun):
    solver, prepared, pid = begun
    killer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
    killer.start()
    sol = solver.solve(replace(prepared, t_span=FAR), Settings(rtol=1e-8, atol=1e-8, time_limit=60.0))
    killer.join()
    assert (sol.reason, sol.success) == (Reason.CRASHED, False)
    assert "SIGKILL" in sol.message
    assert solver.solve(prepared, QUICK).success


def test_a_program_that_hangs_is_ended_in_time(begun):
    solver, prepared, pid = begun
    os.kill(pid, signal.SIGSTOP)
    start = time.monotonic()
    sol = solver.solve(prepared, replace(QUICK, time_limit=0.3))
    assert sol.reason is Reason.TIME_LIMIT
    assert time.monotonic() - start < 10.0
    assert ended(pid)
    assert solver.solve(prepared, QUICK).success


def at_work(send, name):
    solver, problem = rival(name)
    prepared = solver.prepare(problem, "index1")
    send("pid", other_process.session_of(prepared.program).pid)
    solver.solve(replace(prepared, t_span=FAR), Settings(rtol=1e-8, atol=1e-8))


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_program_ends_with_the_process_that_started_it(name):
    rival(name)
    listening = process.reports(at_work, name, patience=lambda: 60.0)
    kind, pid = next(listening)
    assert kind == "pid", pid
    listening.close()
    assert ended(pid)


def limits(problem, settings, solution, again) -> list[str]:
    """Return the limits of address space of the programs this process has started."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            name, words = (place / "comm").read_text().strip(), (place / "stat").read_text()
            ours = int(words.rpartition(")")[2].split()[1]) == os.getpid() and "python" not in name
            text = (place / "limits").read_text() if ours else ""
        except OSError:
            continue
        found += [line.split()[3] for line in text.splitlines() if line.startswith("Max address space")]
    return found


@pytest.mark.parametrize("name", LANGUAGES)
def test_in_the_bench_a_program_has_a_limit_of_memory(name):
    [(_, found)] = process.sweep(Work(partial(rival, name), "index1", (QUICK,), limits, memory_limit=2e9))
    assert found.reason is Reason.FINISHED, found.message
    assert found.observed
    assert all(each.isdigit() and 2e9 <= int(each) < 2e10 for each in found.observed), found.observed


# Where each program reads its request, and what makes it ask for 8 GB there, more than it may have.
FLOODED = replace(QUICK, rtol=1e-5)
FLOODS = {
    "octave_dassl": ("rtol = a(1);", "if rtol < 5e-5, kept = ones(1, 1e9); end;"),
    "desolve_radau": ("rtol <- a[1];", "if (rtol < 5e-5) kept <- numeric(1e9);"),
}


@dataclass(frozen=True)
class Flooding:
    """A rival whose program floods the memory when it is asked for the tolerance of FLOODED."""

    solver: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.solver, name)

    def prepare(self, problem, form):
        made = self.solver.prepare(problem, form)
        read, flood = FLOODS[self.solver.name]
        files = {name: text.replace(read, f"{read} {flood}") for name, text in made.program.files.items()}
        assert files != made.program.files
        return replace(made, program=replace(made.program, files=files))


def flooding(name: str):
    solver, problem = rival(name)
    return Flooding(solver), problem


def nothing(problem, settings, solution, again) -> None:
    return None


@pytest.mark.parametrize("name", FLOODS)
def test_in_the_bench_a_program_that_floods_the_memory_is_one_row(name):
    rival(name)
    rungs = (QUICK, FLOODED, QUICK)
    found = dict(process.sweep(Work(partial(flooding, name), "index1", rungs, nothing, memory_limit=2e9)))
    assert [found[k].reason for k in range(3)] == [Reason.FINISHED, Reason.CRASHED, Reason.FINISHED]
    assert any(words in found[1].message for words in ("out of memory", "cannot allocate")), found[1].message
