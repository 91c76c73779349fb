"""What a system brings to a call beside its equations: tolerances in its units, breakpoints and switches."""

from __future__ import annotations

from typing import Any

import numpy as np

from herk.core import Dae, InputError, Problem, Switches

Times = tuple[float, ...]


def brought(given: Any, dae: Dae, atol: Any, times: Times, switches: Any) -> tuple[Any, Times, Any]:
    """Return atol and switches of the call, otherwise those the system brings; the breakpoints of both."""
    if isinstance(given, Switches):
        switches = given
    if switches is True or (switches is None and _searched(given, dae)):
        switches = _found(dae, everything=switches is True)
    switches = None if switches is False else switches
    if isinstance(given, Problem):
        atol = given.atol(atol) if given.sizes and np.ndim(atol) == 0 else atol
        return atol, _both(times, given.breakpoints), switches or given.switches
    return atol, times, switches


def breakpoints_with(told: Times, model: Any, span: tuple[float, float], max_step: float) -> Times:
    """Return these breakpoints and those a model shows for a span, if there is a model."""
    return told if model is None else _both(told, model.breakpoints_in(span, max_step))


def _both(one: Times, other: Times) -> Times:
    return tuple(sorted({*one, *other})) if one and other else one or other


def _searched(given: Any, dae: Dae) -> bool:
    """Tell whether conditions are looked for unasked: in a model, not where a problem says what happens."""
    if isinstance(given, Problem) and (given.breakpoints or given.switches is not None):
        return False
    return getattr(dae, "form", "") == "overdetermined"


def _found(dae: Dae, *, everything: bool) -> Switches | None:
    """Return the switches of a model that are written in its equations."""
    from herk.model.switching import switches_of as of_model

    model = getattr(dae, "model", None)
    if model is None:
        raise InputError("switches=True needs a herk.Model, in whose equations conditions can be found.")
    return of_model(model, model.conditions if everything else model.jumps, unasked=not everything)
