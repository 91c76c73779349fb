"""Eliminated unknowns from their constraints at many points at once, compiled.

Or the way back would cost more than a fast solve.
"""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np

from herk.core.dae import Array
from herk.integrate.callables import bound
from herk.jit.by_address import by_address
from herk.jit.program import Program
from herk.jit.state import Floats, State, Wholes, address_of, view
from herk.linalg.dense import solve_block
from herk.model.forms.callable_forms import GivenForm
from herk.model.forms.to_model_states import ToModelStates

LINEAR, MOST = 2, 30  # iterations: the second one of a linear system is for rounding
# relative size of a correction after which the next one would be lost in rounding: Newton's method squares it
SETTLED = 1e-7
LOST = 1e-3  # corrections larger than this that do not shrink either are no rounding
ZERO = 1e-7  # of the largest unknown: smaller ones are measured by that

function_at = by_address("None(float, Floats, Floats, Floats)")  # (t, y, par, out)


class Constraints(State):
    """As many constraints as unknown components, and memory to solve them."""

    n: int
    m: int
    most: int  # iterations
    at_g: int
    at_jac_g: int
    unknown: Wholes
    guess: Floats
    g: Floats
    jac_g: Floats
    work: Floats  # the matrix, and the correction behind it
    parameters: Floats


def size(y: Floats, own: Constraints) -> float:
    """Return the largest relative correction."""
    m, unknown, largest, found = own.m, own.unknown, 0.0, 0.0
    for c in range(m):
        largest = max(largest, abs(y[unknown[c]]))
    for c in range(m):
        part = abs(own.work[m * m + c]) / (abs(y[unknown[c]]) + ZERO * largest)
        if not part <= found:  # nan counts
            found = part
    return found if largest > 0.0 else 0.0


def newton(t: float, y: Floats, own: Constraints) -> bool:
    """Correct the unknown components until they settle; tell whether they did, as a linear system does."""
    n, m, unknown, work, last = own.n, own.m, own.unknown, own.work, 1e300
    for _ in range(own.most):
        function_at(own.at_g)(t, y, own.parameters, own.g)
        function_at(own.at_jac_g)(t, y, own.parameters, own.jac_g)
        for r in range(m):
            for c in range(m):
                work[r * m + c] = own.jac_g[r * n + unknown[c]]
            work[m * m + r] = own.g[r]
        if solve_block(work, m) == 0.0:
            return False
        for c in range(m):
            y[unknown[c]] -= work[m * m + c]
        found = size(y, own)
        if own.most > LINEAR and (found <= SETTLED or (last * 0.5 <= found and found <= LOST)):
            return True
        last = found
    return own.most <= LINEAR


def complete(own: Constraints, t: Floats, y: Floats) -> None:
    """Compute the unknown components of all points, beginning with the point before or with the guess.

    NaN where that leads nowhere.
    """
    n, unknown = own.n, own.unknown
    for i in range(t.size):
        for c in range(own.m):
            before = y[(i - 1) * n + unknown[c]] if i > 0 else nan
            y[i * n + unknown[c]] = before if before - before == 0.0 else own.guess[c]
        if not newton(t[i], view(y, i * n, n), own):
            for c in range(own.m):
                y[i * n + unknown[c]] = nan


PROGRAM = Program(complete)


class Completion:
    """Fill in unknown components of points, y with one row for each time.

    `source` is a form with as many constraints.
    """

    def __init__(self, source: Any, unknown: tuple[int, ...]) -> None:
        """Look the functions up once."""
        self._functions, n, m = bound(source), source.n, source.m  # kept alive: called by address
        self._call, self._watched = PROGRAM[complete].call, source.generated is None
        values = getattr(source.generated, "parameters", np.zeros(1))
        sizes = {"unknown": m, "guess": m, "g": m, "jac_g": m * n, "work": m * m + m}
        self._own = own = Constraints(**sizes, parameters=len(values))
        own.n, own.m, own.unknown[:], own.parameters[:] = n, m, unknown, values
        own.at_g, own.at_jac_g = (self._functions.natives[place].entry for place in (2, 3))
        self._t, self._y = np.zeros(1), np.zeros(n)
        self._single = (own.address, address_of(self._t), 1, address_of(self._y), n)
        # Formulas are linear in what they eliminate; callables need not be, and may not even be defined at
        # zero.
        own.most = LINEAR
        if isinstance(source, GivenForm):
            own.most, own.guess[:] = MOST, np.array(source.y0, dtype=float)[list(unknown)]

    def __call__(self, t: Array, y: Array) -> None:
        """Change y in place; both arrays are contiguous."""
        self._call(self._own.address, address_of(t), t.size, address_of(y), y.size)
        if self._watched:
            self._raise()

    def point(self, t: float, known: list[int], values: Array) -> Array:
        """Return the whole point of which these components are known; its memory is used again."""
        self._t[0], self._y[known] = t, values
        self._call(*self._single)
        if self._watched:
            self._raise()
        return self._y

    def _raise(self) -> None:
        if self._functions.error is not None:
            raise self._functions.error


def model_points(back: ToModelStates, t: Array, z: Array) -> Array:
    """Return points (unknowns x times) in the unknowns of the model."""
    y = np.zeros((len(t), back.n))
    y[:, list(back.kept)] = z[: len(back.kept)].T
    if back.source is not None:
        Completion(back.source, back.eliminated)(np.ascontiguousarray(t), y)
    return y.T
