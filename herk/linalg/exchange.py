"""Better columns for a large selection: two are exchanged while one is a large multiple of those selected.

With B = A_S^-1 A_N (selected columns S, the others N) an exchange of i in S for j in N multiplies the
determinant of A_S by B_ij; no large entry left means columns nearly as good as any (the largest volume,
Knuth 1985; rank-revealing factorisations of Gu & Eisenstat 1996). Sparse entries alone do not show that
columns depend on each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herk.core.dae import Array
from herk.jit.program import Program
from herk.jit.state import Floats, State, Wholes, view
from herk.linalg.basis import RENEWED, Basis, factor, largest_of_row, look_at, put, solve
from herk.linalg.elimination import ALL, NEVER, NO_ROOM, NONE, Elimination

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LARGE = 2.5  # a multiple that is worth an exchange
MOST = 400  # exchanges at one point
DRAWS = 8  # random directions that show which rows of B are long
TRIALS = 4  # long rows looked at that need have no large entry
GAIN = 1.1  # what a larger entry of the same column must bring to be looked at


class Search(State):
    """The matrix in units of the unknowns, and what is known of the lengths of the rows of B."""

    basis: int  # by address
    large: float
    given: Floats  # values of the matrix
    source: Wholes  # of the entries that count, by rows
    unit: Floats  # of columns
    draw: Floats  # random directions, one after the other
    probe: Floats  # A times one of them
    length: Floats  # B times them
    fine: Wholes  # places in which nothing is to be exchanged


def exchange(own: Search) -> int:
    """Exchange columns until none is a large multiple; ALL, SINGULAR or NO_ROOM."""
    basis, left = Basis.at(own.basis), MOST
    weigh(basis, own)
    while left > 0:
        status = factor(basis)
        if status != ALL:
            return status
        made = improve(min(left, RENEWED), basis, own)
        left -= made
        if made < RENEWED:
            left = 0
    return ALL


def weigh(basis: Basis, own: Search) -> None:
    """Write the entries in units of the unknowns, and of the largest in their row."""
    for i in range(basis.size):
        top = 0.0
        for p in range(basis.indptr[i], basis.indptr[i + 1]):
            basis.value[p] = own.given[own.source[p]] * own.unit[basis.indices[p]]
            top = max(top, abs(basis.value[p]))
        share = 1.0 / top if top > 0.0 else 1.0
        for p in range(basis.indptr[i], basis.indptr[i + 1]):
            basis.value[p] *= share


def improve(most: int, basis: Basis, own: Search) -> int:
    """Exchange columns while a large multiple is found; return how many exchanges were made."""
    measure(basis, own)
    trials = 0
    while trials < TRIALS and basis.count < most:
        first = longest(basis, own)
        if first == NONE:
            trials = TRIALS
        else:
            i, j = largest(first, basis)
            if abs(basis.column[i]) > own.large:
                shorten(i, basis, own)
                put(i, j, basis)
                own.fine[i] = 0
            else:
                own.fine[first] = 1
                trials += 1
    return basis.count


def measure(basis: Basis, own: Search) -> None:
    """Compute B times random directions."""
    n, wide = basis.size, basis.place.size
    for d in range(DRAWS):
        draw = view(own.draw, d * wide, wide)
        for i in range(n):
            total = 0.0
            for p in range(basis.indptr[i], basis.indptr[i + 1]):
                total += basis.value[p] * draw[basis.indices[p]]
            own.probe[i] = total
        solve(own.probe, view(own.length, d * n, n), basis)
    for i in range(n):
        own.fine[i] = 0


def longest(basis: Basis, own: Search) -> int:
    """Return the place whose row of B looks longest, NONE if no row looks long or lengths make no sense."""
    n, length, best, top = basis.size, own.length, NONE, own.large
    for i in range(n):
        if not own.fine[i]:
            for d in range(DRAWS):
                size = abs(length[d * n + i])
                if not size <= top:
                    best, top = i, size
                    if not size < 1e300:
                        return NONE
    return best


def largest(i: int, basis: Basis) -> tuple[int, int]:
    """Return place and column of an entry of B that is the largest of its row and column.

    That column is looked at last. Of columns that nearly depend on each other rows and columns of B are so
    inexact that they contradict each other; what is larger must be larger than all before, or looking for it
    would not end.
    """
    reached = 0.0
    while True:
        j = largest_of_row(i, basis)
        look_at(j, basis)
        d, k = basis.column, 0
        for c in range(basis.size):
            if abs(d[c]) > abs(d[k]):
                k = c
        reached = GAIN * max(abs(d[i]), reached)
        if not abs(d[k]) > reached:
            return i, j
        i, reached = k, abs(d[k])


def shorten(place: int, basis: Basis, own: Search) -> None:
    """Bring lengths to what they are when the column looked at is in this place."""
    n, d = basis.size, basis.column
    for k in range(DRAWS):
        length = view(own.length, k * n, n)
        share = length[place] / d[place]
        for i in range(n):
            length[i] -= share * d[i]
        length[place] += share


_program = Program(exchange)


class Exchanger:
    """Exchanges columns of matrices on one pattern; its memory and what the pattern tells are kept."""

    def __init__(self, matrix: csr_array, *, near: bool = True) -> None:
        """Look at the pattern.

        `near`: columns in many more rows than others of a row do not count in it: those are unknowns of an
        earlier level, and constraints of their own are meant for them.
        """
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        cost = np.bincount(matrix.indices, minlength=matrix.shape[1])[matrix.indices]
        least = np.full(matrix.shape[0], matrix.shape[0])
        np.minimum.at(least, rows, cost)
        here = np.flatnonzero(2 * cost <= 3 * least[rows]) if near else np.arange(matrix.nnz)
        self.basis = _basis(rows[here], matrix.indices[here], matrix.shape)
        self.factors = _factors(self.basis, 4 * len(here))
        (n, wide), entries = matrix.shape, {"given": matrix.nnz, "source": len(here)}
        self.search = Search(**entries, unit=wide, draw=DRAWS * wide, probe=n, length=DRAWS * n, fine=n)
        self.search.basis, self.search.source[:] = self.basis.address, here
        draws = np.random.default_rng(3).standard_normal((wide, DRAWS))
        self.search.draw[:] = draws.T.ravel()

    def exchanged(self, values: Array, chosen: Wholes, size: Array, large: float = LARGE) -> Wholes | None:
        """Return columns of which no other is a large multiple; None if those given are singular.

        Multiples are in units of the unknowns.
        """
        basis, search = self.basis, self.search
        if len(chosen) != basis.size:
            return None
        search.large, search.given[:], search.unit[:] = large, values, np.where(size > 0.0, size, 1.0)
        while True:
            basis.chosen[:] = chosen
            status = _program[exchange].call(search.address)
            if status != NO_ROOM:
                return basis.chosen.copy() if status == ALL else None
            self.factors = _factors(basis, 4 * self.factors.lower.size)


def exchanged(matrix: csr_array, chosen: Wholes, size: Array, large: float = LARGE) -> Wholes | None:
    """Return columns of a wide matrix of which no other is a large multiple; None if these are singular."""
    return Exchanger(matrix).exchanged(matrix.data, chosen, size, large)


def _basis(rows: Wholes, columns: Wholes, shape: tuple[int, int]) -> Basis:
    """Return a basis on these places, which are listed by rows."""
    n, wide = shape
    by_columns = np.argsort(columns, kind="stable")
    parts = {
        "indptr": np.searchsorted(rows, np.arange(n + 1)), "indices": columns, "entry": by_columns,
        "start": np.searchsorted(columns[by_columns], np.arange(wide + 1)), "row": rows[by_columns],
    }  # fmt: skip
    lengths = {name: len(part) for name, part in parts.items()} | {"value": len(rows), "place": wide}
    lengths |= dict.fromkeys(("chosen", "right", "found", "column"), n)
    made = Basis(**lengths, exchanged=RENEWED, share=RENEWED, brought=RENEWED * n, triangle=RENEWED * RENEWED)
    for name, part in parts.items():
        getattr(made, name)[:] = part
    made.size = n
    return made


def _factors(basis: Basis, room: int) -> Elimination:
    """Return memory for the factors of selected columns, pivots by size alone, and tell the basis of it."""
    n = basis.size
    by_column = dict.fromkeys(("cost", "size", "waiting", "place", "seen", "left", "found"), n)
    by_place = dict.fromkeys(("order", "block", "partner", "stack", "next", "path", "pivot", "diagonal"), n)
    by_place |= {"negligible": n}
    starts = dict.fromkeys(("indptr", "lower_start", "upper_start"), n + 1)
    entries = dict.fromkeys(("indices", "values"), basis.value.size)
    rooms = dict.fromkeys(("lower", "lower_value", "upper", "upper_value"), room)
    made = Elimination(**by_column, **by_place, **starts, **entries, **rooms)
    made.rows, made.threshold, made.order[:], made.waiting[:] = n, 1.0, np.arange(n), NEVER
    made.partner[:] = NONE
    basis.factors = made.address
    return made
