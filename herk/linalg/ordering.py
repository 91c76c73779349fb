"""Orders of rows: a block triangular form, and one in which elimination brings few new entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herk.jit.state import Wholes

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def matched(matrix: csr_array) -> Wholes:
    """Return for each row a column of its own in which it has an entry; -1 where there is none."""
    from scipy.sparse.csgraph import maximum_bipartite_matching

    found: Wholes = maximum_bipartite_matching(matrix, perm_type="column").astype(np.int64)
    return found


def blocks(matrix: csr_array, columns: Wholes) -> Wholes:
    """Return the number of the block of each row of a square matrix, `columns` matched to its rows.

    In ascending order of blocks the matrix is block lower triangular: a row needs nothing but unknowns of its
    own block and of earlier ones (strong components of the graph, Duff & Reid).
    """
    from scipy.sparse.csgraph import connected_components

    graph = matrix[:, columns].tocoo()
    _, found = connected_components(graph, directed=True, connection="strong")
    labels: Wholes = found.astype(np.int64)
    here, there = labels[graph.row], labels[graph.col]
    if (here >= there).all():
        return labels
    turned: Wholes = labels.max() - labels
    return turned if (here <= there).all() else np.zeros_like(labels)


def least_fill(matrix: csr_array) -> Wholes:
    """Return the place of each row of a square matrix in an order of few new entries.

    Minimum degree on the graph of the matrix and its transpose, as SuperLU has it. Pivots are taken to be on
    the diagonal; the values do not matter.
    """
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import splu

    size = matrix.shape[0]
    ones = csc_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    both = ones + ones.T
    heavy = csc_array(both + (2.0 * both.sum(axis=0).max(initial=0.0) + 1.0) * eye_array(size, format="csc"))
    options = {"SymmetricMode": True}
    factors = splu(heavy, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    return np.asarray(factors.perm_c, dtype=np.int64)
