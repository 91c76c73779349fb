"""The differentiated stage equations of one step: constraints eliminated, the rest as one linear system."""

from __future__ import annotations

from herk.integrate.steppers.radau.layout import Radau, function_at, jacobian_at, residual_at
from herk.integrate.steppers.radau.tangent_layout import Tangent
from herk.jit.state import Floats, view


def keep(values: Floats, out: Floats) -> None:
    """Copy S."""
    for c in range(out.size):
        out[c] = values[c]


def linearised(k: int, t: float, tangent: Tangent, own: Radau) -> bool:
    """Evaluate E, (E y' - f)_y and the constraints at a stage, and eliminate the latter."""
    n, m, d, many = own.n, own.m, own.d, tangent.many
    y, v = view(tangent.y, k * n, n), view(tangent.v, k * n, n)
    if own.have_e or k == 0:
        function_at(own.at_e)(t, y, own.parameters, view(tangent.e, k * n * n, n * n))
    else:
        keep(view(tangent.e, 0, n * n), view(tangent.e, k * n * n, n * n))
    jacobian_at(own.at_jacobian)(t, y, v, 0.0, own.parameters, view(tangent.r, k * n * n, n * n))
    residual_at(tangent.at_residual_p)(t, y, v, own.parameters, view(tangent.r_p, k * n * many, n * many))
    if m > 0:
        function_at(own.at_jac_g)(t, y, own.parameters, tangent.g_y)
        function_at(tangent.at_g_p)(t, y, own.parameters, tangent.g_p)
    shift = view(tangent.shift, k * n * many, n * many)
    if not null_space(view(tangent.basis, k * n * d, n * d), shift, tangent, own):
        return False
    for c in range(d):
        tangent.units[k * d + c] = own.scale[tangent.free[c]]
    return True


def null_space(basis: Floats, shift: Floats, tangent: Tangent, own: Radau) -> bool:
    """Write N and w: g_y N = 0, g_y w + g_p = 0, by elimination with complete pivoting.

    Entries are compared in the units of the unknowns, rows in units of their largest entries.
    """
    n, m, many, a, b = own.n, own.m, tangent.many, tangent.g_y, tangent.g_p
    pivots, level = tangent.pivots, tangent.level
    for j in range(n):
        tangent.column[j] = 0.0  # 1: solved for
    for r in range(m):
        size = 0.0
        for c in range(n):
            size = max(size, abs(a[r * n + c]) * own.scale[c])
        level[r] = 1.0 / size if size > 0.0 else 0.0
    for i in range(m):
        row, column, top = i, -1, 0.0
        for r in range(i, m):
            for c in range(n):
                size = abs(a[r * n + c]) * own.scale[c] * level[r]
                if tangent.column[c] == 0.0 and size > top:
                    row, column, top = r, c, size
        if column < 0:
            return False
        pivots[i] = column
        tangent.column[column] = 1.0
        exchange(a, i, row, n)
        exchange(b, i, row, many)
        exchange(level, i, row, 1)
        inverse = 1.0 / a[i * n + column]
        for r in range(m):
            factor_of = a[r * n + column] * inverse
            if r != i and factor_of != 0.0:
                for c in range(n):
                    a[r * n + c] -= factor_of * a[i * n + c]
                for q in range(many):
                    b[r * many + q] -= factor_of * b[i * many + q]
    put_null_space(basis, shift, tangent, own)
    return True


def put_null_space(basis: Floats, shift: Floats, tangent: Tangent, own: Radau) -> None:
    """Write N and w from what an elimination left behind: unknowns without pivots are free."""
    n, m, d, many, a, b = own.n, own.m, own.d, tangent.many, tangent.g_y, tangent.g_p
    pivots, free, count = tangent.pivots, tangent.free, 0
    for j in range(n):
        if tangent.column[j] == 0.0:
            free[count] = j
            count += 1
    for c in range(n * d):
        basis[c] = 0.0
    for c in range(n * many):
        shift[c] = 0.0
    for c in range(d):
        basis[free[c] * d + c] = 1.0
    for i in range(m):
        inverse = 1.0 / a[i * n + pivots[i]]
        for c in range(d):
            basis[pivots[i] * d + c] = -a[i * n + free[c]] * inverse
        for q in range(many):
            shift[pivots[i] * many + q] = -b[i * many + q] * inverse


def exchange(a: Floats, i: int, row: int, width: int) -> None:
    """Exchange two rows."""
    if i != row:
        for c in range(width):
            a[i * width + c], a[row * width + c] = a[row * width + c], a[i * width + c]


def assemble(tangent: Tangent, own: Radau) -> None:
    """Write the system for u of the stages, and its right-hand sides."""
    d = own.d
    for k in range(own.s):
        for row in range(d):
            for other in range(own.s):
                entries(k, row, other, tangent, own)
            right_side(k, row, tangent, own)


def entries(k: int, row: int, other: int, tangent: Tangent, own: Radau) -> None:
    """Write one row of one block: (A^-1)_ij / h E_i N_j, and (E y' - f)_y N_i on the diagonal."""
    n, d = own.n, own.d
    scale, first = own.inverse[own.s * k + other] / tangent.h, k * n * n + own.rows[row] * n
    matrix, basis = (
        view(tangent.matrix, ((k * d + row) * own.s + other) * d, d),
        view(tangent.basis, other * n * d, n * d),
    )
    for c in range(d):
        matrix[c] = 0.0
    for j in range(n):
        entry = scale * tangent.e[first + j]
        if k == other:
            entry += tangent.r[first + j]
        if entry != 0.0:
            for c in range(d):
                matrix[c] += entry * basis[j * d + c]


def right_side(k: int, row: int, tangent: Tangent, own: Radau) -> None:
    """Write minus what is left of one row with u = 0."""
    n, d, many, line = own.n, own.d, tangent.many, own.rows[row]
    right, first = view(tangent.right, (k * d + row) * many, many), k * n * n + line * n
    for q in range(many):
        right[q] = -tangent.r_p[(k * n + line) * many + q]
    for j in range(n):
        e, r = tangent.e[first + j], tangent.r[first + j]
        if r != 0.0:
            for q in range(many):
                right[q] -= r * tangent.shift[(k * n + j) * many + q]
        if e != 0.0:
            for other in range(own.s):
                scale = own.inverse[own.s * k + other] / tangent.h * e
                for q in range(many):
                    change = tangent.shift[(other * n + j) * many + q] - tangent.s[j * many + q]
                    right[q] -= scale * change
