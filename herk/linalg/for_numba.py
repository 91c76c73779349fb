"""The dense linear algebra for code that numba compiles."""

from __future__ import annotations

from herk.jit.compiled import compiled
from herk.linalg import dense

factor, substitute, solve_block, solve_stacked = (
    compiled()(function)
    for function in (dense.factor, dense.substitute, dense.solve_block, dense.solve_stacked)
)
