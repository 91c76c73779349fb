"""Hidden constraints by structure: rows without derivatives are differentiated until y' is determined.

Ranks are assumed from the pattern on the way (an assignment of equations to derivatives) and proved by
numbers at the end, at points where all constraints hold. What the pattern does not show is refused, with the
reason: then Procedure 2.4 decides.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
import sympy as sp

from herk.codegen.block_form import is_zero
from herk.codegen.numbers import is_residue
from herk.codegen.shapes import CLOCK, Formula
from herk.codegen.values import Batch, Space
from herk.core.dae import Array
from herk.linalg.balance import rank
from herk.linalg.sparse_rank import is_regular
from herk.model.index_reduction.clock import DEADLINE
from herk.model.index_reduction.findings import RegularizationError
from herk.model.index_reduction.scales import scales
from herk.model.index_reduction.structural.assignment import connected, overdetermined
from herk.model.index_reduction.structural.elimination import (
    LARGEST_CONSTANT_BLOCK,
    UnfitError,
    eliminated,
    is_constant,
)
from herk.model.index_reduction.structural.flow import Flow, derivative, flow
from herk.model.index_reduction.structural.points import (
    Constraints,
    Point,
    along,
    at_start,
    elsewhere,
    guesses,
)
from herk.model.index_reduction.structural.rows import Rows, rows
from herk.model.index_reduction.structural.trace import Hidden
from herk.model.model import Model

_CANCELLED = 1e-9  # of its terms: an entry of E that may be zero


class Search:
    """The constraints of one model, level by level."""

    def __init__(self, model: Model) -> None:
        """Read the rows, and solve E y' = f where that can be done."""
        self.model = model
        self.rows: Rows = rows(model)
        self.catalogue = self.rows.catalogue
        self.found: list[Hidden] = []
        # Derivatives that stay: number of the constraint, part without derivatives, factors of the others.
        self.open: list[tuple[int, Formula, dict[int, Formula]]] = []
        self.scale = np.array(scales(model).y)
        self.flow: Flow = flow(self.rows, self._entries_of_e())
        self.divisors = list(self.flow.divisors)

    def run(self, most: int) -> int:
        """Find all constraints; return the index."""
        new = [Hidden(c, 0, i, None, used) for i, c, used in self.flow.constraints]
        for level in range(most + 1):
            if not new:
                if len(self.flow.kept) + len(self.open) < self.model.n:
                    raise UnfitError("the pattern of the equations does not determine all derivatives")
                self._certify()
                return level
            if any(not each.formula.states for each in new):
                raise UnfitError("a constraint holds no unknowns")
            first = len(self.found)
            self.found += new
            new = self._differentiated(first, level + 1)
            new += self._combined(level + 1)
            new.sort(key=lambda each: each.parent or 0)
        raise UnfitError(f"there are constraints beyond level {most}")

    def _differentiated(self, first: int, level: int) -> list[Hidden]:
        """Return the derivatives of the newest constraints that are constraints themselves."""
        new, found = [], []
        for number in range(first, len(self.found)):
            if number % 256 == 0:
                _watch_the_clock(self.model)
            constraint = self.found[number].formula
            found.append((number, constraint, *derivative(self.catalogue, self.flow, constraint)))
        cancelled = self._cancelled([e for *_, factors in found for e in factors.values()])
        for number, constraint, base, every in found:
            factors = {j: e for j, e in every.items() if e not in cancelled}
            if factors:
                self.open.append((number, base, factors))
            else:
                new.append(Hidden(base, level, None, number, self._used(constraint)))
        return new

    def _cancelled(self, factors: list[Formula]) -> set[Formula]:
        """Return those whose terms cancel by their numbers, which no shape shows."""
        space, points = Space(self.catalogue, self.model.values), self._near()
        values, sizes = Batch(space, factors), Batch(space, factors, sizes=True)
        lost = np.ones(len(factors), dtype=bool)
        for p in points:
            size = sizes(p.t, p.y)
            lost &= (np.abs(values(p.t, p.y)) <= _CANCELLED * size) & (size > 0.0)
        found = {factors[k] for k in np.flatnonzero(lost)}
        if any(not is_zero(self.catalogue.written(each)) for each in found):
            raise UnfitError("a factor of a derivative nearly vanishes")
        return found

    def _near(self) -> list[Point]:
        """Return points near the start."""
        return [point for point, _ in list(guesses(self.model, self.scale))[:2]]

    def _combined(self, level: int) -> list[Hidden]:
        """Return what is left of equations that are more than the derivatives in them, combined."""
        rows = {number: factors for number, _, factors in self.open}
        new = []
        parts = overdetermined(rows)
        for members in parts + self._dependent(rows, {number for part in parts for number in part}):
            values = self._values_of({number: rows[number] for number in members})
            right = {number: base for number, base, _ in self.open if number in members}
            solved = eliminated(self.catalogue, {i: rows[i] for i in members}, right, values)
            self.divisors += solved.divisors
            kept = tuple(sorted(solved.pivots.values()))
            lost = [number for number in members if number not in kept]
            self.open = [each for each in self.open if each[0] not in lost]
            for number in lost:
                used = self._used(self.found[number].formula)
                new.append(Hidden(solved.right[number], level, None, number, used, kept))
        return new

    def _dependent(self, rows: Mapping[int, Mapping[int, Formula]], known: set[int]) -> list[list[int]]:
        """Return small parts with constant factors whose equations depend on each other."""
        found = []
        for members in connected(rows):
            part = {number: rows[number] for number in members}
            constant = all(is_constant(e) for row in part.values() for e in row.values())
            if not 1 < len(members) <= LARGEST_CONSTANT_BLOCK or not constant or known & set(members):
                continue
            columns = sorted({j for row in part.values() for j in row})
            values = self._values_of(part)
            matrix = [[values[i][j][0] if j in values[i] else 0.0 for j in columns] for i in members]
            if rank(np.array(matrix)) < len(members):
                found.append(members)
        return found

    def _used(self, constraint: Formula) -> tuple[int, ...]:
        """Return the rows of E y' = f that the derivative of a constraint takes."""
        moved = [j for j in self.catalogue.gradient(constraint) if j in self.flow.rates]
        return tuple(sorted({i for j in moved for i in self.flow.rates[j].rows}))

    def _values_of(self, rows: Mapping[int, Mapping[int, Formula]]) -> dict[int, dict[int, Array]]:
        """Return the entries of rows, in units of the unknowns, where their quality is looked at.

        That is near the start, along the span if they depend on time, and elsewhere: there nothing vanishes.
        """
        space = Space(self.catalogue, self.model.values)
        formulas = [e for row in rows.values() for e in row.values()]
        batch = Batch(space, formulas)
        near = np.array([batch(p.t, p.y) for p in self._near()])
        if not np.isfinite(near).all():
            raise UnfitError("formulas have no finite value near the start")
        other = elsewhere(self.model, self.scale)
        moving = any(CLOCK in shape.expr.free_symbols for shape in {each.shape for each in formulas})
        later = along(self.model, self._near()[0]) if moving else ()
        seen = np.array([*near, *(batch(p.t, p.y) for p in (*later, other))])
        columns = iter(np.where(np.isfinite(seen), seen, near[-1]).T)
        return {i: {j: self.scale[j] * next(columns) for j in row} for i, row in rows.items()}

    def _entries_of_e(self) -> list[dict[int, Array]]:
        """Return the entries of E at points near the start; refuse those that may vanish."""
        formulas = [e for row in self.rows.leading for e in row.values()]
        if any(abs(e.shape.expr) < 1e-10 for e in formulas if e.shape.expr.is_number):
            raise UnfitError("an entry of E is close to zero")
        space = Space(self.catalogue, self.model.values)
        self._refuse_residues()
        values, sizes = Batch(space, formulas), Batch(space, formulas, sizes=True)
        for p in self._near():
            if not (np.abs(values(p.t, p.y)) > _CANCELLED * sizes(p.t, p.y)).all():
                raise UnfitError("an entry of E vanishes, or has no value, near the start")
        found = self._values_of(dict(enumerate(self.rows.leading)))
        return [found[i] for i in range(self.model.n)]

    def _refuse_residues(self) -> None:
        if any(is_residue(number, [sp.S.One]) for number in self.catalogue.numbers if abs(number) < 1e-10):
            raise UnfitError("a number looks like what rounding leaves of zero")

    def _certify(self) -> None:
        """Prove at points on all constraints that they are independent and that y' is determined."""
        space = Space(self.catalogue, self.model.values)
        constraints = Constraints(self.catalogue, space, self.levels(), self.model.n)
        points = self._points(constraints)
        leading = self._last_rows(space)
        self.singular_start = False
        for point in points:
            regular = is_regular(leading(point))
            regular = regular and constraints.independent(point, self.scale)
            if not regular and not point.start:
                raise UnfitError("ranks at consistent points are lower than the pattern says")
            self.singular_start |= point.start and not regular
        self.reached_start = any(point.start for point in points)

    def levels(self) -> list[list[Formula]]:
        """Return the constraints level by level."""
        count = 1 + max((each.level for each in self.found), default=-1)
        return [[each.formula for each in self.found if each.level == level] for level in range(count)]

    def _points(self, constraints: Constraints) -> list[Point]:
        points: list[Point] = []
        for guess, scale in guesses(self.model, self.scale):
            _watch_the_clock(self.model)
            if len(points) < 2:
                y = constraints.onto(guess.t, guess.y, scale)
                points += [] if y is None else [guess._replace(y=y)]
        if not points:
            raise UnfitError("no point was reached where all constraints hold")
        guess, scale = at_start(self.model, self.scale, points[0].y)
        y = constraints.onto(guess.t, guess.y, scale)
        return points if y is None else [*points, guess._replace(y=y)]

    def _last_rows(self, space: Space):  # type: ignore[no-untyped-def]
        """Return the rows that determine y', as a function of a point: rows of E, derivatives left open."""
        from scipy.sparse import csr_array

        listed = [(r, j, e) for r, i in enumerate(self.flow.kept) for j, e in self.rows.leading[i].items()]
        for r, (number, _, _) in enumerate(self.open, len(self.flow.kept)):
            slopes = self.catalogue.gradient(self.found[number].formula)
            listed += [(r, j, e) for j, e in slopes.items()]
        batch = Batch(space, [e for _, _, e in listed])
        places = np.array([(i, j) for i, j, _ in listed], dtype=np.int64).T
        n = self.model.n
        return lambda point: csr_array((batch(point.t, point.y), tuple(places)), shape=(n, n))

    def notes(self) -> tuple[str, ...]:
        """Return what is to be said about the start."""
        if not self.reached_start:
            return ("No consistent point was reached from the start values themselves.",)
        if self.singular_start:
            return ("At the start values themselves y' is not determined: the start is a singular point.",)
        return ()


def _watch_the_clock(model: Model) -> None:
    if time.monotonic() > DEADLINE.get():
        raise RegularizationError(
            f"The analysis of model {model.name!r} did not end within the time allowed; "
            "allow more, or give regularize simplify=False."
        )
