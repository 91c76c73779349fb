"""Starts of many members of a half-explicit run as rows of one array."""

from __future__ import annotations

import numpy as np

from herk.core.dae import Array
from herk.integrate.options import Request, fill
from herk.integrate.steppers.half_explicit.machine import Machine
from herk.integrate.steppers.half_explicit.tolerances import set_tolerances


def starts(machine: Machine, asked: Request, y0: Array, missing: Array, values: Array | None) -> Array:
    """Return the state at the start of every member, by rows; `missing` tells what is to be computed."""
    beginning, state = machine.beginning, machine.state
    assert beginning is not None
    beginning.restore(machine)
    set_tolerances(asked, state, generated=True)
    fill(asked, machine.loop)
    n, place, count = state.n, state.places, len(y0)
    words = np.tile(state.words, (count, 1))
    y = np.where(np.isnan(y0), 0.0, y0)  # as in a single run
    _put(words, place["y"], y)
    _put(words.view(np.int64), place["open"], missing)
    if values is not None:
        _put(words, place["parameters"], values)
    if asked.selection == "sparse":
        _put(words, place["size"], np.abs(y))
    _put(words, place["floor"] + n, np.abs(y) + state.floor[:n])
    return words


def _put(words: Array, place: int, rows: Array) -> None:
    words[:, place : place + rows.shape[1]] = rows
