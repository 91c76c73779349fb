"""Small dense linear algebra inside compiled code.

LU with row exchanges on flat arrays, and the stacked system for y'.

Stages reach linear algebra only through this module, so that banded and sparse factorisations can join here.
"""

from __future__ import annotations

from herk.jit.stack import stack
from herk.jit.state import Floats, Wholes

LEAST = 1e-250
SWEEPS = 4
COPIED = 1024  # numbers of a system that is kept while it is solved, to be solved in another scaling


def factor(a: Floats, start: int, k: int, order: Wholes) -> float:
    """Factor the k x k matrix stored by rows at a[start:] in place, row order in `order`.

    Return the smallest pivot, 0 if singular.
    """
    smallest = 1e300
    for i in range(k):
        order[i] = i
    for i in range(k):
        best = i
        size = abs(a[start + order[i] * k + i])
        for r in range(i + 1, k):
            other = abs(a[start + order[r] * k + i])
            if other > size:
                best = r
                size = other
        if not (size > 0.0 and size < 1e300):
            return 0.0
        order[i], order[best] = order[best], order[i]
        if size < smallest:
            smallest = size
        top = start + order[i] * k
        inverse = 1.0 / a[top + i]
        first, last = i + 1, k  # most rows of E are short
        while first < last and a[top + first] == 0.0:
            first += 1
        while first < last and a[top + last - 1] == 0.0:
            last -= 1
        for r in range(i + 1, k):
            row = start + order[r] * k
            if a[row + i] != 0.0:
                multiplier = a[row + i] * inverse
                a[row + i] = multiplier
                for c in range(first, last):
                    a[row + c] -= multiplier * a[top + c]
    return smallest


def substitute(a: Floats, start: int, k: int, order: Wholes, b: Floats, x: Floats, xstart: int) -> None:
    """Solve with the factors of `factor`.

    Right-hand side b[0:k], solution into x[xstart:xstart + k] (not the same memory as b).
    """
    for i in range(k):
        row = start + order[i] * k
        value = b[order[i]]
        for c in range(i):
            value -= a[row + c] * x[xstart + c]
        x[xstart + i] = value
    for i in range(k - 1, -1, -1):
        row = start + order[i] * k
        value = x[xstart + i]
        for c in range(i + 1, k):
            value -= a[row + c] * x[xstart + c]
        x[xstart + i] = value / a[row + i]


def solve_block(work: Floats, k: int) -> float:
    """Solve a k x k system in place.

    The matrix lies by rows in work[0 : k*k], the right-hand side, then the solution, in work[k*k : k*k + k],
    the units of the unknowns in work[k*k + k : k*k + 2*k], and k numbers more are used. Rows are moved by
    entries in these units, rows in units of their largest one: an entry that nearly vanishes may be the
    largest number. Returns the smallest pivot in these units, 0 if the matrix is singular.
    """
    smallest, rhs, unit, level = 1.0, k * k, k * k + k, k * k + 2 * k
    for r in range(k):
        size = 0.0
        for c in range(k):
            size = max(size, abs(work[r * k + c]) * work[unit + c])
        work[level + r] = 1.0 / size if size > 0.0 else 0.0
    for i in range(k):
        best = i
        size = abs(work[i * k + i]) * work[level + i]
        for r in range(i + 1, k):
            other = abs(work[r * k + i]) * work[level + r]
            if other > size:
                best = r
                size = other
        if not (size > 0.0 and size < 1e300):
            return 0.0
        smallest = min(smallest, size * work[unit + i])
        if best != i:
            for c in range(i, k):
                work[i * k + c], work[best * k + c] = work[best * k + c], work[i * k + c]
            work[rhs + i], work[rhs + best] = work[rhs + best], work[rhs + i]
            work[level + best] = work[level + i]
        inverse = 1.0 / work[i * k + i]
        for r in range(i + 1, k):
            if work[r * k + i] != 0.0:
                multiplier = work[r * k + i] * inverse
                for c in range(i + 1, k):
                    work[r * k + c] -= multiplier * work[i * k + c]
                work[rhs + r] -= multiplier * work[rhs + i]
    for i in range(k - 1, -1, -1):
        value = work[rhs + i]
        for c in range(i + 1, k):
            value -= work[i * k + c] * work[rhs + c]
        work[rhs + i] = value / work[i * k + i]
    return smallest


def solve_in_units(work: Floats, k: int) -> float:
    """Solve as `solve_block` does, in units of the unknowns, which stand in work[k*k + k : k*k + 2*k].

    Rows are in units of their largest entry: otherwise the rounding of a row in large units may be taken for
    a pivot. Returns the determinant in these units, 0 if the matrix is singular: unlike a pivot it changes
    smoothly.
    """
    if not in_units(work, k):
        return 0.0
    determinant, rhs = 1.0, k * k
    for i in range(k):
        best = i
        for r in range(i + 1, k):
            if abs(work[r * k + i]) > abs(work[best * k + i]):
                best = r
        if best != i:
            determinant = -determinant
            for c in range(i, k):
                work[i * k + c], work[best * k + c] = work[best * k + c], work[i * k + c]
            work[rhs + i], work[rhs + best] = work[rhs + best], work[rhs + i]
        pivot = work[i * k + i]
        if not (abs(pivot) > 0.0 and abs(pivot) < 1e300):
            return 0.0
        determinant = times(determinant, pivot)
        for r in range(i + 1, k):
            if work[r * k + i] != 0.0:
                multiplier = work[r * k + i] / pivot
                for c in range(i + 1, k):
                    work[r * k + c] -= multiplier * work[i * k + c]
                work[rhs + r] -= multiplier * work[rhs + i]
    for i in range(k - 1, -1, -1):
        value = work[rhs + i]
        for c in range(i + 1, k):
            value -= work[i * k + c] * work[rhs + c]
        work[rhs + i] = value / work[i * k + i]
    for i in range(k):
        work[rhs + i] *= work[rhs + k + i]
    return determinant


def times(determinant: float, pivot: float) -> float:
    """Return the product, which never vanishes because there are many factors."""
    if abs(determinant * pivot) > LEAST:
        return determinant * pivot
    return determinant if pivot > 0.0 else -determinant


def in_units(work: Floats, k: int) -> bool:
    """Write columns in units of the unknowns, rows in units of their largest entries; False if one is 0."""
    weight = k * k + k
    for r in range(k):
        size = 0.0
        for c in range(k):
            work[r * k + c] *= work[weight + c]
            size = max(size, abs(work[r * k + c]))
        if not (size > 0.0 and size < 1e300):
            return False
        for c in range(k):
            work[r * k + c] /= size
        work[k * k + r] /= size
    return True


def level_rows(a: Floats, k: int, unit: Floats, factors: Floats) -> None:
    """Multiply the rows of a k x k matrix so that each has the largest entry 1 in units of the unknowns.

    Row exchanges then depend neither on the units of the equations nor on those of the unknowns.
    """
    for r in range(k):
        size = 0.0
        for c in range(k):
            size = max(size, abs(a[r * k + c]) * unit[c])
        factor_of_row = 1.0 / size if size > 0.0 else 1.0
        factors[r] = factor_of_row
        for c in range(k):
            a[r * k + c] *= factor_of_row


def balance(a: Floats, rows: int, n: int, b: Floats, tops: Floats, means: bool) -> None:
    """Divide rows and columns in turn by the roots of their largest entries, until these are near 1.

    Or by the means of their extreme entries, at last by the largest: by largest entries alone a row like
    (1e-15, 1e5) hides that its first entry is large in its own unit.
    """
    for c in range(n):
        tops[c] = 1.0
    for sweep in range(SWEEPS):
        for r in range(rows):
            size = typical(a, r * n, 1, n, sweep == SWEEPS - 1, means)
            for c in range(n):
                a[r * n + c] /= size
            b[r] /= size
        for c in range(n):
            size = typical(a, c, n, rows, sweep == SWEEPS - 1, means)
            for r in range(rows):
                a[r * n + c] /= size
            tops[c] *= size


def typical(a: Floats, first: int, stride: int, count: int, last: bool, means: bool) -> float:
    """Return the root of the largest of these entries, or its geometric mean with the smallest not zero."""
    low, high = 0.0, 0.0
    for k in range(count):
        value = abs(a[first + k * stride])
        high = max(high, value)
        if value > 0.0 and (low == 0.0 or value < low):
            low = value
    if high == 0.0:
        return 1.0
    if last:
        return high
    return low**0.5 * high**0.5 if means else high**0.5  # type: ignore[no-any-return]


def solve_stacked(a: Floats, rows: int, n: int, b: Floats, tops: Floats) -> float:
    """Solve a consistent system of rows >= n equations (a by rows, b) in place, solution in b[0:n].

    Return the smallest pivot ratio.

    Rows and columns are scaled first, so that units do not decide about the pivots; `tops` is scratch (n).
    The rows left over are satisfied by consistency. 0 is returned if the matrix has not full column rank: in
    neither scaling, where a copy is small enough.
    """
    size = rows * n
    if size + rows > COPIED:
        return eliminated(a, rows, n, b, tops, False)
    kept = stack(1024)
    for i in range(size):
        kept[i] = a[i]
    for i in range(rows):
        kept[size + i] = b[i]
    found = eliminated(a, rows, n, b, tops, False)
    if found > 0.0:
        return found
    for i in range(size):
        a[i] = kept[i]
    for i in range(rows):
        b[i] = kept[size + i]
    return eliminated(a, rows, n, b, tops, True)


def eliminated(a: Floats, rows: int, n: int, b: Floats, tops: Floats, means: bool) -> float:
    """Solve the system, scaled by largest entries or by means of extreme ones; return the smallest pivot."""
    balance(a, rows, n, b, tops, means)
    smallest = 1.0
    for i in range(n):
        best = i
        size = abs(a[i * n + i])
        for r in range(i + 1, rows):
            other = abs(a[r * n + i])
            if other > size:
                best = r
                size = other
        if not (size > 1e-14 and size < 1e300):
            return 0.0
        smallest = min(smallest, size)
        if best != i:
            for c in range(i, n):
                a[i * n + c], a[best * n + c] = a[best * n + c], a[i * n + c]
            b[i], b[best] = b[best], b[i]
        for r in range(i + 1, rows):
            if a[r * n + i] != 0.0:
                multiplier = a[r * n + i] / a[i * n + i]
                for c in range(i + 1, n):
                    a[r * n + c] -= multiplier * a[i * n + c]
                b[r] -= multiplier * b[i]
    for i in range(n - 1, -1, -1):
        value = b[i]
        for c in range(i + 1, n):
            value -= a[i * n + c] * b[c]
        b[i] = value / a[i * n + i]
    for i in range(n):
        b[i] /= tops[i]
    return smallest
