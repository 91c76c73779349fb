"""The parameters of the program of 2017 under their own names, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from herk.core import InputError
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.integrate.steppers.half_explicit.tableaus import get

METHODS = {
    1: "euler",
    2: "heun",
    3: "kutta3",
    4: "rk4",
    5: "herk3",
    6: "hem4",
    7: "rk38",
}  # numbers of the original's getRKmethod


@dataclass(frozen=True)
class Settings:
    """The parameters of the program, and what studies add.

    max_norm stops Newton by max |g_i|, keep_fine keeps the value of the half steps.
    """

    method: int | str | Tableau = 6
    h0: float = 0.01
    ssc: int = 1
    eps0: float = 1e-7
    beta: float = 0.7
    tol: float = 1e-13
    ptol: float = 1e-15
    delta: float = 1e-14
    Jopt: int = 0
    Estat: int = 0
    Nopt: int = 1
    max_norm: bool = field(default=False, kw_only=True)
    keep_fine: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("h0", "eps0", "beta", "tol", "ptol", "delta"):
            object.__setattr__(self, name, positive(getattr(self, name), name))

    @property
    def adaptive(self) -> bool:
        """Tell whether steps are doubled; only the number 1 does it."""
        return not isinstance(self.ssc, str) and self.ssc == 1

    @property
    def tableau(self) -> Tableau:
        """Return the method."""
        if isinstance(self.method, (int, np.integer)) and not isinstance(self.method, bool):
            if self.method not in METHODS:
                raise InputError(f"Methods are numbered 1 to {len(METHODS)}, not {self.method}.")
            return get(METHODS[int(self.method)])
        return get(self.method)  # type: ignore[arg-type]


def number(value: Any, name: str) -> float:
    """Return a finite number, checked."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not math.isfinite(value):
        raise InputError(f"{name} must be a finite number, not {value!r}.")
    return float(value)


def positive(value: Any, name: str) -> float:
    """Return a positive number, checked."""
    found = number(value, name)
    if not found > 0:
        raise InputError(f"{name} must be a positive number, not {value!r}.")
    return found
