"""Model.from_equations: unknowns found, states of first order named, start put in order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import sympy as sp

from herk.core import InputError, nearest
from herk.model import entries
from herk.model.model import Model
from herk.model.written.jets import PRIME, PRIMES, Jet, jet
from herk.model.written.read import Reader, flat, highest
from herk.model.written.rows import rows
from herk.model.written.start import in_order

EMPTY: Mapping[Any, Any] = MappingProxyType({})
_NAME = re.compile(rf"[^\W\d{PRIME}][^\W{PRIME}]*")


def from_equations(
    name: str,
    equations: Sequence[Any],
    *,
    t_span: tuple[float, float],
    start: Mapping[Any, float | None] = EMPTY,
    parameters: Mapping[Any, Any] = EMPTY,
    unknowns: Sequence[Any] | None = None,
    names: Mapping[Any, str] = EMPTY,
    specified: Mapping[Any, Any] = EMPTY,
    t: sp.Symbol | str = "t",
) -> Model:
    """Return the model; see Model.from_equations, which this is."""
    clock, values = entries.symbol(t, "time"), entries.values(parameters)
    declared = [jet(each, "unknowns").name for each in unknowns or ()]
    reader = Reader(clock, values, declared)
    reader.specify(specified)
    written = flat(equations)
    residuals = [reader.zero(each, f"Equation {i}") for i, each in enumerate(written)]
    orders = _ordered(highest(residuals), declared, written)
    refuse_count(name, len(residuals), orders, unknowns is not None)
    stand_ins = {Jet(name, k): sp.Dummy() for name, order in orders.items() for k in range(order + 1)}
    found = rows(residuals, orders, clock, stand_ins)
    called = _named(found.states, names, (clock, *values))
    final = {stand_ins[each]: symbol for each, symbol in called.items()}
    E = {(i, j): e.xreplace(final) for i, row in enumerate(found.E) for j, e in row.items()}
    f = [e.xreplace(final) for e in found.f]
    states = list(called.values())
    blank = [None] * len(states)
    model = Model(name, states, E, f, t=clock, parameters=values, t_span=t_span, y0=blank)
    model = started(model, start)
    model._set(notes=found.notes, implicit=found.implicit)
    return model


def started(model: Model, start: Mapping[Any, float | None]) -> Model:
    """Return the model with these start values, by name; the others are left to be computed."""
    if not isinstance(start, Mapping):
        raise InputError(f"start must be a mapping from names to numbers, such as {{'x': 1}}, not {start!r}.")
    return model.with_start(in_order(model, start))


def refuse_count(name: str, equations: int, orders: Iterable[str], declared: bool = True) -> None:
    """Refuse a system that is not square, and name its unknowns."""
    listed = list(orders)
    if len(listed) == equations:
        return
    cure = "constants get their values in parameters" if len(listed) > equations else "one too many is given"
    cure = cure if not declared or len(listed) < equations else f"{cure}, and an equation may be missing"
    raise InputError(
        f"Model {name!r} has {equations} equation{'' if equations == 1 else 's'} for {len(listed)}"
        f" unknown{'' if len(listed) == 1 else 's'} ({', '.join(listed)}); {cure}."
    )


def _ordered(orders: Mapping[str, int], declared: Sequence[str], written: Sequence[Any]) -> dict[str, int]:
    """Return the unknowns as declared, or as they come up in the texts."""
    if declared:
        missing = sorted(set(orders) - set(declared))
        if missing:
            raise nearest(missing[0], declared, "unknown in the list unknowns=")
        return {name: orders.get(name, 0) for name in declared}
    seen = [
        word for each in written if isinstance(each, str) for word in _NAME.findall(PRIMES.sub(PRIME, each))
    ]
    return {name: orders[name] for name in (*dict.fromkeys(seen), *orders) if name in orders}


def _named(
    states: Sequence[Jet], names: Mapping[Any, str], others: Sequence[sp.Symbol]
) -> dict[Jet, sp.Symbol]:
    """Return a symbol for every state, called as the user wishes or after its unknown."""
    wanted = {jet(key, "names"): value for key, value in names.items()}
    for each in wanted:
        if each not in states:
            raise nearest(str(each), map(str, states), "state in these equations")
    found = {each: entries.symbol(wanted.get(each, each.state), "state") for each in states}
    taken = {s.name: "the time or a parameter" for s in others}
    for each in sorted(states, key=lambda state: state.order):
        name = found[each].name
        if name in taken:
            raise InputError(
                f"{each} would be called {name}, as {taken[name]} is; choose another name, such as"
                f" names={{{str(each)!r}: 'v'}}."
            )
        taken[name] = f"the unknown {each}"
    return found
