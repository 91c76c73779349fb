"""What a model costs: CPU seconds from `Model` to the first result, with other parameter values.

And with nothing compiled at all. Then chains of many rods (five unknowns each): where the time goes.

Each figure comes from a process of its own, so that nothing is warm that would not be for a user.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

FIRST = """
import time
import herk, sympy, numba, scipy.linalg, scipy.optimize
import herk.model.index_reduction.regularize, herk.integrate.solve
begin = time.process_time()
{model}
sol = herk.solve_dae(model, method="{method}")
assert sol.success, sol.message
first = time.process_time() - begin

def fifty(**each):
    begin = time.process_time()
    for k in range(50):
        herk.solve_dae(model, method="{method}", **{{name: make(k) for name, make in each.items()}})
    return (time.process_time() - begin) / 50

def values(k):
    return {{"{name}": {value} * (1 + k / 500)}}

while time.process_time() - begin - first < 0.5:  # kernels for long use are in place
    fifty()
from herk.jit.native import Native
before, turns = Native.compilations, range(7)
again, other = zip(*((fifty(), fifty(parameters=values, consistent=lambda k: "{start}")) for _ in turns))
print(first, min(again), min(other), Native.compilations - before)
"""
PENDULUM = """model = herk.Model("pendulum", ["x", "y", "v", "w", "lam"], [[1,0,0,0,0],[0,1,0,0,0],[0,0,"m",0,0],[0,0,0,"m",0],[0]*5],
    ["v", "w", "-2*x*lam", "-2*y*lam - m*g", "x**2 + y**2 - l**2"], parameters={"m": 1.0, "l": 1.0, "g": 9.81},
    t_span=(0, 2), y0=[1, 0, 0, 0, None])"""
CIRCUIT = """import testset
model = testset.get("cv_circuit").model"""
ANDREWS = """import testset
model = testset.get("andrews").model"""
MODELS = [
    ("pendulum", PENDULUM, "dopri5", "g", 9.81, "check"),
    ("pendulum", PENDULUM, "dop853", "g", 9.81, "check"),
    ("cv_circuit", CIRCUIT, "dopri5", "R", None, "project"),
    ("andrews", ANDREWS, "dopri5", "mom", None, "project"),
]


CHAIN = """
import resource, time
import herk, sympy, numba, scipy.linalg, scipy.optimize, scipy.sparse.linalg, scipy.sparse.csgraph
import herk.model.index_reduction.regularize, herk.integrate.solve
from herk.jit.native import Native
N = {count}
x, y = [["0", *(f"{{c}}{{i}}" for i in range(N)), None] for c in "xy"]
pull = lambda z, i: f"-2*T{{i}}*({{z[i + 1]}} - {{z[i]}})" + (f" + 2*T{{i + 1}}*({{z[i + 2]}} - {{z[i + 1]}})" if i + 1 < N else "")
f = [f"{{c}}{{i}}" for i in range(N) for c in "uw"]
states = [f"{{c}}{{i}}" for i in range(N) for c in "xy"] + f + [f"T{{i}}" for i in range(N)]
f = f + [force for i in range(N) for force in (pull(x, i), pull(y, i) + " - m*g")]
f += [f"({{x[i + 1]}} - {{x[i]}})**2 + ({{y[i + 1]}} - {{y[i]}})**2 - l**2" for i in range(N)]
E = {{(i, i): 1 if i < 2 * N else "m" for i in range(4 * N)}}
y0 = [v for i in range(N) for v in (i + 1.0, 0.0)] + [0.0] * 2 * N + [None] * N
times = [time.process_time()]
model = herk.Model("chain", states, E, f, parameters={{"m": 0.5, "g": 9.81, "l": 1.0}}, t_span=(0, 0.01), y0=y0)
times.append(time.process_time())
assert herk.regularize(model).counts == [N] * 3
times.append(time.process_time())
before = Native.compilations
model.form().g(0.0, herk.consistent_start(model))
times.append(time.process_time())
sol = herk.solve_dae(model, method="dopri5")
assert sol.success, sol.message
times.append(time.process_time())
parts = [late - early for early, late in zip(times, times[1:])]
print(*parts, sum(parts), Native.compilations - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
CHAINS = (20, 200, 2000)


def measured(program: str, folder: str) -> list[str]:
    """Return what a process prints that finds its compiled loop in this folder."""
    environment = os.environ | {"HERK_CACHE_DIR": folder}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def main() -> None:
    """Print the table."""
    import testset

    print(
        f"{'model':12s}{'method':9s}{'first result':>14s}{'nothing compiled':>18s}{'again':>10s}{'other values':>14s}{'compiled':>10s}"
    )
    for label, model, method, name, value, start in MODELS:
        known = {} if value else {str(p): v for p, v in testset.get(label).model.parameters.items()}
        name = name if value or name in known else next(iter(known), name)
        at = value or known.get(name, 1.0)
        program = FIRST.format(model=model, method=method, name=name, value=at, start=start)
        with tempfile.TemporaryDirectory() as folder:
            cold, *_ = measured(program, folder)
            first, again, other, count = measured(program, folder)
        times = (
            f"{float(first):12.2f} s{float(cold):16.2f} s{1e3 * float(again):7.2f}"
            f" ms{1e3 * float(other):11.2f} ms"
        )
        print(f"{label:12s}{method:9s}{times}{count:>10s}")
    chains()


def chains() -> None:
    """Print where the time goes for chains of rods, from `Model` to the first result."""
    titles = ("Model", "analysis", "form, start", "solve", "together", "compiled", "MB")
    print(f"\n{'rods':>6s}" + "".join(f"{title:>13s}" for title in titles))
    for count in CHAINS:
        with tempfile.TemporaryDirectory() as folder:
            measured(CHAIN.format(count=21), folder)  # the loop is compiled once per machine
            *seconds, compiled, memory = measured(CHAIN.format(count=count), folder)
        shown = "".join(f"{float(value):11.2f} s" for value in seconds)
        print(f"{count:6d}{shown}{compiled:>13s}{float(memory):13.0f}")


if __name__ == "__main__":
    main()
