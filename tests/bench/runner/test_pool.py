"""Several sweeps at a time, here or on a Dask scheduler, give the records of a serial run.

Only times differ.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from herk.bench import plugins, session, store, study, sweeps
from herk.bench.runner import pool
from herk.core import InputError

ROOT = Path(__file__).parents[3]
TIMES = (
    "date",
    "commit",
    "wall_min",
    "wall_median",
    "cpu_min",
    "cpu_median",
    "compile_seconds",
    "spent",
    "memory_bytes",
)


@pytest.fixture
def chosen(toy, toys):
    """Return the study of the user and what is chosen of it.

    Its own problem, and one of ours with a rival.
    """
    toys.write_text(
        toys.read_text() + '\n[[case]]\nproblem = ["academic"]\nsolver = ["scipy_rk45"]\nform = ["ode"]\n'
    )
    [loaded] = plugins.load([toy])
    own = study.load(str(toys))
    return own, sweeps.expand(own, sweeps.Choice(files=(loaded.path,), problem=("toy", "academic")))


def timeless(batches):
    """Return records without times, in an order of their own."""
    records = [rec for _, batch in batches for rec in batch]
    return sorted(
        ({name: value for name, value in rec.items() if name not in TIMES} for rec in records),
        key=lambda rec: rec["key"],
    )


def test_two_jobs_give_the_records_of_one(chosen):
    _, every = chosen
    serial = timeless(pool.batches(every, 1))
    assert [rec["status"] for rec in serial if rec["kind"] == "run"] == ["ok"] * 9
    assert timeless(pool.batches(every, 2)) == serial


def test_what_goes_wrong_while_a_sweep_is_waited_for_is_raised(chosen, monkeypatch):
    def records(sweep):
        yield []
        raise OSError("no pipes left")

    monkeypatch.setattr(pool.run, "records", records)
    with pytest.raises(OSError, match="no pipes left"):
        list(pool.batches(chosen[1], 2))


def test_nothing_more_is_begun_when_nobody_listens(chosen, monkeypatch):
    begun = []

    def records(sweep):
        begun.append(sweep)
        for _ in range(1000):
            yield []
            time.sleep(0.01)

    monkeypatch.setattr(pool.run, "records", records)
    found = pool.batches(4 * chosen[1], 2)
    next(found)
    found.close()
    time.sleep(0.1)
    assert len(begun) == 2


@pytest.fixture
def scheduler(tmp_path):
    """Start a scheduler and two workers on loopback, each a program of its own; they end with the test."""
    pytest.importorskip("distributed", reason="pip install 'herk[cluster]'")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__WORKER__DAEMON": "True"}
    log = (tmp_path / "scheduler.log").open("w")
    command = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
    ]
    started = [subprocess.Popen(command, stderr=log, stdout=log, env=environment, cwd=tmp_path)]
    try:
        address = _address(tmp_path / "scheduler.log")
        command = [
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            address,
            "--nthreads",
            "1",
            "--no-dashboard",
        ]
        started += [
            subprocess.Popen(command, stderr=log, stdout=log, env=environment, cwd=tmp_path) for _ in range(2)
        ]
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(30)
        log.close()


def _address(log: Path) -> str:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if found := re.search(r"Scheduler at:\s+(tcp://127\.0\.0\.1:\d+)", log.read_text()):
            return found[1]
        time.sleep(0.1)
    raise AssertionError(log.read_text())


@pytest.mark.slow
def test_a_cluster_gives_the_records_of_a_serial_run(chosen, scheduler, tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "PATIENCE", 60.0)
    own, every = chosen
    serial = timeless(pool.batches(every, 1))
    assert timeless(pool.batches(every, cluster=scheduler)) == serial
    said = []
    tally = session.carry_out(
        own, sweeps.Choice(problem=("academic",)), tmp_path, say=said.append, cluster=scheduler
    )
    assert tally.counts == {"ok": 3}
    assert len({each["key"] for each in store.Store(tmp_path / store.NAME).read()[0]}) >= 3


def test_a_scheduler_that_does_not_answer_is_an_error_in_words(chosen, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(pool, "PATIENCE", 0.5)
    with pytest.raises(InputError, match=r"127\.0\.0\.1:1.*dask scheduler"):
        list(pool.batches(chosen[1], cluster="tcp://127.0.0.1:1"))
