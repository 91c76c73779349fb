"""The bench is killed at random moments, again and again.

Afterwards nothing is lost, nothing is double, nothing is corrupt.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from herk.bench import store
from herk.bench.store import Store

ROOT = Path(__file__).parents[3]
KILLS = 3


def start(out: Path, toy: Path, toys: Path, jobs: int = 1) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "herk.bench",
        "run",
        str(toys),
        "--file",
        str(toy),
        "--out",
        str(out),
        "--no-report",
    ]
    command += ["--jobs", str(jobs), "--solver", "toy_euler", "--solver", "toy_twin"]
    return subprocess.Popen(
        command, cwd=ROOT, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def wait_for_growth(path: Path, process: subprocess.Popen[bytes], more: int) -> None:
    """Wait until a few kilobytes have been added, or the bench has ended."""
    before = size(path)
    while process.poll() is None and size(path) <= before + more:
        time.sleep(0.01)


@pytest.mark.slow
def test_a_bench_killed_again_and_again_ends_with_the_records_of_an_undisturbed_one(
    tmp_path, toy, toys, own_tmp
):
    toys.write_text(
        toys.read_text().replace("[1e-1, 1e-2, 1e-3]", "{ from = 1e-1, to = 1e-4, per_decade = 4 }")
    )
    calm, troubled = tmp_path / "calm", tmp_path / "troubled"
    with start(calm, toy, toys) as process:
        assert process.wait() == 0, process.stdout.read().decode()
    path, chance = troubled / store.NAME, random.Random(2026)
    killed = 0
    while True:
        process = start(troubled, toy, toys)
        if killed < KILLS:
            wait_for_growth(path, process, chance.randrange(4000))  # a start alone is no moment of danger
            time.sleep(chance.uniform(0.0, 0.05))
            killed += process.poll() is None
            os.killpg(process.pid, signal.SIGKILL)
        with process:
            code = process.wait()
            assert code in (0, -signal.SIGKILL), process.stdout.read().decode()
        Store(path).read()  # never corrupt, at no moment
        if code == 0:
            break
    assert killed >= 2
    expected, found = (
        Counter((rec["kind"], rec["key"]) for rec in Store(folder / store.NAME).read()[0])
        for folder in (calm, troubled)
    )
    assert set(expected.values()) == {1}
    assert found == expected


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_children_of_a_killed_bench_end_with_it(jobs, tmp_path, toy, toys, own_tmp):
    toy.write_text(
        toy.read_text().replace(
            "time.sleep(0.005)",
            f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)",
        )
    )
    process = start(tmp_path / "out", toy, toys, jobs)
    end = time.monotonic() + 60
    while (
        not (text := (tmp_path / "pid").read_text() if (tmp_path / "pid").exists() else "")
        and time.monotonic() < end
    ):
        time.sleep(0.05)
    child = int(text)
    with process:
        process.kill()  # the parent alone, not its group
    while alive(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(child)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
