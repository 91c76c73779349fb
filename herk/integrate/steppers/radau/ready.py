"""A Radau machine ready to step: functions bound, tolerances set; the recipe to make it again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from herk.codegen.generated import Code, build_text
from herk.core import Dae, InputError
from herk.core.dae import Array
from herk.integrate.callables import bound
from herk.integrate.options import Request, fill
from herk.integrate.steppers.radau import stepper
from herk.integrate.steppers.radau.depth import depths, patterns
from herk.integrate.steppers.radau.layout import EPS, Radau, RadauMethod, allocate
from herk.integrate.steppers.radau.machine import Machine
from herk.integrate.steppers.radau.order import enter, rows_of
from herk.integrate.steppers.radau.parting import note_parts
from herk.integrate.steppers.radau.restart import put
from herk.integrate.steppers.radau.sparse_ready import (
    functions_on_patterns,
    of_many,
    on_patterns,
    structure_at,
)
from herk.integrate.steppers.radau.stepper import PROGRAM
from herk.integrate.steppers.radau.tolerances import set_tolerances
from herk.integrate.steps import Loop
from herk.jit.native import Native
from herk.linalg.balance import rank
from herk.linalg.orientation import diagonal_blocks
from herk.model.evaluate import Linearisation, linearise, occupied

CONSTRAINED = "constrained residual"  # its place among the code of a model
BELIEVED = 2e-4  # of a first increment in Newton's method: the equations may have changed since the last step
CLOSE = 1e-9  # beside its size: what is open at the start may differ so much, computed otherwise
SLACK = 0.01  # of the change of a component, where equations are smooth: its polynomial may be off by it


def ready(asked: Request, y: Array, here: Linearisation) -> Machine:
    """Bind the functions, allocate the memory, set the tolerances."""
    dae, method = asked.dae, asked.method
    assert isinstance(method, RadauMethod)
    structure = structure_at(asked, y, here)
    state = _in_full(asked, here.dense()) if structure is None else on_patterns(asked, structure, here.E)
    values = getattr(dae.generated, "parameters", None)
    if values is not None:
        state.parameters[:] = values
    functions, kept = (
        (bound(dae), _model_code(asked, state))
        if structure is None
        else functions_on_patterns(asked, structure, y, state)
    )
    state.at_e, state.at_f, state.at_g, state.at_jac_g, state.at_g_t = (
        function.entry for function in functions.natives
    )
    state.have_jacobian, state.have_g_t = functions.have_jacobian, functions.have_g_t
    varying = callable(dae.E) and not (asked.generate and getattr(dae.generated, "constant_E", False))
    rows = np.count_nonzero(np.diff(here.E.indptr) if here.sparse else here.E.any(axis=1))
    state.have_e, state.settled = varying, not varying and rows == dae.n - dae.m
    if varying and structure is not None:
        state.e_blocks = int(rows == dae.n - dae.m)
    elif varying:
        _keep_upright(asked, y, here.dense().E, state)
    elif state.settled and structure is None:
        note_parts(dae, (asked.t0, asked.t1), y, state)
    state.always = asked.selection == "complete"
    state.believed = EPS if _linear(asked, structure is None) else BELIEVED
    model = getattr(dae, "model", None)
    smooth = model is not None and not model.conditions
    state.slack = SLACK if smooth and dae.m < dae.n else 0.0  # without masses nothing else limits the steps
    if not state.settled and structure is None:
        state.level[:] = depths(*patterns(dae, asked.t0, y))
    set_tolerances(asked, state)
    PROGRAM[enter].call(state.fewest, state.address)
    state.y[:] = y
    machine = Machine(dae, method, functions, _loop(asked, state), state, asked, kept)
    if None in asked.y0:
        state.unlike = not _as_filled(asked, machine, y)
    return machine if structure is None else of_many(machine, structure, here.jac)


def _keep_upright(asked: Request, y: Array, E: Array, state: Radau) -> None:
    """Note of which determinants signs tell that E is singular on the way, if there is one choice of rows."""
    dae = asked.dae
    filled = occupied(dae, (asked.t0, asked.t1), y, np.abs(y) + asked.atol / asked.rtol, E)
    if dae.m > 0:
        state.e_blocks = int(np.count_nonzero(filled.any(axis=1)) == dae.n - dae.m)
        return
    row, column, start = diagonal_blocks(filled)
    state.e_blocks, state.e_block_start[: len(start)] = len(start) - 1, start
    state.e_block_row[: len(row)], state.e_block_column[: len(row)] = row, column


def _as_filled(asked: Request, machine: Machine, y: Array) -> bool:
    """Take what is open as compiled code computes it, so that every run has the same; False if it cannot."""
    state = machine.state
    if put(asked, machine.loop, state) and np.all(np.abs(state.y - y) <= CLOSE * (np.abs(y) + state.floor)):
        return True
    state.y[:] = y
    return False


def _linear(asked: Request, full: bool) -> bool:
    """Tell whether Newton's matrix is known to be the same along a run, but for the length of a step."""
    code = getattr(asked.dae.generated, "code", None) if asked.generate else None
    return code is not None and bool(code.equations.linear if full else code.sparse.linear)


def _in_full(asked: Request, here: Linearisation) -> Radau:
    """Return a state with full matrices, E being written."""
    dae, method = asked.dae, asked.method
    assert isinstance(method, RadauMethod)
    _check(dae, here, method)
    values = getattr(dae.generated, "parameters", None)
    count = 1 if values is None else values.size
    state = allocate(dae.n, dae.m, count, method, rows_of(method.fewest, method.most))
    state.e_here[:] = here.E.ravel()
    return state


def _check(dae: Dae, here: Linearisation, method: RadauMethod) -> None:
    largest = method.largest
    if dae.n > largest:
        raise InputError(
            f"The DAE has {dae.n} unknowns; {method.name} has full matrices, for up to {largest}. Use a"
            " half-explicit method such as 'dopri5'."
        )
    if dae.m and rank(here.jac) < dae.m:
        raise InputError(
            f"The {dae.m} constraints are not independent at the start: dg/dy has rank {rank(here.jac)}. "
            "Leave out redundant rows of g, or start elsewhere."
        )


def _model_code(asked: Request, state: Radau) -> tuple[Any, ...]:
    """Bind residual and Jacobian of a model's code, if there is one."""
    code = getattr(asked.dae.generated, "code", None) if asked.generate else None
    state.general = code is None
    if code is None:
        return ()
    residual, jacobian = constrained(code)
    state.at_residual, state.at_jacobian = residual.entry, jacobian.entry
    return residual, jacobian


def constrained(code: Code) -> tuple[Native, Native]:
    """Return E v - f with g behind it, and its Jacobian without g, made on first use."""
    from herk.codegen.texts import residual_text

    if CONSTRAINED not in code.natives:
        text = residual_text(code.equations, constrained=True)
        code.natives[CONSTRAINED] = build_text(text, ("residual", "jacobian"))
    return code.natives[CONSTRAINED]["residual"], code.natives[CONSTRAINED]["jacobian"]


def _loop(asked: Request, state: Radau) -> Loop:
    """Return the state of the loop for this stepper."""
    loop = Loop(atol=state.n)
    loop.n, loop.exponent, loop.own = state.n, 1.0 / (asked.method.error_order + 1), state.address
    loop.bind("y", state.y)
    loop.begin, loop.try_step, loop.accept = (
        PROGRAM[function].address for function in (stepper.begin, stepper.try_step, stepper.accept)
    )
    fill(asked, loop)
    return loop


@dataclass(frozen=True)
class Recipe:
    """What a machine was made from; it can be pickled if the DAE can."""

    request: Request

    @classmethod
    def of(cls, request: Request) -> Recipe:
        """Return the recipe of a machine; what only concerns the run is left out."""
        return cls(replace(request, events=None, callback=None, t_eval=None, progress=None))

    def machine(self, y: Array) -> Machine:
        """Make the machine again, from the point y it started at."""
        return ready(self.request, y, linearise(self.request.dae, self.request.t0, y, self.request.t1))
