"""A member that hangs or kills its process costs its own row and nothing else."""

from __future__ import annotations

import os
import time

from tests.fuzz.pool import Pool


def work(task: str) -> str:
    if task == "hang":
        while True:
            pass
    if task == "wait":
        time.sleep(600)
    if task == "die":
        os._exit(3)
    return task.upper()


def test_hanging_and_dying_tasks_cost_their_own_row_and_leave_no_process() -> None:
    pool = Pool(work, jobs=1, limit=0.4)
    found = list(pool.run(iter(["a", "hang", "wait", "b", "die", "c"])))
    assert found == [
        ("a", "A", "done"),
        ("hang", None, "hang"),
        ("wait", None, "hang"),
        ("b", "B", "done"),
        ("die", None, "died"),
        ("c", "C", "done"),
    ]
    assert pool.workers == []


def test_an_abandoned_run_leaves_no_process() -> None:
    pool = Pool(work, jobs=1, limit=60.0)
    stream = pool.run(iter(["a", "b", "c"]))
    next(stream)
    (worker,) = pool.workers
    stream.close()
    assert not worker.process.is_alive()
