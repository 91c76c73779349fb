"""Single rows of E and g_y, in full or on patterns."""

from __future__ import annotations

from herk.integrate.steppers.radau.layout import Radau
from herk.integrate.steppers.radau.on_patterns import masses_times
from herk.jit.state import Floats


def mass_times(i: int, x: Floats, own: Radau) -> float:
    """Return row i of E at the current point times x."""
    if own.sparse:
        return masses_times(i, x, own.e_here, own)
    n, total = own.n, 0.0
    for j in range(n):
        total += own.e_here[i * n + j] * x[j]
    return total


def first_entry(own: Radau) -> int:
    """Return where g_y begins in the Jacobian of a step."""
    return own.first_g if own.sparse else own.d * own.n


def row_start(k: int, own: Radau) -> int:
    """Return where row k of g_y begins."""
    return own.start[own.n + k] - own.first_g if own.sparse else k * own.n


def column_of(p: int, k: int, own: Radau) -> int:
    """Return the column of entry p of g_y, which is in row k."""
    return own.column[own.first_g + p] if own.sparse else p - k * own.n


def terms(k: int, a: Floats, first: int, x: Floats, own: Radau) -> float:
    """Return sum |a_kj x_j|, a being g_y, whose entries begin at `first`."""
    total = 0.0
    for p in range(row_start(k, own), row_start(k + 1, own)):
        total += abs(a[first + p] * x[column_of(p, k, own)])
    return total
