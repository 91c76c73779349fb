"""The iteration of Procedure 2.4: rows, the points they are judged at, the constraints found so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mpmath
import sympy as sp

from herk.linalg.rank import CLEAN, SparseRow, equilibrated, split, undetermined
from herk.model.index_reduction import combine
from herk.model.index_reduction.cloud import Cloud
from herk.model.index_reduction.combine import Entry
from herk.model.index_reduction.division import Division
from herk.model.index_reduction.findings import (
    RegularizationError,
    Row,
    Step,
    derivative_row,
    residues,
    row_as_written,
)
from herk.model.index_reduction.points import DIGITS, Evaluator, OutsideError, Point, negligible
from herk.model.index_reduction.refusals import doubts, fault
from herk.model.index_reduction.writing import Term, Writing, factored, without_powers
from herk.model.model import Model

Matrix = list[SparseRow]
_BRANCHING = (
    sp.Piecewise,
    sp.floor,
    sp.ceiling,
    sp.Mod,
    sp.frac,
    sp.Abs,
    sp.sign,
    sp.Heaviside,
    sp.Max,
    sp.Min,
)


class Search:
    """Rows E^i, f^i of the current level with the consistent points of the level before."""

    def __init__(self, model: Model, simplify: bool = True) -> None:
        """Begin with the rows as written, at points without constraints."""
        self.model = model
        self.writing = Writing(simplify)
        self.steps: list[Step] = []
        self.notes: list[str] = []
        self.rows = [self._trimmed(row_as_written(model.leading[i], model.f[i], i)) for i in range(model.n)]
        self.redundant: list[str] = []
        self.cloud = Cloud(model, self._finite)
        self._evaluate()
        self.cloud.points = self.cloud.onto([])
        if not self.points:
            raise RegularizationError(
                f"E and f of model {model.name!r} have no finite real value near the start"
                f" {_shown(model.y0)}."
            )
        self.zeros = self._drop_zeros()

    @property
    def points(self) -> list[Point]:
        """Return the points at which the rows are judged."""
        return self.cloud.points

    @property
    def constraints(self) -> list[sp.Expr]:
        """Return the constraints found so far."""
        return [step.constraint for step in self.steps]

    def advance(self, level: int) -> bool:
        """Do one iteration; return False if E^i has no dependent rows any more."""
        with mpmath.workdps(DIGITS):
            matrices = self._matrices()
            at_start = self._start_matrix()
            found = split(matrices, [p.near for p in self.points], self._order(), at_start)
            self.notes += doubts(found, self.rows, self.cloud)
            if not found.relations:
                return False
            lost = {p for _, p in found.drops}
            # Far points that agree take part: what vanishes near the start may not vanish in other branches.
            deciding = [matrix for p, matrix in enumerate(matrices) if p not in lost]
            steps = [
                self._step(level, i, sorted(found.relations[i]), deciding, at_start)
                for i in sorted(found.relations)
            ]
            accepted = self._accepted(steps)
        kept = [row for i, row in enumerate(self.rows) if i in set(found.independent)]
        for step in accepted:
            kept.append(
                self._trimmed(
                    derivative_row(step.constraint, len(self.steps), self.model.states, self.model.t)
                )
            )
            self.steps.append(step)
        self.rows = kept
        self._evaluate()
        self.cloud.points = self.cloud.onto(self.constraints)
        if not self.points:
            raise RegularizationError(
                f"The derivatives of the constraints of model {self.model.name!r} have no finite value where"
                " the constraints hold."
            )
        return True

    def refuse_undetermined(self) -> None:
        """Raise if rows were lost on the way: then y' is not unique."""
        if len(self.rows) == self.model.n:
            return
        with mpmath.workdps(DIGITS):
            matrices = self._matrices()
            near = next(matrix for matrix, point in zip(matrices, self.points, strict=True) if point.near)
            unknowns = [str(self.model.states[j]) for j in undetermined(near, self.model.n)]
        raise RegularizationError(
            f"Model {self.model.name!r} is singular: its equations do not determine {', '.join(unknowns)}, "
            f"because {'; '.join(self.redundant)}."
        )

    def compare_with_start(self) -> None:
        """Note if the ranks found near the start do not hold at the start itself."""
        with mpmath.workdps(DIGITS):
            matrix = self._start_matrix()
            if matrix is None:
                self.notes.append("No consistent point was reached from the start values themselves.")
            elif split([matrix], [True], self._order()).relations:
                self.notes.append(
                    "At the start values themselves y' is not determined: the start is a singular point."
                )

    def _order(self) -> list[int]:
        """Return simple rows first: they serve to express the others."""
        written = [i for i, row in enumerate(self.rows) if row.origin is None]
        derived = [i for i, row in enumerate(self.rows) if row.origin is not None]
        return sorted(written, key=lambda i: self.rows[i].size) + derived

    def _trimmed(self, row: Row) -> Row:
        """Drop entries that are zero, or nothing but rounding, for the parameter values given."""
        zero = {j: e for j, e in row.entries.items() if negligible(self.model, e)}
        for j, e in zero.items():
            note = (
                f"{row.label}: the factor {e} of {self.model.states[j]}' is zero for the parameter values"
                " given."
            )
            self.notes.append(note)
        return replace(row, entries={j: e for j, e in row.entries.items() if j not in zero}) if zero else row

    def _drop_zeros(self) -> tuple[tuple[int, int], ...]:
        """Drop entries of E that vanish everywhere by an identity, and return their places."""
        with mpmath.workdps(DIGITS):
            matrices = [self._matrix(point) for point in self.points]
        places = [
            (i, j)
            for i, row in enumerate(self.rows)
            for j, entry in row.entries.items()
            # Analytic formulas that vanish around a point vanish everywhere; with branches they need not.
            if not entry.has(*_BRANCHING) and not any(matrix[i][j] for matrix in matrices)
        ]
        places += [(i, j) for i, row in enumerate(self.rows) for j in residues(row) if (i, j) not in places]
        for i, j in places:
            entry = self.rows[i].entries.pop(j)
            why = "is what rounding leaves of zero" if entry.is_number else "is zero everywhere"
            self.notes.append(f"{self.rows[i].label}: the factor {entry} of {self.model.states[j]}' {why}.")
        if places:
            self._evaluate()
        return tuple(places)

    def _evaluate(self) -> None:
        self._entries = Evaluator(self.model, [e for row in self.rows for e in row.entries.values()])
        self._right = Evaluator(self.model, [row.rhs for row in self.rows])
        self._seen: dict[int, tuple[Point, Matrix]] = {}

    def _matrix(self, point: Point) -> Matrix:
        """Return the rows at a point; the last matrix for each slot is kept."""
        known, matrix = self._seen.get(point.slot, (None, []))
        if known is not point:
            numbers = iter(self._entries.cleaned(point))
            matrix = [{j: next(numbers) for j in row.entries} for row in self.rows]
            self._seen[point.slot] = point, matrix
        return matrix

    def _matrices(self) -> list[Matrix]:
        """Return the rows at the points, brought to size one."""
        return [equilibrated(self._matrix(point)) for point in self.points]

    def _start_matrix(self) -> Matrix | None:
        """Return the rows at the start itself; None if it cannot be made consistent."""
        point = self.cloud.start(self.constraints)
        return None if point is None else equilibrated(self._matrix(point), self._matrix(self.points[0]))

    def _finite(self, point: Point) -> bool:
        with mpmath.workdps(DIGITS):
            try:
                self._right.present(point)
                self._matrix(point)
            except OutsideError:
                return False
        return True

    def _step(
        self, level: int, i: int, others: list[int], matrices: list[Matrix], at_start: Matrix | None
    ) -> Step:
        """Combine row i with the rows it depends on; what is left is a constraint."""
        self.cloud.watch_the_clock()
        try:
            z = self._factors(i, others, matrices if at_start is None else [*matrices, at_start])
        except combine.NoPivotError:  # the start is a singular point, or lies in another branch
            z = self._factors(i, others, matrices)
        terms = [(sp.S.One, self.rows[i].rhs), *((-factor, self.rows[k].rhs) for k, factor in z.items())]
        # The derivative of a constraint is c_y y' + c_t = 0, with the opposite sign of the row c_y y' = -c_t.
        sign = -1 if self.rows[i].origin is not None else 1
        expr = self._written([(sign * factor, rhs) for factor, rhs in terms])
        combined = tuple((self.rows[k].label, z[k]) for k in sorted(z))
        return Step(level, self.rows[i].label, combined, self._without_powers(expr), self.rows[i].origin)

    def _written(self, terms: list[Term]) -> sp.Expr:
        if not self.writing.simplify:
            return sp.Add(*(factor * rhs for factor, rhs in terms))
        return Division(self.cloud, self.constraints).written(terms)

    def _factors(self, i: int, others: list[int], matrices: list[Matrix]) -> dict[int, sp.Expr]:
        def row(k: int) -> dict[int, Entry]:
            values = {
                j: tuple(matrix[k].get(j, mpmath.mpf(0)) for matrix in matrices) for j in self.rows[k].entries
            }
            return {
                j: Entry(e, values[j], tuple(map(abs, values[j]))) for j, e in self.rows[k].entries.items()
            }

        z = combine.factors(row(i), {k: row(k) for k in others}, self.writing.tidy)
        return {k: factor.expr for k, factor in z.items()}

    def _without_powers(self, expr: sp.Expr) -> sp.Expr:
        """Return c for a constraint c^k: the power has no gradient where it holds."""
        simple = without_powers(expr, set(self.model.states))
        if simple != expr:
            self.notes.append(f"0 = {expr} is used as 0 = {simple}, which is the same set with a gradient.")
        return simple

    def _accepted(self, steps: list[Step]) -> list[Step]:
        """Return the steps whose constraints are new.

        Redundant ones are left out, contradicting ones raise.
        """
        steps = self._news(steps)
        if not steps or self.cloud.independent([*self.constraints, *(step.constraint for step in steps)]):
            return steps
        good: list[Step] = []
        for step in steps:
            before = [*self.constraints, *(other.constraint for other in good)]
            if self.cloud.independent([*before, step.constraint]):
                good.append(step)
            elif self.cloud.onto([*before, step.constraint]):
                self._leave_out(step)
            else:
                good.append(self._rescued(before, step))
        return good

    def _rescued(self, before: list[sp.Expr], step: Step) -> Step:
        """Return the step freed of a hidden power, such as x**2 - 2*x*z + z**2.

        Raise if that is not the trouble.
        """
        new = replace(step, constraint=self._without_powers(factored(step.constraint)))
        if new.constraint != step.constraint and self.cloud.independent([*before, new.constraint]):
            return new
        raise RegularizationError(fault(self.cloud, before, step.constraint))

    def _news(self, steps: list[Step]) -> list[Step]:
        """Return the steps whose constraints do not hold yet at all points."""
        projection = self.cloud.projection([step.constraint for step in steps])
        distances: list[Any] = [mpmath.mpf(0)] * len(steps)
        for point in self.points:
            distances = [max(pair) for pair in zip(distances, projection.distances(point), strict=True)]
        for step, distance in zip(steps, distances, strict=True):
            if distance <= CLEAN:
                self._leave_out(step)
        return [step for step, distance in zip(steps, distances, strict=True) if distance > CLEAN]

    def _leave_out(self, step: Step) -> None:
        source = (
            f"d/dt of 0 = {step.differentiated}"
            if step.differentiated is not None
            else f"{step.row} (0 = {step.constraint})"
        )
        self.redundant.append(f"{source} follows from the other equations")
        self.notes.append(f"Left out as redundant: {source} follows from the other equations.")


def _shown(y0: Sequence[float | None]) -> str:
    return "(" + ", ".join("free" if value is None else f"{value:g}" for value in y0) + ")"
