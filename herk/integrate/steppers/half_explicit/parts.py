"""Algebraic components on patterns, part by part: simplified Newton, factors are kept or cheap.

Components whose derivative does not occur (forces, multipliers) are algebraic in every selection, and what
determines them does not come back to the others: these are solved for first, with factors of their own.
"""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.layout import EPS, HalfExplicit, function_at
from herk.integrate.steppers.half_explicit.newton import LOUD, MOST_ITERATIONS, STALLED, jacobian
from herk.jit.state import Floats, State, Wholes
from herk.linalg.sparse_lu import SparseLU, refactor, solve_sparse

CAUTION = 0.01  # a faster contraction is taken for luck; of many unknowns luck is not the rule


class Part(State):
    """Some constraints and the components they determine."""

    at_g: int  # the functions of these rows; they write where those of all rows do
    at_jac: int  # 0: differences of all rows
    at_square: int  # derivatives with respect to the components determined here, or all
    factors: int  # by address
    valid: int
    cheap: int  # factors cost less than the iterations that new ones save
    linear: int  # in its own components
    last: int  # every stage comes here: what is done is counted
    slow: float  # contraction above which the factors are renewed
    contraction: float
    first: int  # of its components among the algebraic ones, in the order of the selection
    count: int
    rows: Wholes


def solve_in_parts(t: float, y: Floats, tolerance: float, own: HalfExplicit) -> int:
    """Solve g = 0 for the algebraic components of a point; return the iterations, -1 on failure."""
    most = 0
    for k in range(own.parts.size):
        part = Part.at(own.parts[k])
        if not own.lu_valid:
            part.valid = 0
    own.lu_valid = 1
    for k in range(own.parts.size):
        iterations = solve_part(t, y, tolerance, Part.at(own.parts[k]), own)
        if iterations < 0:
            return -1
        most = max(most, iterations)
    return most


def solve_part(t: float, y: Floats, tolerance: float, part: Part, own: HalfExplicit) -> int:
    """Solve the constraints of one part, start values in place; return the iterations, -1 on failure."""
    g, counted = own.g, part.last
    fresh, last, rate, limit = False, 0.0, part.contraction, part.slow
    for iteration in range(MOST_ITERATIONS):
        function_at(part.at_g)(t, y, own.parameters, g)
        own.ngev += counted
        if part.valid and at_rounding(g, y, EPS, part, own):
            return iteration
        begun = iteration == 0 and part.cheap and not own.near
        slow = iteration > 0 and rate > limit and not fresh
        if not part.valid or begun or (own.full_newton and iteration > 0) or slow:
            if not renewed(t, y, part, own):
                return -1
            fresh, last, rate = True, 0.0, CAUTION
        solve_sparse(g, own.ydot, SparseLU.at(part.factors))
        size = corrected(y, part, own)
        own.nit += counted
        if not size < 1e300:
            return -1
        exact = fresh and part.linear and last == 0.0 and tolerance > own.tight
        if last > 0.0:
            rate = max(size / last, CAUTION)
            if rate > STALLED and at_rounding(g, y, LOUD, part, own):
                return iteration + 1
            if rate > 2.0 and fresh:
                return -1
            fresh = fresh and rate < limit
        # The error left is about size * rate / (1 - rate); a rate measured in another solve is not trusted.
        small = last > 0.0 and rate < 1.0 and size * rate / (1.0 - rate) <= tolerance
        if size <= tolerance or small or exact:
            part.contraction = rate
            return iteration + 1
        last = size
    return -1


def renewed(t: float, y: Floats, part: Part, own: HalfExplicit) -> bool:
    """Factor at a point, on places known; False if that is singular, or the order of pivots unfit.

    The pivot reported is the weakest of all parts beside its size when it was chosen; its sign is that of the
    determinant. How large rounding in g may be is known from whole rows, which are looked at once in a step.
    """
    whole = not part.valid or own.last_stage
    if part.at_jac == 0:
        jacobian(t, y, own)
        function_at(part.at_g)(t, y, own.parameters, own.g)  # differences use the same memory
    else:
        own.njev += part.last
        function_at(part.at_jac if whole else part.at_square)(t, y, own.parameters, own.jacobian)
    own.nlu += part.last
    part.valid = 1
    fit = refactor(own.jacobian, SparseLU.at(part.factors))
    sign, weakest = 1.0, 1e300
    for k in range(own.parts.size):
        other = Part.at(own.parts[k])
        if other.valid:
            factors = SparseLU.at(other.factors)
            sign *= factors.sign
            weakest = min(weakest, factors.weakest)
    own.pivot[0] = sign * weakest
    own.pivot[1] = sign * abs(own.pivot[1])  # see `margin`
    return fit


def corrected(y: Floats, part: Part, own: HalfExplicit) -> float:
    """Subtract Newton's correction; return its size beside the components."""
    begin, order, floor, d = own.differential + part.first, own.order, own.floor, own.ydot
    size = 0.0
    for c in range(part.count):
        j = order[begin + c]
        y[j] -= d[c]
        size = max(size, abs(d[c]) / (abs(y[j]) + floor[j]))
    return size


def at_rounding(residual: Floats, y: Floats, unit: float, part: Part, own: HalfExplicit) -> bool:
    """Tell whether every residual is as small as rounding in g allows: unit * sum |dg/dy_j| |y_j|."""
    for k in range(part.rows.size):
        i, noise = part.rows[k], 0.0
        for p in range(own.indptr[i], own.indptr[i + 1]):
            noise += abs(own.jacobian[p] * y[own.indices[p]])
        if not abs(residual[i]) <= unit * noise:
            return False
    return True
