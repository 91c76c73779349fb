"""Selected columns of a wide matrix, their factors, and the exchanges of columns since these were made."""

from __future__ import annotations

from herk.jit.state import Floats, State, Wholes, view
from herk.linalg.elimination import ALL, NONE, Elimination, eliminate_rows

RENEWED = 40  # exchanges after which the selected columns are factored anew
SINGULAR = 2


class Basis(State):
    """A matrix A by rows and by columns, and those selected, A_S.

    Exchange k puts a column that is d of those before in place i, and brings a row w = d - e_i. All of them
    together are one triangular system: T_kl = w_l at i_k for l < k, T_kk = d_k at i_k.
    """

    size: int  # rows
    count: int  # exchanges
    factors: int  # of the columns selected at first, by address; rows in the order of the matrix
    indptr: Wholes
    indices: Wholes
    value: Floats
    start: Wholes  # of columns
    row: Wholes  # of the entries of columns
    entry: Wholes  # where these stand by rows
    chosen: Wholes
    place: Wholes  # of each column among those chosen
    exchanged: Wholes  # places
    brought: Floats  # rows w
    triangle: Floats
    share: Floats
    right: Floats  # by rows
    found: Floats  # by places
    column: Floats  # one column of A_S^-1 A


def factor(own: Basis) -> int:
    """Factor the selected columns as they are now; SINGULAR if a pivot vanishes, NO_ROOM: for lack of it."""
    made, at = Elimination.at(own.factors), 0
    own.count = 0
    for j in range(own.place.size):
        own.place[j] = NONE
    for k in range(own.size):
        own.place[own.chosen[k]] = k
        made.place[k] = NONE
        made.seen[k] = NONE
        made.left[k] = 0.0
    for i in range(own.size):
        made.indptr[i] = at
        for p in range(own.indptr[i], own.indptr[i + 1]):
            k = own.place[own.indices[p]]
            if k != NONE:
                made.indices[at] = k
                made.values[at] = own.value[p]
                at += 1
    made.indptr[own.size] = at
    status = eliminate_rows(made)
    for i in range(own.size):
        if status == ALL and made.pivot[i] == NONE:
            status = SINGULAR
    return status


def solve(right: Floats, found: Floats, own: Basis) -> None:
    """Write A_S^-1 times a vector, which is overwritten."""
    made, share, brought = Elimination.at(own.factors), own.share, own.brought
    for i in range(own.size):
        value = right[i]
        for p in range(made.lower_start[i], made.lower_start[i + 1]):
            value -= made.lower_value[p] * right[made.lower[p]]
        right[i] = value
    for i in range(own.size - 1, -1, -1):
        value = right[i]
        for q in range(made.upper_start[i], made.upper_start[i + 1]):
            value -= made.upper_value[q] * found[made.upper[q]]
        found[made.pivot[i]] = value / made.diagonal[i]
    for k in range(own.count):
        value = found[own.exchanged[k]]
        for before in range(k):
            value -= own.triangle[k * RENEWED + before] * share[before]
        share[k] = value / own.triangle[k * RENEWED + k]
    for k in range(own.count):
        w, value = view(brought, k * own.size, own.size), share[k]
        if value != 0.0:
            for i in range(own.size):
                found[i] -= value * w[i]


def inverse_row(place: int, own: Basis) -> None:
    """Write row `place` of A_S^-1 to `right`."""
    made, share, found, right = Elimination.at(own.factors), own.share, own.found, own.right
    for i in range(own.size):
        found[i] = 0.0
    found[place] = 1.0
    for k in range(own.count - 1, -1, -1):
        value = own.brought[k * own.size + place]
        for after in range(k + 1, own.count):
            value -= own.triangle[after * RENEWED + k] * share[after]
        share[k] = value / own.triangle[k * RENEWED + k]
        found[own.exchanged[k]] -= share[k]
    for i in range(own.size):
        value = found[made.pivot[i]] / made.diagonal[i]
        right[i] = value
        if value != 0.0:
            for q in range(made.upper_start[i], made.upper_start[i + 1]):
                found[made.upper[q]] -= made.upper_value[q] * value
    for i in range(own.size - 1, -1, -1):
        value = right[i]
        if value != 0.0:
            for p in range(made.lower_start[i], made.lower_start[i + 1]):
                right[made.lower[p]] -= made.lower_value[p] * value


def largest_of_row(place: int, own: Basis) -> int:
    """Return the column of the largest entry of row `place` of A_S^-1 A among those not selected."""
    inverse_row(place, own)
    best, top = 0, -1.0
    for j in range(own.place.size):
        total = 0.0
        if own.place[j] == NONE:
            for p in range(own.start[j], own.start[j + 1]):
                total += own.value[own.entry[p]] * own.right[own.row[p]]
        if not abs(total) <= top:
            best, top = j, abs(total)
            if not top < 1e300:
                return best
    return best


def look_at(j: int, own: Basis) -> None:
    """Write column j of A_S^-1 A to `column`."""
    for i in range(own.size):
        own.right[i] = 0.0
    for p in range(own.start[j], own.start[j + 1]):
        own.right[own.row[p]] = own.value[own.entry[p]]
    solve(own.right, own.column, own)


def put(place: int, j: int, own: Basis) -> None:
    """Put column j, the one looked at last, in the place of another."""
    k, d = own.count, own.column
    w = view(own.brought, k * own.size, own.size)
    for i in range(own.size):
        w[i] = d[i]
    w[place] -= 1.0
    for before in range(k):
        own.triangle[k * RENEWED + before] = own.brought[before * own.size + place]
    own.triangle[k * RENEWED + k] = d[place]
    own.exchanged[k] = place
    own.place[own.chosen[place]] = NONE
    own.place[j] = place
    own.chosen[place] = j
    own.count = k + 1
