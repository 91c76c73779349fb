"""Which components a run keeps: all of them, or those named in save=."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from herk.core import Dae, InputError, Solution
from herk.core.names import place
from herk.integrate.implicit import user_size

if TYPE_CHECKING:
    from herk.integrate.options import Request


def saved_of(save: Any, dae: Dae) -> tuple[int, ...] | None:
    """Return the components to keep, checked: by name or by number, each once, in the order given."""
    if save is None:
        return None
    listed = [save] if isinstance(save, str) or not isinstance(save, Sequence | np.ndarray) else list(save)
    count = user_size(dae)
    chosen = tuple(_component(each, _labels(dae, range(count)), count) for each in listed)
    if not chosen:
        raise InputError("save must name at least one component; leave it out to keep all of them.")
    if len(set(chosen)) < len(chosen):
        raise InputError("save names a component twice; each has one row of the result.")
    return chosen


def _component(given: Any, names: Sequence[str], count: int) -> int:
    if not isinstance(given, int | np.integer) or isinstance(given, bool):
        return place(given, names, "component to save")
    if not 0 <= given < count:
        raise InputError(f"save asks for component {given}; the system has those from 0 to {count - 1}.")
    return int(given)


def _labels(dae: Dae, components: Sequence[int]) -> tuple[str, ...]:
    """Return the names of components; y0, y1, ... if the system has none."""
    return tuple(dae.names[i] if dae.names else f"y{i}" for i in components)


def kept(asked: Request, sol: Solution) -> Solution:
    """Return a solution whose rows are those kept, named accordingly; y' would need all of them."""
    if asked.save is None:
        return sol
    rows = list(asked.save)
    events = None if sol.y_events is None else [states[:, rows] for states in sol.y_events]
    names, count = _labels(asked.dae, rows), user_size(asked.dae)
    return replace(sol, y_events=events, names=names, slopes=None, unknowns=count)


def refuse_with(asked: Request, **wanted: Any) -> None:
    """Say so if something is asked for that needs all components."""
    for name, value in wanted.items():
        if asked.save is not None and value:
            raise InputError(f"{name}= needs all components of a run; leave out save=.")
