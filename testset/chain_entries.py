"""dg/dy of the hanging chain where it has entries: places by rows, and values in their order.

With links d_i = r_i - r_(i-1) the constraints of link i are d_i . d_i - l^2, 2 d_i . w_i, and
2 w_i . w_i + (2/m) d_i . (F_i - F_(i-1)), where F_i = 2 lam_(i+1) d_(i+1) - 2 lam_i d_i - m g e_2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herk.jit.compiled import compiled

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def places(N: int) -> csr_array:
    """Return ones where dg/dy may have entries."""
    from scipy.sparse import csr_array

    columns: list[list[int]] = []
    for level in range(3):
        for i in range(N):
            near = range(max(i - 1, 0), i + 1)
            far = range(max(i - 2, 0), min(i + 2, N)) if level == 2 else near
            row = [2 * q + k for q in far for k in range(2)]
            row += [2 * N + 2 * q + k for q in near for k in range(2)] if level else []
            row += [4 * N + q for q in range(max(i - 1, 0), min(i + 2, N))] if level == 2 else []
            columns.append(row)
    starts = np.cumsum([0, *map(len, columns)])
    indices = np.concatenate([np.array(row) for row in columns])
    return csr_array((np.ones(len(indices)), indices, starts), shape=(3 * N, 5 * N))


@compiled(_nrt=True)
def entries(y, m, g):  # type: ignore[no-untyped-def]
    """Return the values of dg/dy in the order of `places`."""
    N = y.size // 5
    out = np.empty(8 + 4 * (N - 1) + 8 * (N - 1) + 15 * N + 16)
    at = 0
    for i in range(N):
        for sign in range(1 if i else 2, 3):  # -1 for the bob above, then +1
            for k in range(2):
                d = y[2 * i + k] - (y[2 * i - 2 + k] if i else 0.0)
                out[at] = (2.0 if sign == 2 else -2.0) * d
                at += 1
    for i in range(N):
        for part in range(2):  # by positions, then by velocities
            start = 0 if part else 2 * N
            for sign in range(1 if i else 2, 3):
                for k in range(2):
                    a = y[start + 2 * i + k] - (y[start + 2 * i - 2 + k] if i else 0.0)
                    out[at] = (2.0 if sign == 2 else -2.0) * a
                    at += 1
    links, slopes = np.zeros((3, 2)), np.zeros((3, 2))
    for i in range(N):
        at = accelerations(y, m, g, N, i, links, slopes, out, at)
    return out[:at]


@compiled(_nrt=True)
def accelerations(y, m, g, N, i, x, slopes, out, at):  # type: ignore[no-untyped-def]
    """Write the row of the acceleration of link i; return where the next begins.

    x is scratch for the links i - 1, i, i + 1, `slopes` for the derivatives by them.
    """
    scale = 4.0 / m
    for j in range(max(i - 1, 0), min(i + 2, N)):
        for k in range(2):
            x[j - i + 1, k] = y[2 * j + k] - (y[2 * j - 2 + k] if j else 0.0)
    above = y[4 * N + i - 1] if i else 0.0
    own = -2.0 * y[4 * N + i] if i else -y[4 * N + i]
    below = y[4 * N + i + 1] if i < N - 1 else 0.0
    for k in range(2):
        pull = 2.0 * (above * x[0, k] + own * x[1, k] + below * x[2, k])
        if i == 0 and k == 1:
            pull -= m * g
        slopes[0, k] = scale * x[1, k] * above
        slopes[1, k] = 0.5 * scale * pull + scale * x[1, k] * own
        slopes[2, k] = scale * x[1, k] * below
    for q in range(max(i - 2, 0), min(i + 2, N)):
        for k in range(2):
            here = slopes[q - i + 1, k] if q > i - 2 else 0.0
            out[at] = here - (slopes[q - i + 2, k] if q < i + 1 else 0.0)
            at += 1
    for q in range(max(i - 1, 0), i + 1):
        for k in range(2):
            w = y[2 * N + 2 * i + k] - (y[2 * N + 2 * i - 2 + k] if i else 0.0)
            out[at] = 4.0 * w if q == i else -4.0 * w
            at += 1
    for q in range(max(i - 1, 0), min(i + 2, N)):
        share = x[1, 0] * x[q - i + 1, 0] + x[1, 1] * x[q - i + 1, 1]
        out[at] = scale * share * ((-2.0 if i else -1.0) if q == i else 1.0)
        at += 1
    return at
