"""References that two families agree on: who may vouch for whom, and to how many digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Protocol

import numpy as np

import baselines
from herk.core.dae import Array

Candidate = tuple[str, str]  # solver, form
REFEREE = "referee"  # the tag of solvers that are trusted at tight tolerances
MOST_DIGITS = 15.0


class Answer(Protocol):
    """A run: who made it, whether it reached the end, unknowns x times."""

    solver: str
    y: Array

    @property
    def success(self) -> bool:
        """Tell whether the end was reached."""


def kind(name: str) -> str:
    """Return what kind of method a solver is; two of the same kind do not vouch for each other."""
    tags = baselines.get(name).tags
    return "explicit" if "explicit" in tags else "multistep" if "multistep" in tags else "implicit one-step"


def independent(first: str, second: str) -> bool:
    """Tell whether two solvers share neither the kind of method nor the library."""
    return kind(first) != kind(second) and baselines.get(first).family != baselines.get(second).family


def referees(forms: Sequence[str]) -> list[Candidate]:
    """Return who may vouch for a reference on which form, in the order of the forms.

    Explicit solvers do so on the form they are made for, their first: on others they are a control.
    """
    trusted = [each for each in map(baselines.get, baselines.names()) if REFEREE in each.tags]
    taken = {each.name: each.forms[:1] if kind(each.name) == "explicit" else each.forms for each in trusted}
    return [(name, form) for form in forms for name, own in taken.items() if form in own]


@dataclass(frozen=True)
class Agreement:
    """Values on the grid and the two runs that vouch for them; `difference` in sizes of the components."""

    first: Answer
    second: Answer
    difference: Array = field(repr=False)

    @property
    def y(self) -> Array:
        """Return the values trusted."""
        return self.first.y

    @property
    def worst(self) -> float:
        """Return the largest difference: errors below it cannot be told apart."""
        return float(self.difference.max())

    @property
    def digits(self) -> tuple[float, ...]:
        """Return the digits on which both agree, for each component."""
        return tuple(map(float, -np.log10(np.maximum(self.difference, 10.0**-MOST_DIGITS))))


def difference(a: Array, b: Array, sizes: Sequence[float] | Array) -> Array:
    """Return for each component the largest difference over the times, relative to its size."""
    return np.asarray(np.abs(a - b).max(axis=1) / np.asarray(sizes))


def agree(
    runs: Sequence[Answer], sizes: Sequence[float], apart: Callable[[str, str], bool] = independent
) -> Agreement | None:
    """Return the two runs of independent solvers that agree best; the earlier one is the reference."""
    good = [run for run in runs if run.success]
    pairs = [(a, b) for a, b in combinations(good, 2) if apart(a.solver, b.solver)]
    found = [Agreement(a, b, difference(a.y, b.y, sizes)) for a, b in pairs]
    return min(found, key=lambda each: each.worst, default=None)
