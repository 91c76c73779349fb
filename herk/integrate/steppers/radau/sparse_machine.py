"""Radau for many unknowns as Python sees it: rows of E y' = f and orders of pivots, found where asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from herk.core import InputError
from herk.core.dae import Array
from herk.integrate.options import Request
from herk.integrate.steppers.radau.held import First, Held, Structure
from herk.integrate.steppers.radau.layout import ENTRIES, MADE, NONE_FOUND, PIVOTS, Radau
from herk.integrate.steppers.radau.machine import Machine
from herk.integrate.steppers.radau.sample import sample
from herk.integrate.steppers.radau.slopes import slopes
from herk.integrate.steppers.radau.stepper import PROGRAM
from herk.integrate.steps import NEED_PYTHON
from herk.jit.native import passed
from herk.jit.state import Wholes
from herk.linalg.balance import evened
from herk.linalg.elimination import NEGLIGIBLE, NONE, eliminated
from herk.linalg.sparse_complex import complex_like
from herk.linalg.sparse_lu import SparseLU, factors_in_one, factors_of, some_rows
from herk.linalg.sparse_rank import balanced

SOUND = 1e-7  # pivots in units of the unknowns and of their rows: with smaller ones other rows are tried,
DOUBTFUL = 0.03  # and with these if the rows are those that have become bad
LEFT = 0.1, 1e-3, 1e-6, 1e-9  # of a row of E that is chosen, at least
ATTEMPTS = 8  # rows and pivots found for the steps that one look between points repeats


@dataclass
class SparseMachine(Machine):
    """A Radau stepper at work on values on patterns; everything it keeps is of the size of its entries."""

    structure: Structure | None = None
    held: Held = field(default_factory=Held)
    first: First | None = None  # what later runs begin with
    rank: int = 0  # of g_y where rows were chosen last, if that failed

    def serve(self) -> None:
        """Find what the compiled steps ask for."""
        if self.state.asked == ENTRIES:
            from herk.integrate.steppers.radau.growth import look_again

            look_again(self)
            return
        self._serve(self.state, self.held)

    def _serve(self, state: Radau, held: Held) -> None:
        found = self._pivots(state, held) if state.asked == PIVOTS else self.select(state, held)
        state.answered = MADE if found else NONE_FOUND

    def select(self, state: Radau, held: Held) -> bool:
        """Choose rows of E y' = f for E and g_y at hand; False if they do not determine y'."""
        structure, m = self.structure, self.dae.m
        assert structure is not None
        values = self._masses(state)
        if not np.isfinite(values).all():
            return False
        best: tuple[float, Wholes, SparseLU] | None = None
        for rows in self._candidates(state):
            whole = np.concatenate([rows, self.dae.n + np.arange(m)])
            factors = factors_of(*some_rows(structure.whole, whole, structure.masses, values))
            quality = 0.0 if factors is None else float(factors.reference.min(initial=1.0))
            if factors is not None and (best is None or quality > best[0]):
                best = quality, rows, factors
            again = best is not None and state.selected and np.array_equal(best[1], state.rows[: state.d])
            if best is not None and best[0] > (DOUBTFUL if again else SOUND):
                break
        if best is None:
            return False
        changed = not np.array_equal(state.rows[: state.d], best[1])
        state.changes += int(changed and state.selected)
        state.rows[: state.d], state.selected, state.here = best[1], 1, 0.0
        state.in_units *= 2  # rows are not doubted a second time
        state.jacobian_valid = 0
        held.masses = best[2]
        if changed:
            held.step = held.end = None
            state.factors_valid, state.sign = 0, 0.0
        held.enter(state)
        return True

    def _candidates(self, state: Radau) -> Iterator[Wholes]:
        """Yield rows that stand for components which the constraints do not determine, then any others."""
        structure, m = self.structure, self.dae.m
        assert structure is not None
        able = np.flatnonzero(structure.partner >= 0)
        if len(able) == state.d:
            yield np.sort(structure.partner[able])
            return
        matrix = structure.parts["jac_g"].matrix(state.g_y)
        doubted = not state.selected or state.always or state.in_units
        kept = np.zeros(0, dtype=np.int64) if doubted else self._algebraic(state)
        size = np.zeros(self.dae.n) if state.always else self._reached(state)
        self.rank = 0
        for even in (False, True):  # whatever the units, then; digits may be lost where there is no choice
            given = (evened(matrix), np.zeros(self.dae.n)) if even else (matrix, size)
            for selection in structure.selector.selections(*given, kept):
                self.rank = max(self.rank, min(len(selection), m - 1))
                if len(selection) == m:
                    others = np.setdiff1d(able, selection)
                    if len(others) == state.d:
                        yield np.sort(structure.partner[others])
        yield from self._left_over(np.sort(structure.partner[able]), state)

    def _left_over(self, able: Wholes, state: Radau) -> Iterator[Wholes]:
        """Yield rows of E of which much is left when g_y and the rows before have been eliminated."""
        assert self.structure is not None
        whole, m = self.structure.whole, self.dae.m
        matrix = whole.matrix(self._masses(state) * self.structure.masses)
        matrix.eliminate_zeros()
        order = np.concatenate([self.dae.n + np.arange(m), able])
        for least in LEFT:
            negligible = np.where(np.arange(len(order)) < m, NEGLIGIBLE, least)
            chosen = order[eliminated(matrix, order, negligible=negligible).pivot != NONE]
            if len(chosen) == m + state.d:
                yield np.sort(chosen[m:])

    def _algebraic(self, state: Radau) -> Wholes:
        """Return the components that the constraints determine now."""
        assert self.structure is not None
        used: Wholes = np.flatnonzero(~np.isin(self.structure.partner, state.rows[: state.d])).astype(
            np.int64
        )
        return used

    def _reached(self, state: Radau) -> Array:
        """Return how large each unknown has been: one that passes zero keeps its unit."""
        reached: Array = np.maximum(np.abs(state.y), state.reached - state.floor)
        return reached

    def _masses(self, state: Radau) -> Array:
        """Return E and g_y in units of the unknowns and of largest entries."""
        assert self.structure is not None
        whole = self.structure.whole
        values = np.zeros(whole.nnz)
        values[state.e_place], values[state.first_g :] = state.e_here, state.g_y
        values *= (self._reached(state) + state.floor)[whole.indices]
        tops = np.zeros(whole.shape[0])
        np.maximum.at(tops, whole.rows, np.abs(values))
        return np.asarray(values / np.where(tops > 0.0, tops, 1.0)[whole.rows])

    def _pivots(self, state: Radau, held: Held) -> bool:
        """Find an order of pivots for the real matrix of the step; the complex ones share it."""
        assert self.structure is not None
        whole = self.structure.whole
        rows = np.concatenate([state.rows[: state.d], self.dae.n + np.arange(self.dae.m)])
        if not np.isfinite(state.lu).all():
            return False
        matrix, source = some_rows(whole, rows, np.ones(whole.nnz, dtype=np.int64), state.lu)
        _, level, unit = balanced(matrix)
        matrix.data *= np.repeat(level, np.diff(matrix.indptr)) * unit[matrix.indices]
        held.step = factors_in_one(matrix, source)
        if held.step is None:
            return False
        state.unit *= unit
        held.end = held.step.copy()
        held.pairs = [complex_like(held.step) for _ in range(state.most_stages // 2)]
        held.enter(state)
        first = self.first
        if first is not None and first.unit is None and np.array_equal(state.rows[: state.d], first.rows):
            first.held, first.unit = replace(held, masses=first.held.masses), state.unit.copy()
        return True

    def first_selection(self) -> None:
        """Choose rows at the start; say so if the constraints are dependent."""
        if not self.select(self.state, self.held):
            raise InputError(
                f"The {self.dae.m} constraints are not independent at the start: dg/dy has rank {self.rank}. "
                "Leave out redundant rows of g, or start elsewhere."
            )

    def between(self, t: Array, y: Array, slots: np.ndarray, times: Array, out: Array) -> int:
        """Write the states at times between the points y (by rows) at t; return how that ended.

        One step after the other, on a copy of the state and of its factors.
        """
        state = self.state.copy()
        held = self.held.copy(state)
        forward = t[-1] >= t[0]
        step = np.searchsorted(t if forward else -t, times if forward else -times, side="right") - 1
        step = np.clip(step, 0, len(t) - 2)
        for i in np.unique(step):
            here = np.flatnonzero(step == i)
            found = np.empty((here.size, self.dae.n))
            ends, points, orders = (np.array(each[i : i + 2]) for each in (t, y, slots))
            asked = times[here]
            given = passed((ends, points.reshape(-1), orders, asked, found.reshape(-1)))
            status = self._sampled(state, held, given)
            if status != 0:  # rows and pivots found for the steps before may have led astray
                state = self.state.copy()
                held = self.held.copy(state)
                status = self._sampled(state, held, given)
            if status != 0:
                return status
            out[here] = found
        return 0

    def _sampled(self, state: Radau, held: Held, given: Sequence[Any]) -> int:
        """Write the states at times within one step; return how that ended."""
        status = NEED_PYTHON
        for _ in range(ATTEMPTS):
            status = int(PROGRAM[sample].call(state.address, *given))
            if status != NEED_PYTHON:
                break
            self._serve(state, held)
        return status

    def slopes(self, t: Array, y: Array, out: Array) -> int:
        """Write y' at the points y (by rows) at t; return at how many it is not determined."""
        state, missing = self.state.copy(), 0
        held = self.held.copy(state)
        for k in range(len(t)):
            time, point, rate = np.array(t[k : k + 1]), np.array(y[k]), np.empty(self.dae.n)
            given = passed((time, point, rate))
            found = not PROGRAM[slopes].call(state.address, *given)
            if not found and self.select(state, held):
                found = not PROGRAM[slopes].call(state.address, *given)
            out[k] = rate
            missing += int(not found)
        return missing

    def remember(self) -> None:
        """Note how the machine is before its first step."""
        self.first = First(self.state.rows[: self.state.d].copy(), replace(self.held))
        super().remember()

    def rewind(self) -> None:
        """Put the machine back to where it was remembered."""
        super().rewind()
        self._put_first()

    def restart(self, asked: Request, values: Array | None) -> bool:
        """Put the machine at another start; False if all must be looked at again."""
        return super().restart(asked, values) and self._put_first()

    def _put_first(self) -> bool:
        """Go back to the first rows and orders of pivots."""
        assert self.first is not None
        assert self.structure is not None
        self.held = self.first.put(self.state)
        self.structure.selector.floor = self.atol / self.rtol
        return True
