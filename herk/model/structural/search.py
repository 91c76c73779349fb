"""Hidden constraints by structure: rows without derivatives are differentiated until y' is determined.

Ranks are assumed from the pattern on the way (an assignment of equations to derivatives) and proved by
numbers at the end, at points where all constraints hold. What the pattern does not show is refused, with the
reason: then Procedure 2.4 decides.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from herk.core.dae import Array
from herk.linalg.sparse_rank import Corrections, is_regular
from herk.model.clock import DEADLINE
from herk.model.findings import RegularizationError, Step
from herk.model.model import Model
from herk.model.numbers import is_residue
from herk.model.scales import scales
from herk.model.structural.flow import Flow, UnfitError, derivative, flow
from herk.model.structural.points import Constraints, Point, at_start, guesses
from herk.model.structural.rows import Rows, rows
from herk.model.structural.shapes import Formula
from herk.model.structural.values import Batch, Space

_CANCELLED = 1e-9  # of its terms: an entry of E that may be zero


@dataclass(frozen=True)
class Hidden:
    """One constraint: where it was found, in which row or as the derivative of which, rows inserted."""

    formula: Formula
    level: int
    row: int | None
    parent: int | None
    used: tuple[int, ...]


class Search:
    """The constraints of one model, level by level."""

    def __init__(self, model: Model) -> None:
        """Read the rows, and solve E y' = f where that can be done."""
        self.model = model
        self.rows: Rows = rows(model)
        self.catalogue = self.rows.catalogue
        self.found: list[Hidden] = []
        self.open: list[tuple[int, dict[int, Formula]]] = []  # derivatives that stay: number, factors
        self.scale = np.array(scales(model).y)
        self.flow: Flow = flow(self.rows, self._entries_of_e())
        self.free = [j for j in range(model.n) if j not in self.flow.rates]

    def run(self, most: int) -> int:
        """Find all constraints; return the index."""
        new = [Hidden(c, 0, i, None, used) for i, c, used in self.flow.constraints]
        for level in range(most + 1):
            if not new:
                self._refuse_open(len(self.flow.kept) + len(self.open) < self.model.n)
                self._certify()
                return level
            first = len(self.found)
            self.found += new
            new = self._differentiated(first, level + 1)
            self._refuse_open(self._assigned() < len(self.open))
        raise UnfitError(f"there are constraints beyond level {most}")

    def _differentiated(self, first: int, level: int) -> list[Hidden]:
        """Return the derivatives of the newest constraints that are constraints themselves."""
        new = []
        for number in range(first, len(self.found)):
            if number % 256 == 0:
                _watch_the_clock(self.model)
            constraint = self.found[number].formula
            base, factors = derivative(self.catalogue, self.flow, constraint)
            if factors:
                self.open.append((number, factors))
                continue
            if not base.states:
                raise UnfitError("a constraint or its derivative holds no unknowns")
            used = {i for j in self.catalogue.gradient(constraint) for i in self.flow.rates[j].rows}
            new.append(Hidden(base, level, None, number, tuple(sorted(used))))
        return new

    def _assigned(self) -> int:
        """Return how many derivatives left open can be given an equation each."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_bipartite_matching

        if not self.open:
            return 0
        place = {j: k for k, j in enumerate(self.free)}
        ends = np.array([(i, place[j]) for i, (_, row) in enumerate(self.open) for j in row]).T
        pattern = csr_array((np.ones(ends.shape[1]), tuple(ends)), shape=(len(self.open), len(self.free)))
        return int((maximum_bipartite_matching(pattern, perm_type="column") >= 0).sum())

    def _refuse_open(self, wrong: bool) -> None:
        if wrong:
            raise UnfitError("the pattern of the equations does not determine all derivatives")

    def _entries_of_e(self) -> list[dict[int, Array]]:
        """Return the entries of E at points near the start; refuse those that may vanish."""
        formulas = [e for row in self.rows.leading for e in row.values()]
        if any(abs(e.shape.expr) < 1e-10 for e in formulas if e.shape.expr.is_number):
            raise UnfitError("an entry of E is close to zero")
        space = Space(self.catalogue, self.model.values)
        self._refuse_residues()
        points = [point for point, _ in list(guesses(self.model, self.scale))[:2]]
        values = [Batch(space, formulas)(p.t, p.y) for p in points]
        terms = [Batch(space, formulas, sizes=True)(p.t, p.y) for p in points]
        for value, size in zip(values, terms, strict=True):
            if not (np.abs(value) > _CANCELLED * size).all():
                raise UnfitError("an entry of E vanishes, or has no value, near the start")
        columns = iter(np.array(values).T)
        return [{j: next(columns) for j in row} for row in self.rows.leading]

    def _refuse_residues(self) -> None:
        numbers = [number for number in self.catalogue.numbers if abs(number) < 1e-10]
        if any(is_residue(number, [1]) for number in numbers):
            raise UnfitError("a number looks like what rounding leaves of zero")

    def _certify(self) -> None:
        """Prove at points on all constraints that they are independent and that y' is determined."""
        space = Space(self.catalogue, self.model.values)
        constraints = Constraints(self.catalogue, space, self._levels(), self.model.n)
        points = self._points(constraints)
        leading = self._last_rows(space)
        self.singular_start = False
        for point in points:
            regular = is_regular(leading(point))
            if self.found:
                slopes = constraints.jacobian(point.t, point.y).multiply(self.scale[None, :])
                regular = regular and _independent(slopes)
            if not regular and not point.start:
                raise UnfitError("ranks at consistent points are lower than the pattern says")
            self.singular_start |= point.start and not regular
        self.reached_start = any(point.start for point in points)

    def _levels(self) -> list[list[Formula]]:
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
        for r, (number, _) in enumerate(self.open, len(self.flow.kept)):
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

    def steps(self) -> tuple[Step, ...]:
        """Return the constraints in sympy, with how they were found."""
        written = [self.catalogue.written(each.formula) for each in self.found]
        return tuple(
            Step(
                each.level,
                f"row {each.row}" if each.parent is None else f"d/dt g[{each.parent}]",
                (),
                constraint,
                None if each.parent is None else written[each.parent],
            )
            for each, constraint in zip(self.found, written, strict=True)
        )


def _independent(slopes: Sequence[float]) -> bool:
    try:
        return Corrections(slopes).independent
    except RuntimeError:
        return False


def _watch_the_clock(model: Model) -> None:
    if time.monotonic() > DEADLINE.get():
        raise RegularizationError(
            f"The analysis of model {model.name!r} did not end within the time allowed; "
            "allow more, or give regularize simplify=False."
        )
