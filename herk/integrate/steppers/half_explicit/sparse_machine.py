"""Half-explicit Runge-Kutta for many unknowns as Python sees it: sparse selections, one loaded at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from herk.core import InputError
from herk.core.dae import Array
from herk.integrate.options import Request
from herk.integrate.steppers.half_explicit.layout import (
    E_DIAGONAL,
    E_VARYING,
    ROW_KERNEL,
    ROW_ORDER,
    HalfExplicit,
)
from herk.integrate.steppers.half_explicit.machine import Machine
from herk.integrate.steppers.half_explicit.sample import sample
from herk.integrate.steppers.half_explicit.selecting import SUSPECT, jacobian_here
from herk.integrate.steppers.half_explicit.stepper import PROGRAM
from herk.integrate.steps import OK
from herk.jit.native import passed
from herk.jit.state import Wholes
from herk.linalg.pattern import Pattern
from herk.linalg.sparse_lu import SparseLU, analysed
from herk.linalg.sparse_selection import Selector
from herk.model.evaluate import Linearisation

KEPT = 4  # selections whose factors are at hand
SOUND = 1e-7  # pivots beside the largest entries of their rows: smaller ones ask for another selection


@dataclass
class SparseMachine(Machine):
    """A stepper at work on values on patterns; everything it keeps is of the size of its entries."""

    pattern: Pattern | None = None
    selector: Selector | None = None
    e_factors: SparseLU | None = None  # kept alive
    in_force: SparseLU | None = None  # kept alive, too
    loaded: OrderedDict[int, tuple[SparseLU, np.ndarray]] = field(default_factory=OrderedDict)
    numbers: list[int] = field(default_factory=list)  # of components: shared by all selections
    slot_of: dict[tuple[int, ...], int] = field(default_factory=dict)  # of known selections

    def first_selection(self, here: Linearisation) -> tuple[int, ...]:
        """Select algebraic components at the start; say so if the constraints are dependent."""
        assert self.pattern is not None
        self.state.jacobian[:] = self.pattern.values(here.jac)
        algebraic, rank = self._select(np.zeros(0, dtype=np.int64))
        if algebraic is None:
            raise InputError(
                f"The {self.dae.m} constraints are not independent at the start: dg/dy has rank {rank}. "
                "Leave out redundant rows of g, or start elsewhere."
            )
        return algebraic

    def serve(self) -> None:
        """Make the selection the compiled steps ask for."""
        state, loop = self.state, self.loop
        PROGRAM[jacobian_here].call(loop.t, state.address)
        suspect = loop.rejected >= SUSPECT or state.always
        kept = () if suspect else self.known[state.slot]
        algebraic, _ = self._select(np.array(kept, dtype=np.int64))
        state.answered, state.chosen = 1, -1
        if algebraic is not None:
            self.slot(algebraic)

    def _select(self, kept: Wholes) -> tuple[tuple[int, ...] | None, int]:
        """Select for the Jacobian at hand and factor; return the selection, or None and the rank."""
        state, rank = self.state, 0
        assert self.selector is not None
        assert self.pattern is not None
        if not np.isfinite(state.jacobian).all():
            return None, 0
        matrix = self.pattern.matrix(state.jacobian)
        size = np.zeros(self.dae.n) if state.always else state.size
        best: tuple[float, tuple[int, ...], SparseLU] | None = None
        for selection in self.selector.selections(matrix, size, kept):
            rank = max(rank, len(selection))
            if len(selection) == self.dae.m:
                algebraic = tuple([self.numbers[i] for i in selection.tolist()])
                factors = analysed(self.pattern, self._row(algebraic)[-self.dae.m :], state.jacobian)
                if factors is not None and (best is None or factors.soundness > best[0]):
                    best = factors.soundness, algebraic, factors
                if best is not None and best[0] > SOUND:
                    break
        if best is None:
            return None, min(rank, self.dae.m - 1)
        _, algebraic, factors = best
        self._keep(self._number(algebraic), factors)
        return algebraic, rank

    def slot(self, algebraic: Sequence[int]) -> int:
        """Return the number of a selection, and load it for the Jacobian at hand."""
        number = self._number(tuple(algebraic))
        loaded = self._load(number, self.state)
        self.state.answered, self.state.chosen = 1, number if loaded else -1
        return number

    def _number(self, algebraic: tuple[int, ...]) -> int:
        if algebraic not in self.slot_of:
            self.slot_of[algebraic] = len(self.known)
            self.known.append(algebraic)
        return self.slot_of[algebraic]

    def _keep(self, number: int, factors: SparseLU) -> None:
        """Have the factors of a selection at hand, in place of those looked at longest ago."""
        self.loaded.pop(number, None)
        self.loaded[number] = factors, self._row(self.known[number])
        while len(self.loaded) > KEPT:
            self.loaded.popitem(last=False)

    def _load(self, number: int, state: HalfExplicit) -> bool:
        """Put the factors of a selection, and its order of components, where kernels find them.

        If they are not at hand, an order of pivots is chosen for the Jacobian that is. False: it is singular.
        """
        if self.dae.m == 0:  # nothing is selected, and nothing factored
            state.bind("table", self._row(()))
            state.known = 1
            return True
        if number not in self.loaded:
            assert self.pattern is not None
            columns = self._row(self.known[number])[-self.dae.m :]
            factors = analysed(self.pattern, columns, state.jacobian)
            if factors is None:
                return False
            self._keep(number, factors)
        factors, row = self.loaded[number]
        state.bind("table", row)
        state.factors, state.known = factors.address, 1
        if state is self.state:
            self.in_force = factors
        return True

    def _row(self, algebraic: tuple[int, ...]) -> np.ndarray:
        """Return the row of the table for a selection."""
        n, m = self.dae.n, self.dae.m
        row = np.zeros(ROW_ORDER + n, dtype=np.int64)
        chosen = np.zeros(n, dtype=bool)
        chosen[list(algebraic)] = True
        required = self.state.required.astype(bool)
        predicted = np.flatnonzero(chosen & ~required)
        row[ROW_KERNEL] = self.state.any_size
        row[1:5] = n - m, len(predicted), m, min(m, 1)
        row[ROW_ORDER:] = np.concatenate(
            [np.flatnonzero(~chosen), predicted, np.flatnonzero(chosen & required)]
        )
        return row

    def between(self, t: Array, y: Array, slots: np.ndarray, times: Array, out: Array) -> int:
        """Write the states at times between the points y (by rows) at t; return how that ended.

        Stretches of one selection are looked at one after the other.
        """
        changes = np.flatnonzero(np.diff(slots[1:])) + 1
        bounds = [0, *changes.tolist(), len(t) - 1]
        forward = t[-1] >= t[0]
        step = np.searchsorted(t if forward else -t, times if forward else -times, side="right") - 1
        step = np.clip(step, 0, len(t) - 2)
        for first, last in pairwise(bounds):
            here = np.flatnonzero((step >= first) & (step < last))
            if here.size:
                found = np.empty((here.size, self.dae.n))
                status = self._between(
                    int(slots[first + 1]), t[first : last + 1], y[first : last + 1], times[here], found
                )
                if status != OK:
                    return status
                out[here] = found
        return OK

    def _between(self, number: int, t: Array, y: Array, times: Array, out: Array) -> int:
        """Do the same with one selection, on a copy of the state."""
        state = self.state.copy()
        if number not in self.loaded:
            state.y[:] = y[0]
            PROGRAM[jacobian_here].call(float(t[0]), state.address)
        if not self._load(number, state):
            return self.loop.cause or -1
        factors = self.loaded[number][0].copy() if self.dae.m else None
        state.factors = 0 if factors is None else factors.address
        slots = np.zeros(len(t), dtype=np.int64)
        points = np.ascontiguousarray(y).reshape(-1)
        branched = int(not self.loop.fixed)
        given = passed((np.ascontiguousarray(t), points, slots, times, branched, out.reshape(-1)))
        return int(PROGRAM[sample].call(state.address, *given))

    def restart(self, asked: Request, values: Array | None) -> bool:
        """Let everything be looked at again where there are factors of constraints: they belong to one start.

        So does a constant E, which other values of parameters may change.
        """
        return self.dae.m == 0 and super().restart(asked, values) and (values is None or self._same_e(values))

    def _same_e(self, values: Array) -> bool:
        """Tell whether E is the one at hand with these values of parameters, too."""
        state, given = self.state, self.dae.generated
        if state.e_mode == E_VARYING:
            return True
        E = np.empty(given.sparse.patterns["E"].nnz)  # type: ignore[union-attr]
        given.sparse.functions["E"](self.loop.t, state.y, values, E)  # type: ignore[union-attr]
        kept = state.e_now[state.e_rows[: state.e_rank]] if state.e_mode == E_DIAGONAL else state.e_now
        return np.array_equal(E, kept)
