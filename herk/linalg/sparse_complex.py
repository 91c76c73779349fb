"""Complex sparse LU on the places of real factors: the same order of pivots, complex values."""

from __future__ import annotations

from herk.jit.state import Floats, State
from herk.linalg.complex_dense import inverse
from herk.linalg.sparse_lu import UNSTABLE, SparseLU


class ComplexLU(State):
    """Values of complex factors; places and permutations are those of the real factors at `real`."""

    real: int
    other_re: Floats
    other_im: Floats
    lower_re: Floats
    lower_im: Floats
    upper_re: Floats
    upper_im: Floats
    inverse_re: Floats
    inverse_im: Floats
    work_re: Floats  # zero between calls
    work_im: Floats
    solution_re: Floats
    solution_im: Floats


def complex_like(real: SparseLU) -> ComplexLU:
    """Return room for complex factors beside real ones, which must stay where they are."""
    parts = {"other": real.other.size, "lower": real.lower.size, "upper": real.upper.size}
    parts |= dict.fromkeys(("inverse", "work", "solution"), real.size)
    sizes = {f"{name}_{part}": size for name, size in parts.items() for part in ("re", "im")}
    made = ComplexLU(**sizes)
    made.real = real.address
    return made


def refactor_complex(re: Floats, im: Floats, own: ComplexLU) -> bool:
    """Compute the factors of the matrix re + i im; False if it is singular, or the order of pivots unfit."""
    at, stable = SparseLU.at(own.real), True
    for p in range(at.other.size):
        own.other_re[p] = re[at.other_source[p]]
        own.other_im[p] = im[at.other_source[p]]
    for i in range(at.size):
        for p in range(at.entry_start[i], at.entry_start[i + 1]):
            own.work_re[at.entry[p]] = re[at.source[p]]
            own.work_im[at.entry[p]] = im[at.source[p]]
        for p in range(at.lower_start[i], at.lower_start[i + 1]):
            subtract_row(at.lower[p], p, at, own)
        a, b = own.work_re[i], own.work_im[i]
        own.work_re[i] = 0.0
        own.work_im[i] = 0.0
        rest = 0.0
        for q in range(at.upper_start[i], at.upper_start[i + 1]):
            j = at.upper[q]
            own.upper_re[q] = own.work_re[j]
            own.upper_im[q] = own.work_im[j]
            rest = max(rest, abs(own.work_re[j]) + abs(own.work_im[j]))
            own.work_re[j] = 0.0
            own.work_im[j] = 0.0
        size = abs(a) + abs(b)
        stable = stable and size > UNSTABLE * rest and size < 1e300
        own.inverse_re[i], own.inverse_im[i] = inverse(a, b)
    return stable


def subtract_row(j: int, p: int, at: SparseLU, own: ComplexLU) -> None:
    """Subtract a multiple of row j from the row in work, so that its pivot column vanishes."""
    work_re, work_im, upper, upper_re, upper_im = (
        own.work_re,
        own.work_im,
        at.upper,
        own.upper_re,
        own.upper_im,
    )
    a, b = work_re[j], work_im[j]
    work_re[j] = 0.0
    work_im[j] = 0.0
    x = a * own.inverse_re[j] - b * own.inverse_im[j]
    z = a * own.inverse_im[j] + b * own.inverse_re[j]
    own.lower_re[p] = x
    own.lower_im[p] = z
    for q in range(at.upper_start[j], at.upper_start[j + 1]):
        work_re[upper[q]] -= x * upper_re[q] - z * upper_im[q]
        work_im[upper[q]] -= x * upper_im[q] + z * upper_re[q]


def solve_complex(b: Floats, c: Floats, x: Floats, own: ComplexLU) -> None:
    """Solve with right-hand side b + i c; x gets the real parts, then the imaginary ones (other memory)."""
    at = SparseLU.at(own.real)
    n, z_re, z_im, last = at.size, own.solution_re, own.solution_im, 0
    for k in range(at.blocks):
        first = last
        last = at.block_start[k + 1]
        for i in range(first, last):
            u, v = b[at.row[i]], c[at.row[i]]
            for p in range(at.other_start[i], at.other_start[i + 1]):
                j = at.other[p]
                u -= own.other_re[p] * z_re[j] - own.other_im[p] * z_im[j]
                v -= own.other_re[p] * z_im[j] + own.other_im[p] * z_re[j]
            for p in range(at.lower_start[i], at.lower_start[i + 1]):
                j = at.lower[p]
                u -= own.lower_re[p] * z_re[j] - own.lower_im[p] * z_im[j]
                v -= own.lower_re[p] * z_im[j] + own.lower_im[p] * z_re[j]
            z_re[i] = u
            z_im[i] = v
        for i in range(last - 1, first - 1, -1):
            u, v = z_re[i], z_im[i]
            for q in range(at.upper_start[i], at.upper_start[i + 1]):
                j = at.upper[q]
                u -= own.upper_re[q] * z_re[j] - own.upper_im[q] * z_im[j]
                v -= own.upper_re[q] * z_im[j] + own.upper_im[q] * z_re[j]
            z_re[i] = own.inverse_re[i] * u - own.inverse_im[i] * v
            z_im[i] = own.inverse_re[i] * v + own.inverse_im[i] * u
            x[at.column[i]] = z_re[i]
            x[n + at.column[i]] = z_im[i]
