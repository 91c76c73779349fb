"""Recompute references in extended precision by two independent methods and compare them with those stored.

python -m testset.make_references [--list] [--problem GLOB] [--write NAME]. Exit code 1 if a stored reference
is not confirmed, 2 if nothing was recomputed. Files are changed by --write alone, and only where the stored
value is missing, contradicted or has fewer digits.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

import testset
from testset.extended.pairs import DIGITS
from testset.extended.recipes import RECIPES, Recipe
from testset.extended.underlying import Long

FOLDER = Path(__file__).with_name("references")
MOST = 40.0  # digits that are counted


@dataclass(frozen=True)
class Finding:
    """The values of both methods at an end time, the digits to which they agree.

    What is stored and to how many digits it agrees.
    """

    t: Any
    first: Any
    second: Any
    agreed: float
    entry: dict[str, Any] | None
    found: float | None

    def confirms(self, wanted: float) -> bool:
        """Tell whether both methods, and what is stored, have the digits wanted.

        Or all that are claimed if those are fewer.
        """
        if self.entry is None or self.found is None:
            return self.agreed >= wanted
        return self.agreed >= wanted and self.found >= min(wanted, self.entry["digits"])


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def digits(values: Any, others: Any, groups: Any, relative: bool = False) -> float:
    """Return the digits to which two vectors agree, each component relative to the largest of its group.

    Or to 0.001.

    With `relative`, relative to its own size.
    """
    kind, worst = type(others[0]), 0.0
    for members in groups.values():
        places = list(members)
        floor = kind("1e-60") if relative else max(*abs(others[places]), kind("1e-3"))
        size = np.maximum(abs(others[places]), floor) if relative else floor
        worst = max(
            worst,
            *(
                float(error) if error == error else np.inf
                for error in abs(values[places] - others[places]) / size
            ),
        )
    return float(-np.log10(max(worst, 10**-MOST)))


def kept(name: str) -> list[dict[str, Any]]:
    """Return the stored values, one entry for each end time.

    Entries after the first inherit the digits of the first.
    """
    path = FOLDER / f"{name}.json"
    if not path.exists():
        return []
    data = json.loads(path.read_text(encoding="utf-8"))
    return [data, *({"digits": data["digits"], **entry} for entry in data.get("also", ()))]


def recompute(name: str, recipe: Recipe) -> Iterator[Finding]:
    """Yield what both methods find at the stored end times."""
    with mpmath.workdps(DIGITS):
        system, groups = recipe.system(), testset.get(name).groups
        kind = type(system.t_end)
        entries: dict[float, dict[str, Any] | None] = {
            entry["t"]: entry for entry in kept(name) if entry["t"] <= recipe.until
        } or {float(system.t_end): None}
        ends = {kind(repr(t)): entries[t] for t in sorted(entries)}
        for (t, entry), (first, second) in zip(
            ends.items(), recipe.pair(system, list(ends), recipe.work), strict=True
        ):
            known = None if entry is None else np.array([kind(text) for text in entry["y"]])
            found = None if known is None else digits(first, known, groups, recipe.relative)
            yield Finding(t, first, second, digits(first, second, groups, recipe.relative), entry, found)


def check(name: str, recipe: Recipe) -> list[Finding]:
    """Recompute one reference, print what agrees, return what is not confirmed."""
    say(f"      {name}: about {recipe.seconds} s on a quiet machine")
    started, wrong = time.process_time(), []
    for finding in recompute(name, recipe):
        good = finding.confirms(recipe.digits)
        against = "nothing is stored"
        if finding.entry is not None and finding.found is not None:
            against = f"with the stored {finding.entry['digits']} to {finding.found:.1f}"
        words = f"two methods agree to {finding.agreed:.1f} digits, {against}; wanted {recipe.digits:g}"
        say(
            f"{'PASS' if good else 'FAIL'}  {name} at t = {float(finding.t):g}: {words}"
            f" ({time.process_time() - started:.0f} s)"
        )
        wrong += [] if good else [finding]
    return wrong


def renewed(finding: Finding, recipe: Recipe) -> dict[str, Any] | None:
    """Return the entry to be stored, or None if the one that is stored stays.

    It is confirmed and has no fewer digits.
    """
    sure = int(min(finding.agreed, 24))
    old = finding.entry or {}
    if finding.found is not None and finding.confirms(recipe.digits) and old["digits"] >= sure:
        return None
    fine = isinstance(finding.t, Long)
    text = [
        np.format_float_scientific(value, precision=19) if fine else mpmath.nstr(value, 25)
        for value in finding.first
    ]
    how = f"{_methods(recipe.pair)} in {'long doubles' if fine else f'{DIGITS} digits'}"
    how += f" agree to {finding.agreed:.1f} digits (testset/make_references.py)"
    return {**old, "t": float(finding.t), "y": text, "digits": sure, "how": how}


def write(name: str, recipe: Recipe) -> int:
    """Store what was recomputed where the stored value is missing, contradicted or has fewer digits.

    Published values stay.
    """
    system, stored = recipe.system(), kept(name)
    empty = {
        "parameters": system.parameters,
        "source": system.source,
        "published_digits": None,
        "published_note": "",
    }
    entries = {entry["t"]: entry for entry in stored}
    for finding in recompute(name, recipe):
        if finding.agreed < recipe.digits:
            say(f"FAIL  {name}: two methods agree to {finding.agreed:.1f} digits only; nothing is written.")
            return 1
        new = renewed(finding, recipe)
        say(f"      {name} at t = {float(finding.t):g}: {'stays' if new is None else 'is written'}")
        entries[float(finding.t)] = new or entries[float(finding.t)]
    main, *others = (entries[entry["t"]] for entry in stored) if stored else entries.values()
    record = {"t": 0.0, "y": [], "digits": 0, **empty, **main, **({"also": others} if others else {})}
    (FOLDER / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


def _methods(pair: Any) -> str:
    """Return which methods a pair compares, in the words of its docstring."""
    words = " ".join((pair.__doc__ or "").split())
    return words.partition(" by ")[2].rstrip(".")


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--problem", default="*", help="names of problems, with * and ?")
    parser.add_argument(
        "--list",
        action="store_true",
        help="names, digits to be confirmed and rough times, nothing is computed",
    )
    parser.add_argument(
        "--write",
        metavar="NAME",
        choices=sorted(RECIPES),
        help="store the reference of this problem anew if it needs it",
    )
    options = parser.parse_args(arguments)
    chosen = {name: recipe for name, recipe in RECIPES.items() if fnmatch(name, options.problem)}
    if not chosen:
        say(f"No reference named {options.problem!r} can be recomputed; known: {', '.join(sorted(RECIPES))}.")
        return 2
    if options.list:
        for name, recipe in chosen.items():
            say(f"{name:22} {recipe.digits:4g} digits, about {recipe.seconds} s: {_methods(recipe.pair)}.")
        return 0
    if np.finfo(Long).eps > 1e-18:
        say("Long doubles are not longer than doubles on this machine; references cannot be recomputed here.")
        return 2
    if options.write:
        return write(options.write, RECIPES[options.write])
    wrong = [finding for name, recipe in chosen.items() for finding in check(name, recipe)]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
