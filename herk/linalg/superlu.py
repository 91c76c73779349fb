"""SuperLU behind one door: it is not asked about matrices on which it writes outside its memory.

A matrix without a pivot for every row makes SciPy's splu call BLAS with negative sizes, and later crash; one
that is singular by its values ends with RuntimeError, as it should.
"""

from __future__ import annotations

from typing import Any

from herk.linalg.matching import has_columns


def factored(matrix: Any, **how: Any) -> Any:
    """Return the factors of a square sparse matrix; RuntimeError if it is singular by pattern or values."""
    from scipy.sparse.linalg import splu

    if not has_columns(matrix.tocsr()):
        raise RuntimeError("Some rows have no pivot of their own.")
    return splu(matrix.tocsc(), **how)
