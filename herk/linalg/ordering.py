"""Orders of rows: a block triangular form, and one in which elimination brings few new entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herk.jit.state import Wholes
from herk.linalg.assignment import assigned
from herk.linalg.graphs import by_rows, components
from herk.linalg.matching import matched

if TYPE_CHECKING:
    from scipy.sparse import csr_array


MOST_WEIGHED = 30_000  # rows up to which a largest product is looked for, which takes time as their square
CROWDED = 10  # times the mean: columns in so many rows do not decide about the order of rows
THRESHOLD = 0.1  # of the largest entry left in a row: what may be its pivot
FEW_EXCHANGES = 0.01  # the same where large entries are on the diagonal and rows and columns are balanced


def blocks(matrix: csr_array, columns: Wholes) -> Wholes:
    """Return the number of the block of each row of a square matrix, `columns` matched to its rows.

    In ascending order of blocks the matrix is block lower triangular: a row needs nothing but unknowns of its
    own block and of earlier ones (strong components of the graph, Duff & Reid).
    """
    place = np.empty(len(columns), dtype=np.int64)
    place[columns] = np.arange(len(columns))
    rows = np.repeat(np.arange(len(columns)), np.diff(matrix.indptr))
    return components(rows, place[matrix.indices], len(columns))


def heaviest(matrix: csr_array) -> Wholes | None:
    """Return for each row of a square matrix a column of its own such that the product of entries is large.

    None if there are no such columns. Of very many rows any entry will do.
    """
    from scipy.sparse import csr_array

    size, there = matrix.shape[0], matrix.data != 0.0
    rows, columns = np.repeat(np.arange(size), np.diff(matrix.indptr))[there], matrix.indices[there]
    sizes, tops = np.abs(matrix.data[there]), np.zeros(size)
    np.maximum.at(tops, columns, sizes)
    lengths = 1.0 + np.log(tops[columns] / sizes)
    graph = csr_array((lengths, (rows, columns)), shape=matrix.shape)
    found = matched(graph) if size > MOST_WEIGHED else assigned(graph)
    return None if (found < 0).any() else found


def pivots(matrix: csr_array) -> tuple[Wholes, Wholes] | None:
    """Return rows and columns of a square matrix in an order of few new entries; None: it is singular.

    Large entries come to the diagonal, then minimum degree; SuperLU exchanges columns where what is left of a
    diagonal entry is small in its row. Rows and columns should be in units of their largest entries.
    """
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    partner = heaviest(matrix)
    if partner is None:
        return None
    turned = csc_array(matrix[:, partner].T)
    try:
        factors = splu(
            turned,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=FEW_EXCHANGES,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # exactly singular
        return None
    rows, columns = np.argsort(factors.perm_c), partner[np.argsort(factors.perm_r)]
    return rows.astype(np.int64), columns.astype(np.int64)


def least_fill(matrix: csr_array) -> Wholes:
    """Return the place of each row of a square matrix in an order of few new entries.

    Minimum degree on the graph of the matrix and its transpose, as SuperLU has it. Pivots are taken to be on
    the diagonal; the values do not matter.
    """
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return least_fill_of(rows, matrix.indices, matrix.shape[0])


def least_fill_of(rows: Wholes, columns: Wholes, size: int) -> Wholes:
    """Do the same for a matrix with entries at these places."""
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    own = np.arange(size)
    one, other = np.concatenate([rows, columns, own]), np.concatenate([columns, rows, own])
    _, order = by_rows(one, other, size)
    one, other = one[order], other[order]
    first = (np.diff(one, prepend=-1) != 0) | (np.diff(other, prepend=-1) != 0)  # of those at one place
    one, other = one[first], other[first]
    counts = np.bincount(one, minlength=size)
    starts = np.concatenate([[0], np.cumsum(counts)])
    values = np.where(one == other, counts.max(initial=0) + 1.0, 1.0)  # nothing is exchanged
    heavy = csc_array((values, other, starts), shape=(size, size))
    options = {"SymmetricMode": True}
    factors = splu(heavy, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    return np.asarray(factors.perm_c, dtype=np.int64)


def order_of_rows(matrix: csr_array) -> Wholes:
    """Return the place of each row in an order in which rows that share columns bring few new entries."""
    from scipy.sparse import csr_array

    counts = np.bincount(matrix.indices, minlength=matrix.shape[1])
    few = counts <= CROWDED * max(counts.mean(), 1.0)
    ones = csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)[:, few]
    return least_fill(csr_array(ones @ ones.T))
