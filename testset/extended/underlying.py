"""The ODE under a model in long doubles.

Constraints of index 1 solved for the algebraic unknowns, then E y' = f for the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from herk.model.model import Model
from testset.extended.methods import Vector

Long = np.longdouble
FUNCTIONS = {name: getattr(np, name) for name in ("sin", "cos", "tan", "sqrt", "exp", "log", "tanh")}
SHORT = 12  # a parameter with at most as many digits means its decimal, not the double next to it
SMALL = 2**31  # integers below are exact in any product


def solve(matrix: Vector, right: Vector) -> Vector:
    """Solve a linear system, or several along the last axis, by elimination with row exchanges.

    Numpy has none for long doubles.
    """
    if matrix.ndim == 2:
        return solve(matrix[..., None], right[..., None])[..., 0]
    n, each = len(matrix), np.arange(matrix.shape[2])
    a = np.concatenate([matrix, right.reshape(n, -1, len(each))], axis=1)
    for i in range(n):
        best = i + np.argmax(abs(a[i:, i]), axis=0)
        if (best != i).any():
            kept = a[i].T.copy()
            a[i] = a[best, :, each].T
            a[best, :, each] = kept
        a[i + 1 :, i:] -= (a[i + 1 :, i] / a[i, i])[:, None] * a[None, i, i:]
    for i in range(n - 1, -1, -1):
        a[i, n:] = (a[i, n:] - (a[i, i + 1 : n, None] * a[i + 1 : n, n:]).sum(axis=0)) / a[i, i]
    return a[:, n:].reshape(right.shape)


class Underlying:
    """y' of the differential unknowns of a problem with a model.

    Algebraic ones are found by Newton's method from where they were last.
    """

    def __init__(self, problem: Any) -> None:
        """Translate the formulas of the form of index 1."""
        form = exactly(problem.model).form("index1")
        system = form.generated.equations()
        self.algebraic = list(form.algebraic)
        self.kept = [j for j in range(system.n) if j not in self.algebraic]
        rows = independent(
            system.E.subs(dict(zip((system.t, *system.states), (0, *problem.y0), strict=True)))
        )
        coupled = len(rows) < len(self.kept)  # then g' = 0 is needed for all derivatives
        columns = list(range(system.n)) if coupled else self.kept
        slopes = [sp.diff(c, system.states[j]) for c in system.g for j in self.algebraic]
        left, right = [system.E[i, j] for i in rows for j in columns], [system.f[i] for i in rows]
        if coupled:
            left += [sp.diff(c, state) for c in system.g for state in system.states]
            right += [-sp.diff(c, system.t) for c in system.g]
        exact, self._numbers = named(
            [[decimal(entry) for entry in part] for part in (list(system.g), slopes, right, left)]
        )
        self._values = sp.lambdify(
            [system.t, *system.states, *self._numbers], exact, modules=[FUNCTIONS], cse=True
        )
        self._unit = left == list(sp.eye(len(columns)))
        self._found = [columns.index(j) for j in self.kept]
        self.y = np.array([Long(repr(float(value))) for value in problem.y0])

    def start(self) -> Vector:
        """Return the differential unknowns at the start."""
        return self.y[self.kept].copy()

    def complete(self, t: Any, z: Vector) -> tuple[Vector, Vector, Vector]:
        """Return all unknowns, and the sides of the equations for derivatives, at each of the times (k,)."""
        m, count, last = len(self.algebraic), z.shape[1], np.inf
        y = np.repeat(self.y[:, None], count, axis=1)
        y[self.kept] = z
        for _ in range(12):
            g, slope, f, E = (_rows(part, count) for part in self._values(t, *y, *self._numbers.values()))
            if not m:
                break
            step = solve(slope.reshape(m, m, count), g)
            y[self.algebraic] -= step
            size = float((abs(step) / (abs(y[self.algebraic]) + 1e-10)).max())
            if size < 1e-17 or (size < 1e-14 and size > 0.1 * last):  # the latter is rounding
                break
            last = size
        if np.isfinite(y).all():
            self.y = y[:, -1].copy()
        return y, f, E.reshape(len(f), len(f), count)

    def rate(self, t: Any, z: Vector) -> Vector:
        """Return z', for columns z at times (k,)."""
        _, f, E = self.complete(t, z)
        return (f if self._unit else solve(E, f))[self._found]

    def whole(self, t: Any, z: Vector) -> Vector:
        """Return all unknowns at one time."""
        return self.complete(np.array([t]), z[:, None])[0][:, 0]


def exactly(model: Model) -> Model:
    """Return the model with its parameters in the formulas, as the decimals they are meant to be."""
    values = {symbol: _meant(sp.Float(value)) for symbol, value in model.parameters.items()}
    E, f = sp.Matrix(model.E).xreplace(values), sp.Matrix(model.f).xreplace(values)
    return Model(model.name, model.states, E, list(f), t=model.t, t_span=model.t_span, y0=model.y0)


def independent(matrix: Any) -> list[int]:
    """Return as many rows of a matrix as are independent, the first ones."""
    rows: list[int] = []
    for i in range(matrix.rows):
        if matrix[[*rows, i], :].rank() > len(rows):
            rows.append(i)
    return rows


def _rows(values: list[Any], count: int) -> Vector:
    out = np.empty((len(values), count), dtype=Long)
    for row, value in zip(out, values, strict=True):
        row[:] = value
    return out


def decimal(expression: Any) -> Any:
    """Return the expression with every float exact.

    As the decimal it was written as if that is short, else as the double it is.
    """
    formula = sp.sympify(expression)
    return formula.xreplace({number: _meant(number) for number in formula.atoms(sp.Float)})


def named(parts: list[list[Any]]) -> tuple[list[list[Any]], dict[Any, Any]]:
    """Return the formulas with names for their constants, and the values of the names.

    Computed once and never in doubles.
    """
    found = {number for part in parts for entry in part for number in constants(entry)}
    names = {number: sp.Dummy(f"c{i}") for i, number in enumerate(sorted(found, key=sp.default_sort_key))}
    values = {name: Long(str(number.evalf(40))) for number, name in names.items()}
    return [[entry.xreplace(names) for entry in part] for part in parts], values


def constants(formula: Any) -> set[Any]:
    """Return the largest parts of a formula without variables.

    But not small integers and the exponents of roots.
    """
    if formula.is_Integer and abs(formula) < SMALL:
        return set()
    if formula.is_number:
        return {formula}
    arguments = (
        formula.args[:1] if formula.is_Pow and formula.exp in (sp.S.Half, -sp.S.Half) else formula.args
    )
    return {
        number for argument in arguments if isinstance(argument, sp.Expr) for number in constants(argument)
    }


def _meant(number: sp.Float) -> sp.Rational:
    text = repr(float(number))
    return sp.Rational(text) if len(text.split("e")[0].strip("-0.")) <= SHORT else sp.Rational(number)
