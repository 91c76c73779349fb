"""A test problem: equations, start, span, and what is known about its solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from herk.core.dae import Array, Dae
from herk.core.errors import InputError


@dataclass(frozen=True)
class Reference:
    """A trusted solution: end values, and a formula for all times where there is one."""

    t: float
    y: Array
    digits: float
    source: str
    exact: Callable[[float], Array] | None = None

    def __post_init__(self) -> None:
        """Freeze the end values."""
        y = np.array(self.y, dtype=float)
        y.setflags(write=False)
        object.__setattr__(self, "y", y)
        if y.ndim != 1 or not np.isfinite(self.digits):
            raise InputError("A reference has a vector y and a finite number of correct digits.")


@dataclass(frozen=True)
class Invariant:
    """A quantity that stays constant along the exact solution, such as an energy."""

    name: str
    value: Callable[[float, Array], float]


@dataclass(frozen=True)
class Problem:
    """One problem of the test set; `dae` is its overdetermined form, `model` its equations as written."""

    name: str
    title: str
    t_span: tuple[float, float]
    y0: Array
    source: str
    model: Any = None
    given_dae: Dae | None = field(default=None, repr=False)
    reference: Reference | None = None
    invariants: tuple[Invariant, ...] = ()
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    tags: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Validate what can be checked without computing."""
        if self.model is None and self.given_dae is None:
            raise InputError(f"Problem {self.name!r} needs a model or a Dae.")
        object.__setattr__(self, "tags", frozenset(self.tags))
        object.__setattr__(self, "t_span", (float(self.t_span[0]), float(self.t_span[1])))
        y0 = np.array(self.y0, dtype=float)
        y0.setflags(write=False)
        object.__setattr__(self, "y0", y0)
        for group, members in self.groups.items():
            if not all(0 <= i < len(y0) for i in members):
                raise InputError(f"Group {group!r} of problem {self.name!r} names components outside 0..{len(y0) - 1}.")

    @property
    def dae(self) -> Dae:
        """Return the overdetermined form, all constraints included."""
        return self.given_dae if self.given_dae is not None else self.model.form("overdetermined")
