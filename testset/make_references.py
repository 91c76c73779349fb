"""Recompute references in extended precision by two independent methods and compare them with those stored.

python -m testset.make_references [--problem GLOB] [--write NAME]: extrapolated midpoint rule against Gauss collocation, on the ODE under
each problem, in long doubles (18 digits) or, for polar forms, in 40 digits. Exit code 1 if a stored reference is not confirmed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

import testset
from testset.extended.methods import collocation, extrapolated
from testset.extended.special import BY_HAND, System
from testset.extended.underlying import Long, Underlying

FOLDER = Path(__file__).with_name("references")
# Models without stiffness, kinks and unbounded effort; the others are left to the solvers of the bench.
BY_MODEL = ("akzo", "andrews", "pendulum_3d")
# Digits to be confirmed where 14 cannot be: the start of the mechanism is rounded to doubles and errors grow a thousandfold; accelerations
# of the chain come from a linear system at every evaluation.
ENOUGH = {"andrews": 12.0, "hanging_chain": 13.0}
# Error allowed in a step, relative to each unknown and to a thousandth of the largest. It must stay above rounding, which is larger
# where unknowns start at zero (the chain, the mechanism) or a linear system is solved at every evaluation.
TOLERANCE = {"hanging_chain": 1e-14, "andrews": 1e-15}
PARTS = 2  # cuts of an extrapolated step, long against the 8 stages of collocation


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def system(name: str) -> System:
    """Return the ODE of a problem."""
    if name in BY_HAND:
        return BY_HAND[name]()
    problem = testset.get(name)
    under = Underlying(problem)
    return System(under.rate, under.start(), Long(repr(problem.t_span[1])), under.whole, {}, problem.source)


def recompute(name: str) -> tuple[Any, Any, System]:
    """Return the end values by both methods."""
    given = system(name)
    fine = isinstance(given.t_end, Long)
    tolerance, tight, columns, stages = (TOLERANCE.get(name, 1e-16), 1e-18, 10, 8) if fine else (1e-30, 1e-36, 16, 12)
    begin = given.t_end * 0
    end, times = extrapolated(given.rate, begin, given.t_end, given.start, tolerance, columns)
    other = collocation(given.rate, times, given.start, PARTS, tight, stages)
    return given.whole(given.t_end, end), given.whole(given.t_end, other), given


def digits(values: Any, others: Any, groups: Any) -> float:
    """Return the digits to which two vectors agree, each component relative to the largest of its group, or to one if all are small."""
    worst = 0.0
    for members in groups.values():
        places = list(members)
        size = max(max(abs(others[places])), type(others[0])("1e-3"))
        worst = max(worst, float(max(abs(values[places] - others[places])) / size))
    return float(-np.log10(max(worst, 1e-40)))


def kept(name: str, t_end: float, kind: Any) -> Any:
    """Return the stored end values with all their digits, or None."""
    path = FOLDER / f"{name}.json"
    if not path.exists():
        return None
    data = json.loads(path.read_text(encoding="utf-8"))
    entries = [entry for entry in (data, *data.get("also", ())) if entry["t"] == t_end]
    return np.array([kind(text) for text in entries[0]["y"]]) if entries else None


def check(name: str) -> bool:
    """Recompute one reference, print what agrees, return whether it is confirmed."""
    started = time.process_time()
    first, second, given = recompute(name)
    groups = testset.get(name).groups
    agreed, known = digits(first, second, groups), kept(name, float(given.t_end), type(given.t_end))
    found = None if known is None else digits(first, known, groups)
    good = agreed >= ENOUGH.get(name, 14.0) and (found is None or found >= ENOUGH.get(name, 14.0))
    against = "nothing is stored" if found is None else f"the stored one to {found:.1f}"
    words = f"two methods agree to {agreed:.1f} digits, with {against} ({time.process_time() - started:.0f} s)"
    say(f"{'PASS' if good else 'FAIL'}  {name}: {words}")
    return good


def write(name: str) -> None:
    """Store what was recomputed; only digits that both methods give."""
    first, second, given = recompute(name)
    agreed = digits(first, second, testset.get(name).groups)
    fine = isinstance(given.t_end, Long)
    how = "long doubles" if fine else f"{mpmath.mp.dps} digits"
    text = [np.format_float_scientific(value, precision=19) if fine else mpmath.nstr(value, 25) for value in first]
    record = {
        "t": float(given.t_end), "y": text, "digits": int(min(agreed, 24)), "parameters": given.parameters, "source": given.source,
        "how": f"extrapolated midpoint rule and Gauss collocation in {how} agree to {agreed:.1f} digits (testset/make_references.py)",
        "published_digits": None, "published_note": "",
    }  # fmt: skip
    (FOLDER / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--problem", default="*", help="names of problems, with * and ?")
    parser.add_argument("--write", metavar="NAME", choices=sorted(BY_HAND), help="store the reference of this problem anew")
    options = parser.parse_args(arguments)
    if np.finfo(Long).eps > 1e-18:
        say("Long doubles are not longer than doubles on this machine; references cannot be recomputed here.")
        return 2
    mpmath.mp.dps = 40
    if options.write:
        write(options.write)
        return 0
    chosen = [name for name in sorted({*BY_MODEL, *BY_HAND}) if fnmatch(name, options.problem)]
    if not chosen:
        say(f"No reference named {options.problem!r} can be recomputed; known: {', '.join(sorted({*BY_MODEL, *BY_HAND}))}.")
        return 2
    confirmed = [check(name) for name in chosen]
    return 0 if all(confirmed) else 1


if __name__ == "__main__":
    sys.exit(main())
