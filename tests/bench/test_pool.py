"""Several ladders at a time, here or on a Dask scheduler, give the records of a serial run.

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

from herk.bench import plugins, pool, session, store, study
from herk.bench import sweeps as ladders
from herk.core import InputError

ROOT = Path(__file__).parents[2]
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
    return own, ladders.expand(own, ladders.Choice(files=(loaded.path,), problem=("toy", "academic")))


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


LETHAL = """
    def solve(self, prepared, settings):
        mark = __file__ + ".mark"
        if not os.path.exists(mark):
            open(mark, "w").close()
            server = open(f"/proc/{os.getppid()}/stat").read()
            os.kill(int(server.rpartition(")")[2].split()[1]), 9)  # the process of the pool that waits for us
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="the parent of a parent is looked up in /proc"
)
def test_a_process_of_the_pool_that_is_lost_costs_nothing(toy, toys):
    toy.write_text(
        toy.read_text().replace(
            "    def solve(self, prepared, settings):\n        time", f"{LETHAL}        time", 1
        )
    )
    [loaded] = plugins.load([toy])
    every = ladders.expand(
        study.load(str(toys)), ladders.Choice(files=(loaded.path,), solver=("toy_euler", "toy_twin"))
    )
    runs = [rec for _, batch in pool.batches(every, 2) for rec in batch if rec["kind"] == "run"]
    assert Path(f"{toy}.mark").exists()
    assert len({rec["key"] for rec in runs}) == len(runs) == 6
    assert {rec["status"] for rec in runs} == {"ok"}


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
        own, ladders.Choice(problem=("academic",)), tmp_path, say=said.append, cluster=scheduler
    )
    assert tally.counts == {"ok": 3}
    assert len(store.Store(tmp_path / store.NAME).keys()) >= 3


def test_a_scheduler_that_does_not_answer_is_an_error_in_words(chosen, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(pool, "PATIENCE", 0.5)
    with pytest.raises(InputError, match=r"127\.0\.0\.1:1.*dask scheduler"):
        list(pool.batches(chosen[1], cluster="tcp://127.0.0.1:1"))
