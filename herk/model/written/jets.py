"""Names of derivatives: x'' is the name x and the order 2, written as a text or as sympy's derivative."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import sympy as sp
from sympy.core.function import AppliedUndef

from herk.core import InputError
from herk.core.names import plain_name
from herk.model.plain import shown

PRIMES = re.compile("['’′ʹ]")
PRIME = "ʹ"  # a letter to Python and to the parser of formulas: xʹ is one name
_WRITTEN = re.compile(rf"\s*([^\W\d][^\W{PRIME}]*)({PRIME}*)\s*(?:\(\s*\w+\s*\))?\s*")


class Jet(NamedTuple):
    """An unknown, or a derivative of it."""

    name: str
    order: int = 0

    def __str__(self) -> str:
        """Return how it is written: x, x', x''."""
        return self.name + "'" * self.order

    @property
    def state(self) -> str:
        """Return what the state is called unless the user says otherwise: x, dx, ddx."""
        return "d" * self.order + self.name


def jet(key: Any, what: str) -> Jet:
    """Return the unknown or derivative a key stands for: a text "x'", a symbol, x(t) or its derivative."""
    if isinstance(key, sp.Derivative) and isinstance(key.expr, AppliedUndef):
        return Jet(plain_name(key.expr.func.__name__), key.derivative_count)
    if isinstance(key, AppliedUndef):
        return Jet(plain_name(key.func.__name__))
    if isinstance(key, sp.Symbol):
        return Jet(plain_name(key.name))
    match = _WRITTEN.fullmatch(PRIMES.sub(PRIME, key)) if isinstance(key, str) else None
    if match is None:
        raise InputError(f"{what} contains {shown(key)}; names are written x, x', x'' or sympy's x(t).")
    return Jet(match[1], len(match[2]))
