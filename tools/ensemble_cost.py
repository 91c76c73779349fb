"""What an ensemble costs: 1000 pendulums in one thread and in two, beside the single runs.

Prints the sum of the compiled run times of single solves, the time of solve_many with one thread and with
two, how many functions were compiled meanwhile, and how many members are bitwise the single runs. As a
control, how much two threads of hashing gain on this machine at this moment: nothing can gain more.
Usage: python tools/ensemble_cost.py [--members N] [--repeats N]
"""

from __future__ import annotations

import argparse
import hashlib
import threading
import time

import numpy as np

import herk
import testset
from herk.jit.native import Native

T_END, POINTS = 20.0, 51


def members(count: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return lengths, gravities and starts on the constraints; the multiplier is left open."""
    rng = np.random.default_rng(0)
    length, gravity, angle = rng.uniform(0.5, 2, count), rng.uniform(5, 15, count), rng.uniform(-2, 2, count)
    zero, still_open = np.zeros(count), np.full(count, np.nan)
    start = [length * np.sin(angle), -length * np.cos(angle), zero, zero, still_open]
    return {"l": length, "g": gravity}, np.stack(start, axis=1)


def two_threads_gain() -> float:
    """Return how much faster two threads hash than one, without the interpreter's lock."""
    content = b"x" * 50_000_000

    def seconds(count: int) -> float:
        workers = [threading.Thread(target=hashlib.sha256, args=(content,)) for _ in range(count)]
        started = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return time.perf_counter() - started

    return 2 * seconds(1) / seconds(2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    model, times = testset.get("pendulum").model, np.linspace(0.0, T_END, POINTS)
    values, y0 = members(asked.members)
    found = herk.solve_many(model, values, y0, (0.0, T_END), t_eval=times, jobs=1)
    herk.solve_dae(model)
    before, same, compiled = Native.compilations, 0, 0.0
    for k in range(asked.members):
        own, start = {name: column[k] for name, column in values.items()}, [*y0[k, :4], None]
        sol = herk.solve_dae(model, (0.0, T_END), start, parameters=own, t_eval=times)
        compiled += sol.seconds or 0.0
        same += np.array_equal(sol.y, found.y[k])
    seconds: dict[int, list[float]] = {1: [], 2: []}
    gains = []
    for _ in range(asked.repeats):
        gains.append(two_threads_gain())
        for jobs, kept in seconds.items():
            again = herk.solve_many(model, values, y0, (0.0, T_END), t_eval=times, jobs=jobs)
            kept.append(again.seconds or 0.0)
    one, two = min(seconds[1]), min(seconds[2])
    print(f"single runs: {compiled:.3f} s in compiled steps, {same} of {asked.members} bitwise the same")
    print(f"solve_many:  {one:.3f} s in one thread = {one / compiled:.2f} times that")
    print(f"             {two:.3f} s in two, {one / two:.2f} times faster")
    print(f"hashing gains {max(gains):.2f} at best; compilations meanwhile: {Native.compilations - before}")


if __name__ == "__main__":
    main()
