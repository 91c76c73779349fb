"""The ODE under a model in long doubles: constraints of index 1 solved for the algebraic unknowns, then E y' = f for the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from testset.extended.methods import Vector

Long = np.longdouble
FUNCTIONS = {name: getattr(np, name) for name in ("sin", "cos", "tan", "sqrt", "exp", "log", "tanh")}
SHORT = 12  # a parameter with at most as many digits means its decimal, not the double next to it


def solve(matrix: Vector, right: Vector) -> Vector:
    """Solve a linear system by elimination with row exchanges; numpy has none for long doubles."""
    a = np.column_stack([matrix, right])
    n = len(a)
    for i in range(n):
        best = i + int(np.argmax(abs(a[i:, i])))
        a[[i, best]] = a[[best, i]]
        a[i + 1 :, i:] -= np.outer(a[i + 1 :, i] / a[i, i], a[i, i:])
    for i in range(n - 1, -1, -1):
        a[i, n] = (a[i, n] - a[i, i + 1 : n] @ a[i + 1 :, n]) / a[i, i]
    return a[:, n]


class Underlying:
    """y' of the differential unknowns of a problem with a model; algebraic ones are found by Newton's method from where they were last."""

    def __init__(self, problem: Any) -> None:
        """Translate the formulas of the form of index 1."""
        form = problem.model.form("index1")
        system = form.generated.equations()
        self.algebraic = list(form.algebraic)
        self.kept = [j for j in range(system.n) if j not in self.algebraic]
        rows = [i for i in range(system.n) if any(entry != 0 for entry in system.E[i, :])]
        slopes = [sp.diff(c, system.states[j]) for c in system.g for j in self.algebraic]
        parts = (list(system.g), slopes, [system.f[i] for i in rows], [system.E[i, j] for i in rows for j in self.kept])
        exact, self._numbers = named([[decimal(entry) for entry in part] for part in parts])
        arguments = [system.t, *system.states, *self._numbers]
        self._values = sp.lambdify(arguments, exact, modules=[{"mpf": Long, **FUNCTIONS}, "mpmath"], cse=True)
        self.y = np.array([Long(repr(float(value))) for value in problem.y0])

    def start(self) -> Vector:
        """Return the differential unknowns at the start."""
        return self.y[self.kept].copy()

    def complete(self, t: Any, z: Vector) -> list[Vector]:
        """Set all unknowns; return the rows of f and E that are left."""
        m, last = len(self.algebraic), np.inf
        self.y[self.kept] = z
        for _ in range(12):
            g, slope, f, E = (np.array(part, dtype=Long) for part in self._values(t, *self.y, *self._numbers.values()))
            if not m:
                break
            step = solve(slope.reshape(m, m), g)
            self.y[self.algebraic] -= step
            size = float((abs(step) / (abs(self.y[self.algebraic]) + 1e-10)).max())
            if size < 1e-17 or (size < 1e-14 and size > 0.1 * last):  # the latter is rounding
                break
            last = size
        return [f, E.reshape(len(f), len(f))]

    def rate(self, t: Any, z: Vector) -> Vector:
        """Return z'."""
        f, E = self.complete(t, z)
        unit = not (E - np.eye(len(f))).any()
        return f if unit else solve(E, f)

    def whole(self, t: Any, z: Vector) -> Vector:
        """Return all unknowns."""
        self.complete(t, z)
        return self.y.copy()


def decimal(expression: Any) -> Any:
    """Return the expression with every float exact: as the decimal it was written as if that is short, else as the double it is."""
    formula = sp.sympify(expression)
    return formula.xreplace({number: _meant(number) for number in formula.atoms(sp.Float)})


def named(parts: list[list[Any]]) -> tuple[list[list[Any]], dict[Any, Any]]:
    """Return the formulas with names for their fractions, and the values of the names: divided out once, not at every call."""
    found = {number for part in parts for entry in part for number in entry.atoms(sp.Rational) if number.q > 2}
    names = {number: sp.Dummy(f"c{i}") for i, number in enumerate(sorted(found))}
    values = {name: Long(number.p) / Long(number.q) for number, name in names.items()}
    return [[entry.xreplace(names) for entry in part] for part in parts], values


def _meant(number: sp.Float) -> sp.Rational:
    text = repr(float(number))
    return sp.Rational(text) if len(text.split("e")[0].strip("-0.")) <= SHORT else sp.Rational(number)
