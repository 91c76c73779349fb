"""References over a whole span: values at Chebyshev points, by the two methods that make end values.

Usage: python -m testset.extended.curves wind_pendulum 10.0
"""

from __future__ import annotations

import json
import sys
from typing import Any

import mpmath
import numpy as np

import testset
from testset.extended.pairs import DIGITS
from testset.extended.recipes import RECIPES
from testset.make_references import digits
from testset.stored import FOLDER

POINTS = 129  # the polynomial through them is exact to rounding for a few oscillations


def places(t_end: float, count: int = POINTS) -> list[float]:
    """Return Chebyshev points of the second kind on [0, t_end], as the numbers that are stored."""
    return [float(t_end / 2 * (1 - np.cos(np.pi * k / (count - 1)))) for k in range(count)]


def curve(name: str, t_end: float) -> dict[str, Any]:
    """Return times and values; refused if the two methods agree to fewer digits than the recipe wants."""
    recipe, groups = RECIPES[name], testset.get(name).groups
    with mpmath.workdps(DIGITS):
        system = recipe.system()
        ends = [mpmath.mpf(t) for t in places(t_end)[1:]]
        found = [(system.whole(system.t_end * 0, system.start), None)]
        found += recipe.pair(system, ends, recipe.work)
        agreed = min(digits(first, second, groups) for first, second in found[1:])
        if agreed < recipe.digits:
            raise SystemExit(f"Two methods agree to {agreed:.1f} digits only; nothing is written.")
        values = [[mpmath.nstr(value, 20) for value in first] for first, _ in found]
    return {"t": places(t_end), "y": values}


def write(name: str, t_end: float) -> None:
    """Put the curve beside the stored end value of this time."""
    path = FOLDER / f"{name}.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    entry = next(each for each in (data, *data.get("also", ())) if each["t"] == t_end)
    entry["curve"] = curve(name, t_end)
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1], float(sys.argv[2]))
