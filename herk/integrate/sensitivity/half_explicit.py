"""Half-explicit runs differentiated: code for every selection in use, then one pass over the points."""

from __future__ import annotations

import numpy as np

from herk.codegen.generated import Code, build_text
from herk.codegen.tangents import SHARED, size_of, tangent_source
from herk.core import HerkError
from herk.core.dae import Array
from herk.integrate.run import Run
from herk.integrate.sensitivity.directions import Directions, Followed
from herk.integrate.steppers.half_explicit.machine import Machine
from herk.integrate.steppers.half_explicit.tangent import PROGRAM, Tangent, replay
from herk.integrate.steps import OK
from herk.jit.native import Native, passed


def tangent_code(code: Code, algebraic: tuple[int, ...], directions: Directions) -> tuple[Native, int]:
    """Return the derivatives of a stage in machine code, made once, and the scratch memory they need."""
    key = "tangent", algebraic, directions.parameters
    if key not in code.natives:
        source = tangent_source(code.equations, algebraic, directions.parameters)
        code.natives[key] = build_text(source.text, ("tangent",), SHARED)
        code.works[key] = source.work
    return code.natives[key]["tangent"], code.works[key]


def follow(run: Run, start: Array, directions: Directions, times: Array, values: Array) -> Followed:
    """Return S at the times, or at every point if there are none."""
    machine, track = run.machine, run.output.track
    assert isinstance(machine, Machine)
    assert machine.code is not None
    n, m, many = machine.dae.n, machine.dae.m, directions.many
    used = np.unique(track.slots[1:])
    codes, work, kept = np.zeros(len(machine.known), dtype=np.int64), 1, []
    for slot in used.tolist():
        native, needed = tangent_code(machine.code, machine.known[slot], directions)
        codes[slot], work = native.entry, max(work, needed)
        kept.append(native)
    own = machine.state  # the run is over, and the next one begins with all of it restored
    rows = own.stages + 2 + own.extra
    sizes = {"atol": n, "unit": many, "new": n * many, "s": n * many, "v": rows * n, "k": rows * n * many}
    tangent = Tangent(**sizes, block=size_of(n, m, many), work=work)
    tangent.own, tangent.many, tangent.atol[:] = own.address, many, machine.atol
    tangent.rtol = machine.rtol if directions.estimated and run.request.step is None else 0.0
    tangent.unit[:] = directions.units(own.parameters, run.y0)
    tangent.bind("codes", codes)
    tangent.s[:] = start.ravel()
    out = np.empty((times.size or track.count, n, many))
    points = track.t, track.y.reshape(-1), track.slots, np.ascontiguousarray(times)
    given = passed((*points, np.ascontiguousarray(values).reshape(-1), out.reshape(-1)))
    if PROGRAM[replay].call(tangent.address, *given) != OK:
        raise HerkError(
            f"The step from t = {float(track.t[tangent.failed])!r} could not be differentiated; use smaller"
            " tolerances."
        )
    return Followed(out, tangent.s.reshape(n, many).copy(), tangent.error)
