"""Complex LU with row exchanges inside compiled code: real and imaginary parts in arrays of their own."""

from __future__ import annotations

from herk.jit.inline import inline
from herk.jit.state import Floats, Wholes, view


def factor_complex(re: Floats, im: Floats, k: int, order: Wholes) -> float:
    """Factor the k x k matrix re + i im, stored by rows, in place; rows are moved, their order in `order`.

    Rows are exchanged for the largest |re| + |im|, which costs no roots. Return the smallest of these, 0 if
    the matrix is singular. The diagonal of the factors holds the inverse pivots.
    """
    if k == 2:
        return factored(re, im, 2, order)
    if k == 3:
        return factored(re, im, 3, order)
    if k == 4:
        return factored(re, im, 4, order)
    return factored(re, im, k, order)


@inline
def factored(re: Floats, im: Floats, k: int, order: Wholes) -> float:
    """Factor the matrix."""
    smallest = 1e300
    for i in range(k):
        order[i] = i
    for i in range(k):
        best, size = i, abs(re[i * k + i]) + abs(im[i * k + i])
        for r in range(i + 1, k):
            other = abs(re[r * k + i]) + abs(im[r * k + i])
            if other > size:
                best, size = r, other
        if not (size > 0.0 and size < 1e300):
            return 0.0
        top = i * k
        if best != i:
            order[i], order[best] = order[best], order[i]
            swap(view(re, top, k), view(re, best * k, k), k)
            swap(view(im, top, k), view(im, best * k, k), k)
        smallest = min(smallest, size)
        p, q = inverse(re[top + i], im[top + i])
        re[top + i] = p
        im[top + i] = q
        for r in range(i + 1, k):
            row = r * k
            a, b = re[row + i], im[row + i]
            if a != 0.0 or b != 0.0:
                x, z = a * p - b * q, a * q + b * p
                re[row + i] = x
                im[row + i] = z
                for c in range(i + 1, k):
                    re[row + c] -= x * re[top + c] - z * im[top + c]
                    im[row + c] -= x * im[top + c] + z * re[top + c]
    return smallest


def swap(x: Floats, y: Floats, k: int) -> None:
    """Exchange two rows."""
    for c in range(k):
        x[c], y[c] = y[c], x[c]


def inverse(a: float, b: float) -> tuple[float, float]:
    """Return 1 / (a + i b) by Smith's formula, which neither overflows nor underflows early."""
    if abs(a) >= abs(b):
        ratio = b / a
        part = 1.0 / (a + b * ratio)
        return part, -ratio * part
    ratio = a / b
    part = 1.0 / (a * ratio + b)
    return ratio * part, -part


def substitute_complex(
    re: Floats, im: Floats, k: int, order: Wholes, b: Floats, c: Floats, x: Floats
) -> None:
    """Solve with the factors of `factor_complex`.

    Right-hand side b + i c; x[0:k] gets the real, x[k:2k] the imaginary part (not the same memory). LLVM
    writes out the loops of sizes that it knows.
    """
    if k == 2:
        swept(re, im, 2, order, b, c, x)
    elif k == 3:
        swept(re, im, 3, order, b, c, x)
    elif k == 4:
        swept(re, im, 4, order, b, c, x)
    elif k == 5:
        swept(re, im, 5, order, b, c, x)
    else:
        swept(re, im, k, order, b, c, x)


@inline
def swept(re: Floats, im: Floats, k: int, order: Wholes, b: Floats, c: Floats, x: Floats) -> None:
    """Solve with both factors."""
    for i in range(k):
        row, u, v = i * k, b[order[i]], c[order[i]]
        for j in range(i):
            u -= re[row + j] * x[j] - im[row + j] * x[k + j]
            v -= re[row + j] * x[k + j] + im[row + j] * x[j]
        x[i] = u
        x[k + i] = v
    for i in range(k - 1, -1, -1):
        row, u, v = i * k, x[i], x[k + i]
        for j in range(k - 1, i, -1):  # what is known last comes last
            u -= re[row + j] * x[j] - im[row + j] * x[k + j]
            v -= re[row + j] * x[k + j] + im[row + j] * x[j]
        x[i] = re[row + i] * u - im[row + i] * v
        x[k + i] = re[row + i] * v + im[row + i] * u
