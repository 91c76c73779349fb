"""Radau runs differentiated: stages are recorded on the way, then one pass over the points."""

from __future__ import annotations

import numpy as np

from herk.core import HerkError, Reason
from herk.core.dae import Array
from herk.integrate.run import Run
from herk.integrate.sensitivity.directions import Directions, Followed
from herk.integrate.sensitivity.start import by_parameters
from herk.integrate.steppers.radau.machine import Machine
from herk.integrate.steppers.radau.sample import repeat
from herk.integrate.steppers.radau.stepper import PROGRAM as STEPPER
from herk.integrate.steppers.radau.stepper import accept
from herk.integrate.steppers.radau.tangent import PROGRAM, accept_recording, replay
from herk.integrate.steppers.radau.tangent_layout import Tangent
from herk.integrate.steps import OK
from herk.jit.native import passed

MOST = (
    2**24
)  # floats of stages that are kept; later steps are solved for again. What is not used costs nothing


def record(run: Run) -> None:
    """Let the run keep the stages of its steps."""
    machine = run.machine
    assert isinstance(machine, Machine)
    machine.state.bind("record", np.empty(MOST))
    machine.state.recorded, machine.state.at_accept = 0, STEPPER[accept].address
    machine.loop.accept = PROGRAM[accept_recording].address


def follow(run: Run, start: Array, directions: Directions, times: Array, values: Array) -> Followed:
    """Return S at the times, or at every point if there are none."""
    machine, track = run.machine, run.output.track
    assert isinstance(machine, Machine)
    own, natives = machine.state.copy(), by_parameters(machine.dae, directions)
    tangent = _tangent(own.n, own.m, own.most_stages, directions.many)
    tangent.own, tangent.at_repeat = own.address, STEPPER[repeat].address
    tangent.at_g_p, tangent.at_residual_p = natives["g_p"].entry, natives["residual_p"].entry
    tangent.s[:] = start.ravel()
    size = (own.most_stages - 1) * own.n + own.d
    # The last step before an event was longer than the one that is left of it.
    last = track.count - 1 if run.reason is not Reason.EVENT else track.count - 2
    kept = machine.state.record[: max(min(machine.state.recorded, last), 0) * size]
    out = np.empty((times.size or track.count, own.n, directions.many))
    given = passed(
        (
            track.t,
            track.y.reshape(-1),
            track.slots,
            kept,
            np.ascontiguousarray(times),
            np.ascontiguousarray(values).reshape(-1),
            out.reshape(-1),
        )
    )
    if PROGRAM[replay].call(tangent.address, *given) != OK:
        raise HerkError(
            f"The step from t = {float(track.t[tangent.failed])!r} could not be differentiated; use smaller"
            " tolerances."
        )
    return Followed(out, tangent.s.reshape(own.n, directions.many).copy())


def _tangent(n: int, m: int, most: int, many: int) -> Tangent:
    """Return the memory of the pass, for at most so many stages."""
    d, all_of_them = n - m, most * n
    sizes = {"s": n * many, "y": all_of_them, "v": all_of_them, "e": all_of_them * n, "r": all_of_them * n}
    sizes |= {"basis": all_of_them * d, "g_y": m * n, "g_p": m * many, "matrix": (most * d) ** 2}
    sizes |= dict.fromkeys(("shift", "z", "r_p"), all_of_them * many)
    sizes |= dict.fromkeys(("right", "solution"), most * d * many)
    sizes |= dict.fromkeys(("column", "delta", "order", "units", "level"), all_of_them)
    tangent = Tangent(**sizes, square=n * n, square_order=n, pivots=n, free=n)
    tangent.many = many
    return tangent
