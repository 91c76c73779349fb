"""From a state to its constraints, and an error along them, compiled: what CVODE calls after a step."""

from __future__ import annotations

from typing import Any

import numpy as np

from herk.core.dae import Array
from herk.integrate.callables import NAMES, bound
from herk.integrate.steppers.radau.layout import function_at
from herk.integrate.steps import INFINITE
from herk.jit.program import Program
from herk.jit.state import Floats, State, Wholes
from herk.linalg.dense import factor, substitute

MOST = 20  # iterations
SETTLED = 1e-9  # a correction as small as that is followed by one of the size of rounding
ROUNDING = 1e-14


class Constraints(State):
    """Code, structure and scratch memory of a projection."""

    n: int
    at_g: int
    at_jac_g: int
    rows: Wholes  # constraints that count
    kept: Wholes  # unknowns that may move
    order: Wholes
    parameters: Floats
    y: Floats
    value: Floats
    matrix: Floats
    square: Floats
    answer: Floats
    change: Floats
    error: Floats


def back(own: Constraints) -> bool:
    """Set change to J' (J J')^-1 value; return whether J has full rank."""
    r, n, rows, kept, matrix = own.rows.size, own.n, own.rows, own.kept, own.matrix
    for i in range(r):
        for j in range(r):
            total = 0.0
            for c in range(kept.size):
                total += matrix[rows[i] * n + kept[c]] * matrix[rows[j] * n + kept[c]]
            own.square[i * r + j] = total
    if not factor(own.square, 0, r, own.order) > 0.0:
        return False
    substitute(own.square, 0, r, own.order, own.value, own.answer, 0)
    for c in range(kept.size):
        total = 0.0
        for i in range(r):
            total += matrix[rows[i] * n + kept[c]] * own.answer[i]
        own.change[c] = total
    return True


def project(t: float, own: Constraints) -> int:
    """Move y[kept] onto the constraints and turn the error along them; return whether that was possible."""
    n, r, last, rows, kept, y, value = own.n, own.rows.size, INFINITE, own.rows, own.kept, own.y, own.value
    for _ in range(MOST):
        function_at(own.at_g)(t, y, own.parameters, value)
        function_at(own.at_jac_g)(t, y, own.parameters, own.matrix)
        for i in range(r):
            value[i] = value[rows[i]]  # rows are in order, so nothing is lost
        if not back(own):
            return 0
        size, largest = 0.0, 1.0
        for c in range(kept.size):
            y[kept[c]] -= own.change[c]
            size = max(size, abs(own.change[c]))
            largest = max(largest, abs(y[kept[c]]))
        if size <= ROUNDING * largest or last <= SETTLED:
            for i in range(r):
                value[i] = 0.0
                for c in range(kept.size):
                    value[i] += own.matrix[rows[i] * n + kept[c]] * own.error[c]
            back(own)
            for c in range(kept.size):
                own.error[c] -= own.change[c]
            return 1
        if not size < INFINITE:
            return 0
        last = size
    return 0


PROGRAM = Program(project)


class Projection:
    """Constraints of a form as far as they bind the unknowns kept; others are taken for zero."""

    def __init__(self, source: Any, rows: list[int], kept: list[int]) -> None:
        """Look the functions up once."""
        self._functions = bound(source)  # kept alive: compiled code has addresses only
        entries = dict(zip(NAMES, self._functions.natives, strict=True))
        n, m, r, k = source.n, source.m, len(rows), len(kept)
        given = getattr(source.generated, "parameters", np.zeros(1))
        sizes = {"rows": r, "kept": k, "order": r, "parameters": given.size, "y": n, "value": m}
        self._own = Constraints(**sizes, matrix=m * n, square=r * r, answer=r, change=k, error=k)
        self._own.n, self._own.at_g, self._own.at_jac_g = n, entries["g"].entry, entries["jac_g"].entry
        self._own.rows[:], self._own.kept[:], self._own.parameters[:] = sorted(rows), sorted(kept), given

    def __call__(self, t: float, z: Array, correction: Array, error: Array) -> bool:
        """Set the correction and change the error; return whether the constraints were reached."""
        own = self._own
        own.y[own.kept], own.error[:] = z, error
        if not PROGRAM[project].call(t, own.address):
            return False
        correction[:] = own.y[own.kept] - z
        error[:] = own.error
        return True


_made: dict[Any, Projection] = {}


def projection(source: Any, rows: list[int], kept: list[int]) -> Projection:
    """Return the projection, made once for each system of a process: a form is derived anew more often."""
    key = (source.generated.key, source.generated.values, tuple(rows), tuple(kept))
    if key not in _made:
        _made.clear()
        _made[key] = Projection(source, rows, kept)
    return _made[key]
