"""A machine ready to step: functions bound, E classified, tolerances set; the recipe to make it again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from herk.core import Dae
from herk.core.dae import Array
from herk.integrate.callables import bound
from herk.integrate.options import Request, fill
from herk.integrate.steppers.half_explicit import layout, stepper
from herk.integrate.steppers.half_explicit.layout import FRESH_SIZE, HalfExplicit, allocate
from herk.integrate.steppers.half_explicit.machine import Machine
from herk.integrate.steppers.half_explicit.masses import note_masses
from herk.integrate.steppers.half_explicit.sparse_machine import SparseMachine
from herk.integrate.steppers.half_explicit.sparse_ready import has_patterns, on_patterns, sparse_e
from herk.integrate.steppers.half_explicit.step import kernel
from herk.integrate.steppers.half_explicit.stepper import PROGRAM
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.integrate.steppers.half_explicit.tolerances import set_tolerances
from herk.integrate.steps import Loop
from herk.linalg.balance import rank
from herk.linalg.orientation import diagonal_blocks
from herk.linalg.sparse_selection import Selector
from herk.model.evaluate import Linearisation, jacobian, linearise, occupied
from herk.model.start import free_columns

SPARSE_THRESHOLD = 0.1


def ready(asked: Request, y: Array, here: Linearisation) -> Machine:
    """Bind the functions, classify E, allocate the memory, set the tolerances."""
    dae, tableau = asked.dae, asked.method
    assert isinstance(tableau, Tableau)
    size = np.abs(y) + asked.atol / asked.rtol
    E = sparse_e(asked, y, size, here) if here.sparse and has_patterns(dae, here) else None
    code = getattr(dae.generated, "code", None) if asked.generate and E is None else None
    if E is not None:
        state, pattern, functions = on_patterns(asked, y, E)
        free = E.free
    else:
        state = allocate(dae.n, dae.m, tableau, 0, getattr(dae.generated, "parameters", None))
        free = _classify(asked, y, size, here.dense().E, state)
        functions = bound(dae)
    state.smooth = code is not None or (E is None and dae.m <= FRESH_SIZE) or (E is not None and dae.m > 0)
    state.general, state.any_size = code is None, PROGRAM[kernel].address
    state.at_e, state.at_f, state.at_g, state.at_jac_g, state.at_g_t = (
        function.entry for function in functions.natives
    )
    state.have_e, state.have_jacobian, state.have_g_t = (
        callable(dae.E),
        functions.have_jacobian,
        functions.have_g_t,
    )
    sparse = asked.selection == "sparse"
    state.threshold, state.size[:] = SPARSE_THRESHOLD if sparse else 1.0, np.abs(y) if sparse else 1.0
    state.cost[:] = (
        np.bincount(pattern.indices, minlength=dae.n)
        if E is not None
        else _occurrences(dae, asked.t0, y, size)
    )
    state.always, state.pending = asked.selection == "complete" and dae.m > 0, 1
    set_tolerances(asked, state, generated=code is not None)
    state.y[:] = y
    state.open[:] = [value is None for value in asked.y0]
    state.floor[dae.n :] = np.abs(y) + state.floor[: dae.n]
    loop = _loop(asked, dae.n)
    machine = Machine(dae, tableau, functions, loop, state, free, code, asked)
    if E is not None:
        machine = SparseMachine(**vars(machine))
        machine.pattern, machine.numbers, machine.e_factors = pattern, list(range(dae.n)), E.factors
        machine.divided = getattr(getattr(dae.generated, "sparse", None), "divided", None)
        machine.selector = Selector(np.array(free, dtype=np.int64), state.cost, state.floor[: dae.n])
    machine.connect()
    return machine


def _loop(asked: Request, n: int) -> Loop:
    """Return the state of the loop for this stepper."""
    loop = Loop(atol=n)
    loop.n, loop.exponent = n, 1.0 / (asked.method.error_order + 1)
    loop.begin, loop.try_step, loop.accept = (
        PROGRAM[function].address for function in (stepper.begin, stepper.try_step, stepper.accept)
    )
    fill(asked, loop)
    return loop


def _classify(asked: Request, y: Array, size: Array, E: Array, state: HalfExplicit) -> tuple[int, ...]:
    """Note how y' follows from E y' = f; return the components that must be algebraic."""
    dae = asked.dae
    filled = occupied(dae, (asked.t0, asked.t1), y, size, E)
    rows, columns = np.flatnonzero(filled.any(axis=1)), np.flatnonzero(filled.any(axis=0))
    square = len(rows) == len(columns) and (not len(rows) or rank(E[np.ix_(rows, columns)]) == len(rows))
    state.e_now[:] = E.ravel()
    if not square:
        state.e_mode = layout.E_STACKED
        note_masses(asked, y, filled, state)
        return ()
    free = free_columns(filled)
    state.e_rank = len(rows)
    state.e_rows[: len(rows)], state.e_columns[: len(rows)] = rows, columns
    state.required[list(free)] = 1
    diagonal = not (E - np.diag(np.diag(E))).any()
    constant = layout.E_DIAGONAL if diagonal else layout.E_CONSTANT
    varying = callable(dae.E) and not getattr(dae.generated, "constant_E", False)
    state.e_mode = layout.E_VARYING if varying else constant
    if varying:
        block_row, block_column, start = diagonal_blocks(filled[np.ix_(rows, columns)])
        state.e_blocks = len(start) - 1
        state.e_block_row[: len(rows)], state.e_block_column[: len(rows)] = (
            rows[block_row],
            columns[block_column],
        )
        state.e_block_start[: len(start)] = start
    return free


def _occurrences(dae: Dae, t: float, y: Array, size: Array) -> np.ndarray:
    """Return how many constraints each component occurs in: of models, or from dg/dy near the start."""
    if dae.generated is not None and dae.generated.structure is not None:
        return np.array(dae.generated.structure.sum(axis=0), dtype=np.int64)
    pattern = np.zeros((dae.m, dae.n), dtype=bool)
    for shift in (0.0, 1e-3, -2e-3):  # at the start itself derivatives may vanish by chance
        try:
            slopes = np.abs(jacobian(dae, t, y + shift * size * np.linspace(1.0, 2.0, dae.n)))
            pattern |= slopes > 1e-9 * slopes.max(axis=1, keepdims=True, initial=0.0)
        except Exception:  # noqa: BLE001, S112 - outside the domain of g; the pattern is advice only
            continue
    return np.array(pattern.sum(axis=0), dtype=np.int64)


@dataclass(frozen=True)
class Recipe:
    """What a machine was made from, and what it learned on the way; it can be pickled if the DAE can."""

    request: Request
    selections: tuple[tuple[int, ...], ...]
    e_mode: int

    @classmethod
    def of(cls, request: Request, machine: Machine) -> Recipe:
        """Return the recipe of a machine; what only concerns the run is left out."""
        kept = replace(request, events=None, callback=None, t_eval=None, progress=None)
        return cls(kept, tuple(machine.known), machine.state.e_mode)

    def machine(self, y: Array) -> Machine:
        """Make the machine again, from the point y it started at."""
        machine = ready(self.request, y, linearise(self.request.dae, self.request.t0, y, self.request.t1))
        machine.state.e_mode = self.e_mode
        for algebraic in self.selections:
            machine.slot(algebraic)
        return machine
