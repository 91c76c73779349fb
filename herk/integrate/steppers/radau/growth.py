"""Patterns that were found by trying may lack entries: they are looked for again where Newton fails.

A branch of the user's functions may be in force there that was not near the start.
"""

from __future__ import annotations

import numpy as np

from herk.integrate.steppers.radau.held import Held
from herk.integrate.steppers.radau.layout import Radau
from herk.integrate.steppers.radau.sparse_machine import SparseMachine
from herk.integrate.steppers.radau.sparse_ready import on_patterns, places, put_groups, structure_of
from herk.jit.state import FLOAT, WHOLE
from herk.linalg.pattern import Pattern
from herk.model.equation_pattern import Point, constraints_pattern, equations_pattern, near

RARER = 2  # times as many failures before the next look, after one that found nothing


def look_again(machine: SparseMachine) -> None:
    """Try the functions where Newton failed; go on with a larger pattern if they have other entries there."""
    state, structure = machine.state, machine.structure
    assert structure is not None
    found = _here(machine)
    if all(found[name].nnz == structure.parts[name].nnz for name in found):
        state.misses, state.forgiven = 0, RARER * state.forgiven
        return
    E = structure.parts["E"].matrix(state.e_here)
    larger = structure_of(machine.asked, {**structure.parts, **found}, E)
    assert larger is not None  # E has not changed
    made = on_patterns(machine.asked, larger, E)
    _move(state, made)
    made.g_y[places(larger.parts["jac_g"], structure.parts["jac_g"])] = state.g_y
    made.first_g, made.forgiven = int(larger.whole.indptr[state.n]), 1
    machine.structure, machine.state, machine.held = larger, made, Held()
    machine.beginning = machine.first = None  # the next run begins with what is known now
    machine.kept = put_groups(larger, made, have_jacobian=bool(state.have_jacobian))
    machine.loop.own = made.address
    machine.loop.bind("y", made.y)
    machine.select(made, machine.held)


def _here(machine: SparseMachine) -> dict[str, Pattern]:
    """Return the patterns with the entries that functions have near the point at hand."""
    dae, state, structure = machine.dae, machine.state, machine.structure
    assert structure is not None
    points: list[Point] = near(machine.loop.t, state.y.copy(), state.t_high - state.t_low)[:2]
    if np.isfinite(state.stage).all():
        points.append((machine.loop.target, state.stage.copy()))
    found = {"jac_f": structure.parts["jac_f"].union(equations_pattern(dae, points))}
    dae.__dict__["_equations"] = found["jac_f"]
    if dae.jac_g is None and dae.jac_g_sparsity is None and dae.m:
        found["jac_g"] = structure.parts["jac_g"].union(constraints_pattern(dae, points))
        dae.__dict__["_pattern"] = found["jac_g"]
    return found


def _move(old: Radau, new: Radau) -> None:
    """Take over all numbers, and arrays that do not belong to entries."""
    for kind, place in Radau.fields.values():
        if kind in (FLOAT, WHOLE):
            new.wholes[place] = old.wholes[place]
    for name in old.places:
        if getattr(old, name).size == getattr(new, name).size:
            getattr(new, name)[:] = getattr(old, name)
    new.jacobian_valid = new.factors_valid = new.misses = 0
