"""Consistent systems of more equations than unknowns inside compiled code, such as that for y'."""

from __future__ import annotations

from herk.jit.stack import stack
from herk.jit.state import Floats

SWEEPS = 4
COPIED = 1024  # numbers of a system that is kept while it is solved, to be solved in another scaling


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
