"""Models written by hand to break the solver, as a table (attacks.toml), in random units, order and settings."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from tests.fuzz.driven import rows_of
from tests.fuzz.member import CHANNELS, Member, rng_of, with_settings
from tests.fuzz.units import disguised

TABLE: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
NAMES = tuple(TABLE)
UNITS = 0.4  # of all members are in units of their own
t = sp.Symbol("t")


@cache
def member(name: str) -> Member:
    """Return the model of this name as it is written."""
    row = TABLE[name]
    states = tuple(row["states"].split())
    solution = [sp.sympify(text, {"t": t}) for text in row["solution"]]
    E, f = matrix(row["E"], len(states)), list(row["f"])
    if row.get("forced"):
        f = [
            f"{text} + ({sp.N(extra, 17)})"
            for text, extra in zip(f, _forces(E, f, states, solution), strict=True)
        ]
    truth = rows_of([_real(sp.lambdify(t, each, ["scipy", "numpy"])) for each in solution])
    t0, t1 = row["span"]
    last = t1 if "ends" not in row else t0 + (row["ends"] - t0) / 2
    with np.errstate(all="ignore"):
        sizes = np.abs(truth(np.linspace(t0, last, 101))).max(axis=1)
    return Member(
        "attacks",
        name,
        0,
        states,
        E,
        tuple(f),
        (float(t0), float(t1)),
        tuple(
            None if each in row.get("open", ()) else float(value)
            for each, value in zip(states, truth(np.array([t0]))[:, 0], strict=True)
        ),
        tuple(float(size) or 1.0 for size in sizes),
        truth,
        ends_at=row.get("ends"),
        singular_at=tuple(row.get("singular", ())),
        corners=tuple(row.get("corners", ())),
        channels=tuple(row.get("channels", CHANNELS)),
        located=30.0,
    )


def matrix(given: str | list[list[str]], n: int) -> tuple[tuple[str, ...], ...]:
    """Return E as texts; a number stands for the identity of so many unknowns."""
    if isinstance(given, str):
        return tuple(tuple("1" if i == j < int(given) else "0" for j in range(n)) for i in range(n))
    return tuple(map(tuple, given))


def _forces(E: Any, f: list[str], states: tuple[str, ...], solution: list[sp.Expr]) -> list[sp.Expr]:
    """Return E y' - f along the solution."""
    names = {"t": t} | {state: sp.Symbol(state) for state in states}
    along = {names[state]: value for state, value in zip(states, solution, strict=True)}
    rates = sp.Matrix([value.diff(t) for value in solution])
    masses = sp.Matrix([[sp.sympify(entry, names).subs(along) for entry in row] for row in E])
    return list(masses * rates - sp.Matrix([sp.sympify(text, names).subs(along) for text in f]))


def _real(function: Any) -> Any:
    return lambda times: np.real(function(times))


def make(seed: int) -> Member:
    """Return the model whose turn it is, in a random disguise, with a random method and tolerance."""
    rng = rng_of("attacks", seed)
    plain = replace(member(NAMES[seed % len(NAMES)]), seed=seed)
    return with_settings(disguised(plain, rng, often=UNITS), rng)
