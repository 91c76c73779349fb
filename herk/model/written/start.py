"""Start values by name: x, x', or the name of a state, put into the order of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sympy as sp

from herk.core import InputError, nearest
from herk.model.written.jets import Jet, jet

if TYPE_CHECKING:
    from herk.model.model import Model


def in_order(model: Model, mapping: Mapping[Any, float | None]) -> tuple[float | None, ...]:
    """Return start values in the order of the states; what is not named keeps the start of the model.

    Keys are names of states, derivatives such as "x'" that a row of the model calls a state, or sympy's x(t)
    and its derivatives. None asks for a value to be computed.
    """
    values, follow = list(model.y0), _successors(model)
    taken: dict[int, Any] = {}
    for key, value in mapping.items():
        at = _place(model, key, follow)
        if at in taken:
            raise InputError(f"The start names {model.names[at]} twice, as {taken[at]} and as {key}.")
        taken[at], values[at] = key, value
    return tuple(values)


def _place(model: Model, key: Any, follow: Mapping[int, int]) -> int:
    """Return the place of the state a key stands for; `follow` has j -> k where a row reads y_j' = y_k."""
    wanted = jet(key, "The start")
    if wanted.name not in model.names:
        known = [*model.names, *(str(each) for each in derivatives(model))]
        raise nearest(str(wanted), known, f"state of model {model.name!r}")
    at = model.names.index(wanted.name)
    for order in range(wanted.order):
        if at not in follow:
            below, here = Jet(wanted.name, order), Jet(wanted.name, order + 1)
            raise InputError(
                f"The start names {wanted}, but {here} is not a state of model {model.name!r}: it follows"
                f" from the equations once {below} is known."
            )
        at = follow[at]
    return at


def derivatives(model: Model) -> dict[Jet, int]:
    """Return the derivatives that are states: x' where a row reads x' = v, x'' where another reads v' = a."""
    follow = _successors(model)
    found: dict[Jet, int] = {}
    for j, name in enumerate(model.names):
        at, order, seen = j, 0, {j}
        while at in follow and follow[at] not in seen:
            at, order = follow[at], order + 1
            seen.add(at)
            found[Jet(name, order)] = at
    return found


def _successors(model: Model) -> dict[int, int]:
    """Return j -> k for the rows that read y_j' = y_k."""
    places = {state: j for j, state in enumerate(model.states)}
    rows: dict[int, list[tuple[int, sp.Expr]]] = {}
    for (i, j), entry in model.E.todok().items():
        rows.setdefault(i, []).append((j, entry))
    found: dict[int, int] = {}
    for i in sorted(rows):
        k = places.get(model.f[i])
        (j, entry), *others = rows[i]
        if k is not None and k != j and not others and entry == sp.S.One:
            found.setdefault(j, k)
    return found
