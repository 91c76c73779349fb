"""Compare the generated kernel with a hand-written C program of the same algorithm.

Pendulum, classical Runge-Kutta, fixed step.

Both are run in turn for two numbers of steps; the difference of the times is the cost of the steps alone,
without any set-up. C is compiled twice: with products and sums fused where the compiler likes, and with the
arithmetic of the kernel, which rounds every operation so that compiled and interpreted runs agree. Usage:
python tools/kernel_vs_c.py [--repeats N]; the last line is `ratio R`, time of herk over time of C with the
same arithmetic.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import herk
import testset

STEP, FEW, MANY = 1e-3, 20_000, 220_000
START = [-1.0, 0.0, 0.0, 0.0, 0.0]


def compile_c(folder: str, contract: str) -> list[str]:
    program = f"{folder}/pendulum_rk4_{contract}"
    source = Path(__file__).with_name("pendulum_rk4.c")
    subprocess.run(
        ["gcc", "-O3", "-march=native", f"-ffp-contract={contract}", "-o", program, str(source), "-lm"],
        check=True,
    )
    return [program, repr(STEP), str(FEW), str(MANY)]


def run_c(command: list[str]) -> tuple[list[float], list[np.ndarray]]:
    """Return processor seconds and end state (t, y) for both numbers of steps."""
    rows = [
        [float(word) for word in line.split()]
        for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    ]
    return [row[0] for row in rows], [np.array(row[3:]) for row in rows]


def run_herk(dae: herk.Dae) -> tuple[list[float], list[np.ndarray]]:
    seconds, ends = [], []
    for steps in (FEW, MANY):
        start = time.process_time()
        sol = herk.solve_dae(dae, (0.0, steps * STEP), START, method="rk4", step=STEP)
        seconds.append(time.process_time() - start)
        if not sol.success or sol.nstep != steps:
            sys.exit(f"herk did not make {steps} steps: {sol.message}")
        ends.append(np.append(sol.t[-1], sol.y[:, -1]))
    return seconds, ends


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=25, help="how often both are run in turn (25)")
    repeats = parser.parse_args().repeats
    dae = testset.get("pendulum").dae
    with tempfile.TemporaryDirectory() as folder:
        programs = {"C, fused": compile_c(folder, "fast"), "C": compile_c(folder, "off")}
        run_herk(dae)  # compiles
        times: dict[str, list[list[float]]] = {"C, fused": [], "C": [], "herk": []}
        for _ in range(repeats):
            for name, command in programs.items():
                seconds, ends_c = run_c(command)
                times[name].append(seconds)
            seconds, ends = run_herk(dae)
            times["herk"].append(seconds)
    gap = max(float(np.abs(a - b).max()) for a, b in zip(ends, ends_c, strict=True))
    print(f"end states after {FEW} and {MANY} steps differ by at most {gap:.1e}")
    if not gap <= 1e-10:
        sys.exit("The two programs do not compute the same.")
    cost = {}
    for name, pairs in times.items():
        few, many = np.min(pairs, axis=0)
        cost[name] = (many - few) / (MANY - FEW) * 1e9
        print(f"{name:>8} {cost[name]:7.1f} ns/step   ({few * 1e3:.2f} ms and {many * 1e3:.2f} ms)")
    print(f"over C with fused operations {cost['herk'] / cost['C, fused']:.2f}")
    print(f"ratio {cost['herk'] / cost['C']:.2f}")


if __name__ == "__main__":
    main()
