"""A model as the textbook writes it: E(t,y) y' = f(t,y) in sympy, with named parameters, a start and a span."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sympy as sp

from herk.core import InputError

if TYPE_CHECKING:
    from herk.model.forms import Form

t = sp.Symbol("t", real=True)


@dataclass(frozen=True, init=False)
class Model:
    """E(t,y) y' = f(t,y) with n states; parameters stay symbols until compiled; y0 entries may be None (computed from the constraints)."""

    name: str
    states: tuple[sp.Symbol, ...]
    E: sp.ImmutableDenseMatrix
    f: sp.ImmutableDenseMatrix
    t: sp.Symbol
    parameters: Mapping[sp.Symbol, float] = field(hash=False)
    t_span: tuple[float, float]
    y0: tuple[float | None, ...]

    def __init__(
        self,
        name: str,
        states: Sequence[sp.Symbol | str],
        E: Any,  # noqa: N803 - the matrix is called E everywhere
        f: Sequence[Any],
        *,
        t: sp.Symbol = t,
        parameters: Mapping[Any, Any] = {},
        t_span: tuple[float, float],
        y0: Sequence[float | None],
    ) -> None:
        """Validate and freeze the model."""
        raise NotImplementedError

    @property
    def key(self) -> str:
        """Return a hash of the content, the same in every process."""
        text = sp.srepr((self.states, self.E, self.f, self.t)) + repr(sorted((str(k), v) for k, v in self.parameters.items()))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def form(self, name: str = "overdetermined", **options: float) -> Form:
        """Return the form of this name, compiled: overdetermined, index1, index2, index3, ggl, baumgarte, ode, second_order."""
        raise NotImplementedError
