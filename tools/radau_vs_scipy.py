"""Compare radau5 with the Radau codes of SciPy and solve_dae.

Steps and processor time at equal tolerances, side by side.

SciPy gets the same compiled right-hand side and Jacobian of the form `ode`, solve_dae the compiled residual
of the form `index1`. Runs alternate; the shortest of several counts. The last line for each rival has the
smallest ratio of times and the range of steps. Usage: python tools/radau_vs_scipy.py [--repeats N]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import baselines
import herk
import testset
from herk.core import Problem, Settings, Solution

TOLERANCES = (1e-4, 1e-6, 1e-8)
RIVALS = (("scipy_radau", "ode"), ("solve_dae_radau", "index1"))


def van_der_pol() -> Problem:
    """Return the oscillator with eps = 1e-6 on [0, 2] (Hairer & Wanner II, IV.10).

    Y1 once more as an algebraic unknown.
    """
    f = ["y2", "((1 - y1**2)*y2 - y1)/eps", "y1 - copy"]
    E = np.diag([1, 1, 0])
    model = herk.Model(
        "van_der_pol",
        ["y1", "y2", "copy"],
        E,
        f,
        parameters={"eps": 1e-6},
        t_span=(0.0, 2.0),
        y0=(2.0, 0.0, 2.0),
    )
    return Problem(
        name="van_der_pol", title="", t_span=model.t_span, y0=np.array(model.y0), source="", model=model
    )


def timed(solver, prepared, settings: Settings) -> tuple[float, Solution]:
    start = time.process_time()
    sol = solver.solve(prepared, settings)
    return time.process_time() - start, sol


def compare(problem: Problem, rival: str, form: str, repeats: int) -> list[tuple[float, float]]:
    """Print one line for each tolerance; return ratios of times and of steps."""
    ours, theirs = baselines.get("radau5"), baselines.get(rival)
    a, b = ours.prepare(problem, form), theirs.prepare(problem, form)
    found = []
    for tolerance in TOLERANCES:
        settings = Settings(rtol=tolerance, atol=tolerance * 1e-4)
        runs = [(timed(ours, a, settings), timed(theirs, b, settings)) for _ in range(repeats)]
        (_, first), (_, second) = runs[0]
        fast, slow = min(run[0][0] for run in runs), min(run[1][0] for run in runs)
        found.append((slow / fast, first.nstep / second.nstep))
        head = (
            f"{problem.name:<12} {form:<7} {tolerance:7.0e}  radau5 {first.nstep:5d} steps"
            f" {1e3 * fast:8.2f} ms"
        )
        end = np.abs(first.y[:, -1] - second.y[:, -1]).max()
        print(
            f"{head}   {rival:<15} {second.nstep:5d} steps {1e3 * slow:8.2f} ms   times {slow / fast:7.0f}  "
            f" ends differ by {end:.0e}"
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="how often both are run in turn (5)")
    repeats = parser.parse_args().repeats
    problems = [testset.get("robertson"), van_der_pol(), testset.get("akzo")]
    for rival, form in RIVALS:
        found = [pair for problem in problems for pair in compare(problem, rival, form, repeats)]
        steps = [ratio for _, ratio in found]
        slower = min(times for times, _ in found)
        print(
            f"{rival}: at least {slower:.0f} times slower; steps of radau5 / its: {min(steps):.2f} to"
            f" {max(steps):.2f}"
        )


if __name__ == "__main__":
    main()
