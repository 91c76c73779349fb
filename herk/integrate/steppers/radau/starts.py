"""Starts of many members of a Radau run as rows of one array."""

from __future__ import annotations

import numpy as np

from herk.core.dae import Array
from herk.integrate.options import Request, fill
from herk.integrate.steppers.radau.machine import Machine
from herk.integrate.steppers.radau.sample import sample
from herk.integrate.steppers.radau.stepper import PROGRAM as STEPPER
from herk.integrate.steppers.radau.stepper import check
from herk.integrate.steppers.radau.tolerances import set_tolerances


def starts(
    machine: Machine,
    asked: Request,
    y0: Array,
    missing: Array,  # noqa: ARG001 - nothing is
    values: Array | None,
) -> Array:
    """Return the state at the start of every member, by rows."""
    beginning, state = machine.beginning, machine.state
    assert beginning is not None
    machine.loop.words[:], state.words[:] = beginning.loop, beginning.state
    set_tolerances(asked, state)
    state.at_check, state.at_sample = STEPPER[check].address, STEPPER[sample].address
    fill(asked, machine.loop)
    words = np.tile(state.words, (len(y0), 1))
    words[:, state.places["y"] : state.places["y"] + state.n] = y0
    if values is not None:
        words[:, state.places["parameters"] : state.places["parameters"] + values.shape[1]] = values
    return words
