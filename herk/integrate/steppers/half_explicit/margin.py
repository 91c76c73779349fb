"""How far constraints on patterns are from singular, with the sign of their determinant."""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.layout import HalfExplicit
from herk.integrate.steppers.half_explicit.parts import Part, renewed
from herk.jit.state import Floats
from herk.linalg.sparse_lu import SparseLU, solve_sparse

GOLDEN = 0.618033988749895  # multiples are spread evenly, whatever the order of rows


def margin(t: float, y: Floats, own: HalfExplicit) -> float:
    """Return 1 / max |x| with the sign of the determinant, x solving A x = b for a b that is nothing special.

    A are the selected columns of dg/dy at a point, in units of the unknowns and, by rows, of the largest
    entry when they were selected. It vanishes with the determinant and is as smooth there (a test function
    of bifurcations), but no product of too many factors. 0: A is singular.
    """
    sign, largest = 1.0, 1e-300
    for k in range(own.parts.size):
        part = Part.at(own.parts[k])
        part.valid = 0  # the rows are wanted whole
        if not renewed(t, y, part, own):
            return 0.0
        if not own.marked:
            mark(part, own)
        factors = SparseLU.at(part.factors)
        sign *= factors.sign
        largest = max(largest, response(part, own))
    own.marked = 1
    return sign / largest


def mark(part: Part, own: HalfExplicit) -> None:
    """Note the units of unknowns and rows."""
    flags, order, weight, begin = own.flags, own.order, own.weight, own.differential + part.first
    for j in range(own.n):
        flags[j] = 0
        weight[j] = own.size[j] + own.floor[j]
    for c in range(part.count):
        flags[order[begin + c]] = 1
    for k in range(part.rows.size):
        i, top = part.rows[k], 0.0
        for p in range(own.indptr[i], own.indptr[i + 1]):
            if flags[own.indices[p]]:
                top = max(top, abs(own.jacobian[p]) * weight[own.indices[p]])
        own.heaviest[i] = top


def response(part: Part, own: HalfExplicit) -> float:
    """Return the largest component of the solution."""
    b, x, share, begin, largest = own.g, own.ydot, 0.0, own.differential + part.first, 0.0
    for k in range(part.rows.size):
        share = share + GOLDEN if share + GOLDEN < 1.0 else share + GOLDEN - 1.0
        b[part.rows[k]] = (0.5 + share) * own.heaviest[part.rows[k]]
    solve_sparse(b, x, SparseLU.at(part.factors))
    for c in range(part.count):
        largest = max(largest, abs(x[c]) / own.weight[own.order[begin + c]])
    return largest
