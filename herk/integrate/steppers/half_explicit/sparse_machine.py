"""Half-explicit Runge-Kutta for many unknowns as Python sees it: sparse selections, one loaded at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from herk.codegen.on_patterns import Divided
from herk.core import InputError
from herk.core.dae import Array
from herk.integrate.options import Request
from herk.integrate.steppers.half_explicit.layout import (
    BRANCH,
    E_DIAGONAL,
    E_VARYING,
    FALLEN,
    NO_CONVERGENCE,
    ROW_KERNEL,
    ROW_ORDER,
    HalfExplicit,
)
from herk.integrate.steppers.half_explicit.machine import Machine
from herk.integrate.steppers.half_explicit.parts import Part
from herk.integrate.steppers.half_explicit.selecting import SUSPECT, jacobian_here
from herk.integrate.steppers.half_explicit.sparse_parts import put_parts
from herk.integrate.steppers.half_explicit.sparse_sample import between
from herk.integrate.steppers.half_explicit.stepper import PROGRAM
from herk.jit.state import Wholes
from herk.linalg.balance import evened
from herk.linalg.pattern import Pattern
from herk.linalg.sparse_lu import SparseLU, analysed
from herk.linalg.sparse_selection import Selector
from herk.model.evaluate import Linearisation

# Factors of the part that depends on the selection, their columns, and the row of the table.
Factored = tuple[SparseLU, Wholes, Wholes]

AHEAD = 0.5  # of the step last tried: where a selection is to be good
BETTER = 1.5  # multiples that are exchanged there: the next change is further off then
KEPT = 4  # selections whose factors are at hand
SOUND = 1e-7  # pivots beside the largest entries of their rows: smaller ones ask for another selection


@dataclass
class SparseMachine(Machine):
    """A stepper at work on values on patterns; everything it keeps is of the size of its entries."""

    pattern: Pattern | None = None
    selector: Selector | None = None
    e_factors: SparseLU | None = None  # kept alive
    divided: Divided | None = None  # constraints in two parts
    tail: SparseLU | None = None  # factors of the last part, the same in every selection
    in_force: list[SparseLU] = field(default_factory=list)  # of all parts,
    parts: list[Part] = field(default_factory=list)  # kept alive, too
    loaded: OrderedDict[int, Factored] = field(default_factory=OrderedDict)
    numbers: list[int] = field(default_factory=list)  # of components: shared by all selections
    slot_of: dict[tuple[int, ...], int] = field(default_factory=dict)  # of known selections

    def first_selection(self, here: Linearisation) -> tuple[int, ...]:
        """Select algebraic components at the start; say so if the constraints are dependent."""
        assert self.pattern is not None
        assert self.selector is not None
        self.selector.order = self.pattern.row_order  # which may be known from another run
        self.state.jacobian[:] = self.pattern.values(here.jac)
        algebraic, rank = self._select(np.zeros(0, dtype=np.int64))
        if algebraic is None:
            raise InputError(
                f"The {self.dae.m} constraints are not independent at the start: dg/dy has rank {rank}. "
                "Leave out redundant rows of g, or start elsewhere."
            )
        return algebraic

    def foreseen(self) -> bool:
        """Tell before the first step whether another method should be thought about."""
        if self.dae.generated is None:
            self.state.foreseen = 1  # a user's functions are called for steps alone
        return super().foreseen()

    def serve(self) -> None:
        """Make the selection the compiled steps ask for."""
        state, loop = self.state, self.loop
        suspect = loop.rejected >= SUSPECT or bool(state.always)
        ahead = None if suspect or loop.fixed else self._ahead()
        PROGRAM[jacobian_here].call(loop.t, state.address)
        singular = state.in_units and loop.cause == BRANCH  # by plain numbers, it may be
        kept = () if suspect or singular else self.known[state.slot]
        algebraic, _ = self._select(np.array(kept, dtype=np.int64), ahead)
        state.answered, state.chosen = 1, -1
        if algebraic is not None:
            self.slot(algebraic)

    def _ahead(self) -> Array:
        """Return the Jacobian in the middle of a step like the last one: rods turn while it is made."""
        state, loop = self.state, self.loop
        width, here = int(state.differential + state.predicted), state.y.copy()
        state.y[state.order[:width]] += AHEAD * loop.h_tried * state.k[:width]
        PROGRAM[jacobian_here].call(loop.t + AHEAD * loop.h_tried, state.address)
        state.y[:] = here
        return np.array(state.jacobian)

    def _select(self, kept: Wholes, ahead: Array | None = None) -> tuple[tuple[int, ...] | None, int]:
        """Select and factor; return the selection, or None and the rank.

        It is chosen for the Jacobian `ahead`, if that is given, and must do for the one at hand.
        """
        state = self.state
        if not np.isfinite(state.jacobian).all():
            return None, 0
        self._look_at_tail()
        plain = np.zeros(self.dae.n)
        if state.in_units:
            best, rank = self._best(self._in_units(kept))
        else:
            best, rank = self._best(self._candidates(plain if state.always else state.size, kept, ahead))
        if best is None:  # whatever the units; digits may be lost where there is no choice
            assert self.selector is not None
            assert self.pattern is not None
            even = evened(self.pattern.matrix(state.jacobian))
            best, rank = self._best(self.selector.selections(even, plain, kept))
        if best is None:
            return None, min(rank, self.dae.m - 1)
        _, algebraic, factors = best
        self._keep(self._number(algebraic), factors)
        return algebraic, rank

    def _best(
        self, candidates: Iterator[Wholes]
    ) -> tuple[tuple[float, tuple[int, ...], Factored] | None, int]:
        """Return the first sound selection, or the best there is, with its factors; and the rank."""
        best, rank = None, 0
        for selection in candidates:
            rank = max(rank, len(selection))
            if len(selection) == self.dae.m:
                algebraic = tuple([self.numbers[i] for i in selection.tolist()])
                factors = self.factored(self.row_of(algebraic), self.state)
                if factors is not None and (best is None or factors[0].soundness > best[0]):
                    best = factors[0].soundness, algebraic, factors
                if best is not None and best[0] > SOUND:
                    break
        return best, rank

    def _candidates(self, size: Array, kept: Wholes, ahead: Array | None) -> Iterator[Wholes]:
        """Yield selections that are good ahead, then those that are good here."""
        assert self.selector is not None
        assert self.pattern is not None
        if ahead is not None and np.isfinite(ahead).all():
            yield from islice(self.selector.selections(self.pattern.matrix(ahead), size, kept, BETTER), 1)
        yield from self.selector.selections(self.pattern.matrix(self.state.jacobian), size, kept)

    def _in_units(self, kept: Wholes) -> Iterator[Wholes]:
        """Yield selections by entries in units of the unknowns: what is large in plain numbers led astray."""
        assert self.selector is not None
        assert self.pattern is not None
        unit = self.state.size + self.state.floor[: self.dae.n]
        matrix = self.pattern.matrix(self.state.jacobian * unit[self.pattern.indices])
        yield from replace(self.selector, floor=None).selections(matrix, np.ones(self.dae.n), kept)

    def slot(self, algebraic: Sequence[int]) -> int:
        """Return the number of a selection, and load it for the Jacobian at hand."""
        number = self._number(tuple(algebraic))
        loaded = self._load(number)
        self.state.answered, self.state.chosen = 1, number if loaded else -1
        return number

    def _number(self, algebraic: tuple[int, ...]) -> int:
        if algebraic not in self.slot_of:
            self.slot_of[algebraic] = len(self.known)
            self.known.append(algebraic)
        return self.slot_of[algebraic]

    def factored(self, row: Wholes, state: HalfExplicit) -> Factored | None:
        """Return factors of the columns of a selection, in an order that is good for the Jacobian at hand.

        Most of what holds for the factors made last holds for others.
        """
        assert self.pattern is not None
        columns, rows = row[-self.dae.m :], None
        if self.divided is not None:
            if self.tail is None:
                return None
            rows = self.divided.rows[0]
            columns = columns[: len(rows)]
        before = next(reversed(self.loaded.values())) if self.loaded else None
        made = analysed(self.pattern, columns, state.jacobian, rows, before and before[:2])
        return None if made is None else (made, columns, row)

    def _look_at_tail(self) -> None:
        """Find an order of pivots for what is the same in every selection, if that at hand is not good."""
        if self.divided is None:
            return
        tail, failed = self.tail, self.loop.cause == NO_CONVERGENCE or self.loop.rejected >= SUSPECT
        if tail is None or failed or tail.weakest < FALLEN:
            self.tail = self.tail_of(self.state.jacobian)

    def tail_of(self, values: Array) -> SparseLU | None:
        """Return factors of what is the same in every selection; None if it is singular, or there is none."""
        if self.divided is None:
            return None
        assert self.pattern is not None
        return analysed(self.pattern, np.flatnonzero(self.state.required), values, self.divided.rows[1])

    def _keep(self, number: int, factors: Factored) -> None:
        """Have the factors of a selection at hand, in place of those looked at longest ago."""
        self.loaded.pop(number, None)
        self.loaded[number] = factors
        while len(self.loaded) > KEPT:
            self.loaded.popitem(last=False)

    def _load(self, number: int) -> bool:
        """Put the factors of a selection, and its order of components, where kernels find them.

        If they are not at hand, an order of pivots is chosen for the Jacobian that is. False: it is singular.
        """
        state = self.state
        if self.dae.m == 0:  # nothing is selected, and nothing factored
            state.bind("table", self.row_of(()))
            state.known = 1
            return True
        if number not in self.loaded:
            self._look_at_tail()
            factors = self.factored(self.row_of(self.known[number]), state)
            if factors is None:
                return False
            self._keep(number, factors)
        made, _, row = self.loaded[number]
        state.bind("table", row)
        state.known = 1
        used = [made] if self.tail is None else [made, self.tail]
        self.in_force, self.parts = used, put_parts(state, self.divided, used)
        return True

    def row_of(self, algebraic: tuple[int, ...]) -> np.ndarray:
        """Return the row of the table for a selection."""
        n, m = self.dae.n, self.dae.m
        row = np.zeros(ROW_ORDER + n, dtype=np.int64)
        chosen = np.zeros(n, dtype=bool)
        chosen[np.array(algebraic, dtype=np.int64)] = True
        required = self.state.required.astype(bool)
        predicted = np.flatnonzero(chosen & ~required)
        row[ROW_KERNEL] = self.state.any_size
        row[1:5] = n - m, len(predicted), m, min(m, 1)
        row[ROW_ORDER:] = np.concatenate(
            [np.flatnonzero(~chosen), predicted, np.flatnonzero(chosen & required)]
        )
        return row

    def between(self, t: Array, y: Array, slots: np.ndarray, times: Array, out: Array) -> int:
        """Write the states at times between the points y (by rows) at t; return how that ended."""
        return between(self, t, y, slots, times, out)

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
