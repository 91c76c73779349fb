"""Small dense linear algebra inside compiled code.

LU with row exchanges on flat arrays.

Square systems only; consistent ones with more equations than unknowns are in `stacked`.
"""

from __future__ import annotations

from herk.jit.state import Floats, Wholes

LEAST = 1e-250


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

    The matrix lies by rows in work[0 : k*k], the right-hand side, then the solution, in work[k*k : k*k + k].
    Returns the smallest pivot with the sign of the determinant, 0 if the matrix is singular. Rows are moved,
    so nothing else is needed.
    """
    smallest, sign = 1e300, 1.0
    rhs = k * k
    for i in range(k):
        best = i
        size = abs(work[i * k + i])
        for r in range(i + 1, k):
            other = abs(work[r * k + i])
            if other > size:
                best = r
                size = other
        if not (size > 0.0 and size < 1e300):
            return 0.0
        if size < smallest:
            smallest = size
        if best != i:
            sign = -sign
            for c in range(i, k):
                work[i * k + c], work[best * k + c] = work[best * k + c], work[i * k + c]
            work[rhs + i], work[rhs + best] = work[rhs + best], work[rhs + i]
        if work[i * k + i] < 0.0:
            sign = -sign
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
    return sign * smallest


def solve_leveled(work: Floats, k: int) -> float:
    """Solve as `solve_block` does, rows moved by entries in units of the unknowns, work[k*k + k : k*k + 2*k].

    Rows are in units of their largest entry: one that nearly vanishes may be the largest number. The k
    numbers behind the units are used. Returns the smallest pivot in these units, 0 if the matrix is singular.
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
