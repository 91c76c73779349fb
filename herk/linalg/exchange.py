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
from herk.jit.state import Wholes
from herk.linalg.superlu import factored

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array
    from scipy.sparse.linalg import SuperLU

LARGE = 2.5  # a multiple that is worth an exchange
MOST = 400  # exchanges at one point
RENEWED = 40  # exchanges after which A_S is factored anew
DRAWS = 8  # random directions that show which rows of B are long
TRIALS = 4  # long rows looked at that need have no large entry
GAIN = 1.1  # what a larger entry of the same column must bring to be looked at


class Basis:
    """Selected columns of a matrix, the factors of their first choice and the exchanges since.

    Exchange k puts a column that is d of those before in place i, and brings a row w = d - e_i. All of them
    together are one triangular system: T_kl = w_l at i_k for l < k, T_kk = d_k at i_k.
    """

    def __init__(self, matrix: csc_array, chosen: Wholes, factors: SuperLU) -> None:
        """Begin without exchanges."""
        self.matrix, self.turned, self.chosen, self.factors = matrix, matrix.T, chosen, factors
        self.count = 0
        self.places = np.zeros(RENEWED, dtype=np.int64)
        self.rows = np.zeros((RENEWED, len(chosen)))
        self.triangle = np.zeros((RENEWED, RENEWED), order="F")

    def solve(self, right: Array) -> Array:
        """Return A_S^-1 times some columns."""
        found = np.asarray(self.factors.solve(right))
        if k := self.count:
            found = np.asarray(found - self.rows[:k].T @ self._shares(found[self.places[:k]], turned=False))
        return found

    def row(self, i: int) -> Array:
        """Return row i of A_S^-1 A."""
        x = np.zeros(len(self.chosen))
        x[i] = 1.0
        if k := self.count:
            np.subtract.at(x, self.places[:k], self._shares(self.rows[:k, i], turned=True))
        return np.asarray(self.turned @ self.factors.solve(x, trans="T"))

    def column(self, j: int) -> Array:
        """Return column j of A_S^-1 A."""
        entries = slice(*self.matrix.indptr[j : j + 2])
        right = np.zeros(len(self.chosen))
        right[self.matrix.indices[entries]] = self.matrix.data[entries]
        return self.solve(right)

    def exchange(self, i: int, j: int, d: Array) -> Array:
        """Put column j, which is d of the columns selected, in place i; return w."""
        k = self.count
        w: Array = self.rows[k]
        w[:] = d
        w[i] -= 1.0
        self.triangle[k, :k] = self.rows[:k, i]
        self.triangle[k, k] = d[i]
        self.places[k], self.chosen[i], self.count = i, j, k + 1
        return w

    def _shares(self, right: Array, *, turned: bool) -> Array:
        from scipy.linalg.blas import dtrsm

        many = right.reshape(len(right), -1)
        shares = dtrsm(1.0, self.triangle[: self.count, : self.count], many, lower=1, trans_a=int(turned))
        return np.asarray(shares).reshape(right.shape)


def exchanged(matrix: csr_array, chosen: Wholes, size: Array, large: float = LARGE) -> Wholes | None:
    """Return columns of a wide matrix of which no other is a large multiple; None if these are singular.

    Multiples are in units of the unknowns. Columns in many more rows than others of a row do not count in it:
    those are unknowns of an earlier level, and constraints of their own are meant for them.
    """
    from scipy.sparse import csc_array, diags_array

    if not len(chosen):
        return chosen
    home = _home(matrix) @ diags_array(np.where(size > 0.0, size, 1.0))
    tops = np.asarray(abs(home).max(axis=1).todense()).ravel()
    scaled = csc_array(diags_array(1.0 / np.where(tops > 0.0, tops, 1.0)) @ home)
    probes = scaled @ np.random.default_rng(3).standard_normal((matrix.shape[1], DRAWS))
    chosen, left = chosen.copy(), MOST
    while True:
        basis = _factored(scaled, chosen)
        if basis is None:
            return None
        made = _improve(basis, probes, min(left, RENEWED), large)
        left -= made
        if made < RENEWED or left <= 0:
            return basis.chosen


def _home(matrix: csr_array) -> csr_array:
    """Return a matrix without entries in columns that occur in many more rows than others of the same row."""
    from scipy.sparse import csr_array

    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    cost = np.bincount(matrix.indices, minlength=matrix.shape[1])[matrix.indices]
    least = np.full(matrix.shape[0], matrix.shape[0])
    np.minimum.at(least, rows, cost)
    near = 2 * cost <= 3 * least[rows]
    return csr_array((matrix.data[near], (rows[near], matrix.indices[near])), shape=matrix.shape)


def _factored(matrix: csc_array, chosen: Wholes) -> Basis | None:
    try:
        return Basis(matrix, chosen, factored(matrix[:, chosen]))
    except RuntimeError:  # exactly singular
        return None


def _improve(basis: Basis, probes: Array, most: int, large: float) -> int:
    """Exchange columns while a large multiple is found; return how many exchanges were made."""
    length = np.ascontiguousarray(basis.solve(probes).T)
    fine = np.zeros(len(basis.chosen), dtype=bool)
    trials = 0
    while trials < TRIALS and basis.count < most:
        long = np.where(fine, 0.0, np.abs(length).max(axis=0))
        first = int(np.argmax(long))
        if not long[first] > large:
            break
        i, j, d = _largest(basis, first)
        if abs(d[i]) > large:
            share = length[:, i] / d[i]
            length -= np.multiply.outer(share, basis.exchange(i, j, d))
            fine[i] = False
        else:
            fine[first] = True
            trials += 1
    return basis.count


def _largest(basis: Basis, i: int) -> tuple[int, int, Array]:
    """Return an entry of B that is the largest of its row and column, and that column.

    Of columns that nearly depend on each other rows and columns of B are so inexact that they contradict each
    other; what is larger must be larger than all before, or looking for it would not end.
    """
    reached = 0.0
    while True:
        row = np.abs(basis.row(i))
        row[basis.chosen] = 0.0
        j = int(np.argmax(row))
        d = basis.column(j)
        k = int(np.argmax(np.abs(d)))
        reached = GAIN * max(abs(d[i]), reached)
        if not abs(d[k]) > reached:
            return i, j, d
        i, reached = k, abs(d[k])
