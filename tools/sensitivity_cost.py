"""What sensitivities cost: five parameters or start values beside the plain solve, in processor time.

Runs alternate; the shortest of several counts. Usage: python tools/sensitivity_cost.py [--repeats N]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import herk
import testset

CASES: tuple[tuple[str, float, str, list[str]], ...] = (
    ("pendulum", 20.0, "dopri5", ["l", "g", "m", "y0:y", "y0:w"]),
    ("pendulum", 200.0, "dopri5", ["l", "g", "m", "y0:y", "y0:w"]),
    ("wind_pendulum", 50.0, "dopri5", ["m", "g", "l0", "pull", "wind"]),
    ("car_axis", 3.0, "dopri5", ["K", "L", "L0", "r", "omega"]),
    ("akzo", 180.0, "dopri5", ["k1", "k2", "k3", "k4", "klA"]),
    ("akzo", 180.0, "radau5", ["k1", "k2", "k3", "k4", "klA"]),
    ("car_axis", 3.0, "radau5", ["K", "L", "L0", "r", "omega"]),
    ("pendulum", 20.0, "radau5", ["l", "g", "m", "y0:y", "y0:w"]),
)


def shortest(repeats: int, *calls: Any) -> list[float]:
    """Return the shortest processor time of each, called in turn."""
    best = [float("inf")] * len(calls)
    for _ in range(repeats):
        for k, call in enumerate(calls):
            started = time.thread_time()
            call()
            best[k] = min(best[k], time.thread_time() - started)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=60)
    asked = parser.parse_args()
    for name, t_end, method, names in CASES:
        model = testset.get(name).model.with_span(t_end)

        def plain(model: Any = model, method: str = method) -> herk.Solution:
            return herk.solve_dae(model, method=method)

        def differentiated(
            model: Any = model, method: str = method, names: list[str] = names
        ) -> herk.Solution:
            return herk.solve_dae(model, method=method, sensitivities=names)

        steps = differentiated().nstep
        one, five = shortest(asked.repeats, plain, differentiated)
        row = f"{name:14} {method:7} {steps:6} steps: {1e3 * one:7.2f} ms, with 5 sensitivities {1e3 * five:7.2f} ms"
        print(f"{row} = {five / one:.2f} times")


if __name__ == "__main__":
    main()
