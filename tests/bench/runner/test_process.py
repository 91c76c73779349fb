"""Whatever happens in the other process, the listener gets an answer in time."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from herk.bench.runner.process import reports, until


def honest(send, number):
    print("nobody hears this")
    send("number", number)
    send("number", number + 1)


def leaving(send):
    send("number", 1)
    os._exit(3)


def crashing(send):
    ctypes.string_at(0)


def hanging(send):
    send("number", 1)
    time.sleep(600)


def raising(send):
    raise SystemExit("a user's file may do this")


def greedy(send):
    send("size", len(bytearray(20_000_000_000)))


def heard(target, *arguments, seconds=60.0):
    return list(reports(target, *arguments, patience=until(time.monotonic() + seconds)))


def test_reports_arrive_in_order_and_end_with_done():
    assert heard(honest, 1) == [("number", 1), ("number", 2), ("done", None)]


def test_process_that_leaves_keeps_what_it_reported():
    assert heard(leaving) == [("number", 1), ("died", "The process ended without a result, exit code 3.")]


def test_process_that_crashes_is_named_by_its_signal():
    assert heard(crashing) == [("died", "The process was killed by signal SIGSEGV.")]


def test_process_that_hangs_is_ended():
    kind, seconds = heard(hanging, seconds=3.0)[-1]
    assert kind == "late"
    assert seconds <= 3.0


def test_exception_arrives_as_text():
    [(kind, text)] = heard(raising)
    assert kind == "failed"
    assert "SystemExit: a user's file may do this" in text


def test_memory_is_limited():
    [(kind, text)] = heard(greedy)
    assert kind == "failed"
    assert "MemoryError" in text


def test_listener_who_stops_ends_the_process():
    listening = reports(hanging, patience=lambda: 60.0)
    assert next(listening) == ("number", 1)
    start = time.monotonic()
    listening.close()
    assert time.monotonic() - start < 30


LISTENER = """
from herk.bench.runner.process import reports
from tests.bench.runner.test_process import telling

for kind, pid in reports(telling, patience=lambda: 60.0):
    print(pid, flush=True)
"""


def telling(send):
    send("pid", os.getpid())
    time.sleep(600)


def with_children(send):
    """Tell the processes of a user's file that starts others: a program, and a fork of itself."""
    program = subprocess.Popen(["sleep", "600"])
    fork = os.fork()
    if not fork:
        time.sleep(600)
        os._exit(0)
    send("pids", [os.getpid(), program.pid, fork])
    time.sleep(600)


def parting(send):
    send("pid", subprocess.Popen(["sleep", "600"]).pid)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux lets a process die with another")
def test_process_ends_with_a_bench_that_is_killed(own_tmp):
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", LISTENER], cwd=root, stdout=subprocess.PIPE, text=True
    ) as bench:
        pid = int(bench.stdout.readline())
        bench.kill()
    assert not _left([pid])


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux lets a process die with another")
def test_what_a_file_of_the_user_has_started_ends_with_a_bench_that_is_killed(own_tmp):
    root, code = Path(__file__).parents[3], LISTENER.replace("telling", "with_children")
    with subprocess.Popen([sys.executable, "-c", code], cwd=root, stdout=subprocess.PIPE, text=True) as bench:
        pids = json.loads(bench.stdout.readline())
        assert len(pids) == 3
        bench.kill()
    assert not _left(pids)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux lets a process die with another")
def test_what_a_file_of_the_user_has_started_ends_with_the_process_that_ran_it():
    [(_, pid), _] = heard(parting)
    assert not _left([pid])
    listening = reports(with_children, patience=lambda: 60.0)
    _, pids = next(listening)
    listening.close()
    assert not _left(pids)


def littering(send):
    """Leave temporary files of this process and of a program it has started, and hang."""
    program = subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True).stdout.strip()
    send("folders", [tempfile.mkdtemp(), program])
    time.sleep(600)


def dying(send):
    send("folders", [tempfile.mkdtemp()])
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("target", [littering, dying])
def test_temporary_files_go_with_the_process_that_is_ended_or_dies(target):
    listening = reports(target, patience=lambda: 60.0)
    _, folders = next(listening)
    assert all(Path(tempfile.gettempdir()) == Path(folder).parents[1] for folder in folders)
    [*listening] if target is dying else listening.close()
    assert not _there(folders)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux lets a process die with another")
def test_temporary_files_go_when_the_bench_is_killed(own_tmp):
    root, code = Path(__file__).parents[3], LISTENER.replace("telling", "littering")
    with subprocess.Popen([sys.executable, "-c", code], cwd=root, stdout=subprocess.PIPE, text=True) as bench:
        folders = json.loads(bench.stdout.readline().replace("'", '"'))
        assert all(Path(folder).is_relative_to(own_tmp) for folder in folders)
        bench.kill()
    assert not _there(folders)


def _there(folders: list[str]) -> list[str]:
    """Return those of the folders that are not removed within a while."""
    end = time.monotonic() + 10
    while (left := [each for each in folders if Path(each).exists()]) and time.monotonic() < end:
        time.sleep(0.02)
    return left


def _left(pids: list[int]) -> list[int]:
    """Return those of the processes that do not end within a while."""
    end = time.monotonic() + 20
    while (left := [pid for pid in pids if _alive(pid)]) and time.monotonic() < end:
        time.sleep(0.05)
    for pid in left:  # leave nothing behind
        os.kill(pid, signal.SIGKILL)
    return left


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
