"""What the constraints cost, and what they buy.

Dop853 on the `ode` form of the pendulum (no constraints) against HERK, at equal error.

An adaptive run's error scatters by a decade when its tolerance moves a little, so four tolerances per decade
are run, and lines fitted by medians of slopes (Theil and Sen): error over tolerance, and time over tolerance
within a decade of the tolerance the wanted error needs. Usage: python tools/constraints_cost.py [--repeats
N]; the last lines are `ratio10 R` and `ratio1000 R`, time of the ODE over time of HERK.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np
from scipy.stats import theilslopes

import herk
import testset

FORMS = ("ode", "overdetermined")


@dataclass(frozen=True)
class Task:
    """A span, the error wanted at its end, and for each form the decades of the tolerance that are tried."""

    periods: int
    error: float
    decades: dict[str, tuple[float, float]]

    def tolerances(self, form: str) -> np.ndarray:
        """Return four tolerances per decade."""
        loosest, tightest = self.decades[form]
        return 10.0 ** -np.arange(loosest, tightest + 0.01, 0.25)


TASKS = (
    Task(10, 1e-8, {"ode": (10.0, 13.0), "overdetermined": (8.0, 11.5)}),
    Task(1000, 1e-5, {"ode": (13.0, 15.0), "overdetermined": (10.0, 13.0)}),
)


def measure(task: Task, repeats: int) -> dict[str, np.ndarray]:
    """Return for each form one row per tolerance; runs are interleaved.

    A row: tolerance, error of x, y, v, w at the end, ms, steps, drift of the length.
    """
    problem = testset.get("pendulum", t_end=2.0 * task.periods)
    exact = problem.reference.exact(problem.t_span[1])[:4]
    forms = {name: problem.model.form(name) for name in FORMS}
    rows = {name: np.full((len(task.tolerances(name)), 5), np.inf) for name in FORMS}
    for repeat in range(repeats + 1):
        for name, form in forms.items():
            for i, tolerance in enumerate(task.tolerances(name)):
                start = time.process_time()
                sol = herk.solve_dae(form, problem.t_span, method="dop853", rtol=tolerance, atol=tolerance)
                ms = 1e3 * (time.process_time() - start) if repeat else np.inf  # the first round compiles
                if not sol.success:
                    sys.exit(f"{name} at {tolerance:.1e}: {sol.message}")
                error = float(np.abs(sol.y[:4, -1] - exact).max())
                drift = float(np.abs(np.hypot(*sol.y[:2]) - 1.0).max())
                rows[name][i] = tolerance, error, min(ms, rows[name][i, 2]), sol.nstep, drift
    return rows


def set_up(periods: int, name: str) -> float:
    """Return the ms that a call takes before and after its steps; they are part of all times shown."""
    form, times = testset.get("pendulum", t_end=2.0 * periods).model.form(name), []
    for _ in range(50):
        start = time.process_time()
        herk.solve_dae(form, method="dop853", max_steps=1)
        times.append(1e3 * (time.process_time() - start))
    return min(times)


def time_at(error: float, rows: np.ndarray) -> float:
    """Return the ms for this error.

    Error over tolerance gives the tolerance that is needed, time over tolerance what it takes.
    """
    tolerance, errors, ms = np.log10(rows[:, :3]).T
    slope, level = theilslopes(errors, tolerance)[:2]
    needed = (np.log10(error) - level) / slope
    if not tolerance.min() <= needed <= tolerance.max():
        sys.exit(f"The error {error:.0e} needs a tolerance of {10**needed:.1e}, outside those tried.")
    near = np.abs(tolerance - needed) <= 1.0
    slope, level = theilslopes(ms[near], tolerance[near])[:2]
    found = float(10 ** (level + slope * needed))
    print(f"   error {error:.0e}: tolerance {10**needed:.1e}, {found:.3f} ms")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--repeats", type=int, default=7, help="how often each run is timed; the shortest counts (7)"
    )
    repeats = parser.parse_args().repeats
    ratios = {}
    for task in TASKS:
        rows = measure(task, repeats)
        at = {}
        for name in FORMS:
            print(f"\n{name}, {task.periods} periods (set-up {set_up(task.periods, name):.2f} ms)")
            print(f"{'tolerance':>12}{'error':>12}{'ms':>10}{'steps':>9}{'drift':>12}")
            for row in rows[name]:
                print(f"{row[0]:12.1e}{row[1]:12.1e}{row[2]:10.3f}{row[3]:9.0f}{row[4]:12.1e}")
            at[name] = time_at(task.error, rows[name])
        ratios[task.periods] = at["ode"] / at["overdetermined"]
    print()
    for periods, ratio in ratios.items():
        print(f"ratio{periods} {ratio:.2f}")


if __name__ == "__main__":
    main()
