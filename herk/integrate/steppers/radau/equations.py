"""The equations at a point: E y' - f, g, their derivatives, and y' itself.

Code of a model where there is one, otherwise the user's functions and differences with scaled increments.
"""

from __future__ import annotations

from herk.integrate.steppers.radau.groups import Groups
from herk.integrate.steppers.radau.layout import Radau, function_at, jacobian_at, residual_at
from herk.integrate.steppers.radau.on_patterns import (
    derivative_on_patterns,
    masses_times,
    put_derivatives,
    put_masses,
)
from herk.integrate.steps import INFINITE
from herk.jit.state import Floats, view
from herk.linalg.differences import time_step
from herk.linalg.stacked import solve_stacked

INCREMENT = 1.5e-8  # relative, of differences
NEAR_ZERO = 1e-3  # of the size below which an unknown does not matter


def evaluate_here(t: float, own: Radau) -> None:
    """Evaluate f, and E where it is a function, at the current point."""
    function_at(own.at_f)(t, own.y, own.parameters, own.f)
    own.nfev += 1
    if own.have_e:
        function_at(own.at_e)(t, own.y, own.parameters, own.e_here)


def everything(t: float, y: Floats, rate: Floats, own: Radau) -> None:
    """Write E(t, y) rate - f(t, y), all rows, and g(t, y) behind it, into `full`."""
    implicit(t, y, rate, own.full, own)
    if own.general:
        constraints(t, y, view(own.full, own.n, own.m), own)
    elif own.m > 0:
        own.ngev += 1


def implicit(t: float, y: Floats, rate: Floats, out: Floats, own: Radau) -> None:
    """Write E(t, y) rate - f(t, y), all rows; code of a model writes g(t, y) behind it."""
    own.nfev += 1
    if not own.general:
        residual_at(own.at_residual)(t, y, rate, own.parameters, out)
        return
    function_at(own.at_f)(t, y, own.parameters, view(out, 0, own.n))
    if own.have_e:
        function_at(own.at_e)(t, y, own.parameters, view(own.stacked, 0, own.e_here.size))
        subtract(own.stacked, rate, out, own)
    else:
        subtract(own.e_here, rate, out, own)


def subtract(e: Floats, rate: Floats, out: Floats, own: Radau) -> None:
    """Write E rate - out into out."""
    n = own.n
    for i in range(n if own.sparse else 0):
        out[i] = masses_times(i, rate, e, own) - out[i]
    for i in range(0 if own.sparse else n):
        total = -out[i]
        for j in range(n):
            total += e[i * n + j] * rate[j]
        out[i] = total


def constraints(t: float, y: Floats, out: Floats, own: Radau) -> None:
    """Write g(t, y)."""
    if own.m > 0:
        function_at(own.at_g)(t, y, own.parameters, out)
        own.ngev += 1


def linearise(t: float, own: Radau) -> None:
    """Evaluate the derivatives of E y' - f and of g at the current point, y' being its slope.

    Those of g are not needed where they will be taken at a point ahead.
    """
    own.njev += 1
    if own.sparse:
        put_masses(own)
        if own.at_jac_f:
            put_derivatives(t, own)
        else:
            differences_in_groups(0, t, own.y, own.full, own.moved, own.jacobian, own)
    elif own.general:
        differences(t, own)
    else:
        jacobian_at(own.at_jacobian)(t, own.y, own.slope, 0.0, own.parameters, own.whole)
    if own.have_jacobian and own.m > 0 and not own.ahead:
        function_at(own.at_jac_g)(t, own.y, own.parameters, own.g_y)
    elif own.sparse and not own.ahead:
        constraint_jacobian(t, own.y, own)


def differences(t: float, own: Radau) -> None:
    """Replace derivatives by forward differences; backward ones where the equations end."""
    n, y, floor = own.n, own.y, own.floor
    implicit(t, y, own.slope, own.full, own)
    if not own.have_jacobian and not own.ahead:
        constraints(t, y, own.g, own)
    for j in range(n):
        kept = y[j]
        size = INCREMENT * (abs(kept) + floor[j])
        if not column(t, j, size if own.slope[j] * own.h >= 0.0 else -size, own):
            y[j] = kept
            column(t, j, -size if own.slope[j] * own.h >= 0.0 else size, own)
        y[j] = kept


def column(t: float, j: int, size: float, own: Radau) -> bool:
    """Write one column of differences; tell whether it is finite. The component stays moved."""
    n, m, y, whole, g_y = own.n, own.m, own.y, own.whole, own.g_y
    kept = y[j]
    y[j] = kept + size
    increment, total = y[j] - kept, 0.0
    implicit(t, y, own.slope, own.moved, own)
    for i in range(n):
        whole[i * n + j] = (own.moved[i] - own.full[i]) / increment
        total += 0.0 * whole[i * n + j]
    if not own.have_jacobian and not own.ahead:
        column_of_g(t, j, kept, y, own)
        for i in range(m):
            total += 0.0 * g_y[i * n + j]
    return total == 0.0


def column_of_g(t: float, j: int, kept: float, y: Floats, own: Radau) -> None:
    """Write a column of g_y, where y[j] has been moved from where it was kept.

    By a central difference near zero: half the second derivative times the increment would be all there is
    of y**2, and taken for an entry.
    """
    n, m, g_y, increment = own.n, own.m, own.g_y, y[j] - kept
    constraints(t, y, own.g_moved, own)
    for i in range(m):
        g_y[i * n + j] = (own.g_moved[i] - own.g[i]) / increment
    if abs(kept) <= NEAR_ZERO * own.floor[j]:
        y[j] = kept - increment
        constraints(t, y, own.g_moved, own)
        for i in range(m):
            other = (own.g[i] - own.g_moved[i]) / (kept - y[j])
            if abs(other) < INFINITE:
                g_y[i * n + j] = 0.5 * (g_y[i * n + j] + other)
        y[j] = kept + increment


def constraint_jacobian(t: float, y: Floats, own: Radau) -> None:
    """Evaluate g_y alone at a point."""
    n, m, g_y = own.n, own.m, own.g_y
    if m == 0:
        return
    if own.have_jacobian:
        function_at(own.at_jac_g)(t, y, own.parameters, g_y)
        return
    if own.sparse:
        differences_in_groups(1, t, y, own.g, own.g_moved, g_y, own)
        return
    constraints(t, y, own.g, own)
    for j in range(n):
        kept = y[j]
        y[j] = kept + INCREMENT * (abs(kept) + own.floor[j])
        column_of_g(t, j, kept, y, own)
        y[j] = kept


def differences_in_groups(
    of_g: int, t: float, y: Floats, base: Floats, moved: Floats, out: Floats, own: Radau
) -> None:
    """Write g_y, or (E y' - f)_y, on its pattern: one difference for all columns of a group.

    Columns that leave the domain of the functions go the other way, and each by itself if that is no help.
    """
    by = Groups.at(own.of_constraints if of_g else own.of_equations)
    values_of(of_g, t, y, base, own)
    for j in range(own.n):
        by.kept[j] = y[j]
    for k in range(by.count):
        first, last = by.start[k], by.start[k + 1]
        if moved_together(first, last, 1.0, of_g, t, y, base, moved, out, by, own):
            continue
        if moved_together(first, last, -1.0, of_g, t, y, base, moved, out, by, own):
            continue
        while first < last:
            after = first + 1
            while after < last and by.column[after] == by.column[first]:
                after += 1
            if not moved_together(first, after, 1.0, of_g, t, y, base, moved, out, by, own):
                moved_together(first, after, -1.0, of_g, t, y, base, moved, out, by, own)
            first = after


def values_of(of_g: int, t: float, y: Floats, out: Floats, own: Radau) -> None:
    """Write g, or E y' - f."""
    if of_g:
        constraints(t, y, out, own)
    else:
        implicit(t, y, own.slope, out, own)


def moved_together(
    first: int,
    last: int,
    way: float,
    of_g: int,
    t: float,
    y: Floats,
    base: Floats,
    moved: Floats,
    out: Floats,
    by: Groups,
    own: Radau,
) -> bool:
    """Write differences for some entries, whose columns do not meet; tell whether all are finite.

    On the second way, and column by column, only what was not finite is written.
    """
    total = 0.0
    for p in range(first, last):
        j = by.column[p]
        size = way * INCREMENT * (abs(by.kept[j]) + own.floor[j])
        y[j] = by.kept[j] + (size if own.slope[j] * own.h >= 0.0 else -size)
    values_of(of_g, t, y, moved, own)
    for p in range(first, last):
        i, j, q = by.row[p], by.column[p], by.place[p]
        if way > 0.0 or not abs(out[q]) < INFINITE:
            out[q] = (moved[i] - base[i]) / (y[j] - by.kept[j])
        total += 0.0 * out[q]
    for p in range(first, last):
        y[by.column[p]] = by.kept[by.column[p]]
    return total == 0.0


def derivative(t: float, own: Radau) -> bool:
    """Write y' at the current point, where E and f are known, into `slope`: [E; g_y] y' = [f; -g_t]."""
    n, m, a, b = own.n, own.m, own.stacked, own.right
    constraint_jacobian(t, own.y, own)
    time_derivative(t, view(b, n, m), own)
    if own.sparse:
        return derivative_on_patterns(own)
    for i in range(n * n):
        a[i] = own.e_here[i]
    for i in range(m * n):
        a[n * n + i] = own.g_y[i]
    for i in range(n):
        b[i] = own.f[i]
    for i in range(m):
        b[n + i] = -b[n + i]
    own.pivot = solve_stacked(a, n + m, n, b, own.tops)
    if not own.pivot > 0.0:
        return False
    total = 0.0
    for i in range(n):
        own.slope[i] = b[i]
        total += 0.0 * b[i]
    return total == 0.0


def time_derivative(t: float, out: Floats, own: Radau) -> None:
    """Write dg/dt at the current point, by a difference where it is not given."""
    if own.m == 0:
        return
    if own.have_g_t:
        function_at(own.at_g_t)(t, own.y, own.parameters, out)
        return
    step, short = time_step(t, own.t_size), 2.5e-3 * time_step(t, own.t_size)
    for attempt in range(3):  # central, one-sided where g ends, or the span
        low, high = (0.0 if attempt == 1 else -step), (0.0 if attempt == 2 else step)
        if t + low < own.t_low:
            low, high = 0.0, short
        elif t + high > own.t_high:
            low, high = -short, 0.0
        constraints(t + high, own.y, out, own)
        constraints(t + low, own.y, own.g_moved, own)
        total = 0.0
        for i in range(own.m):
            out[i] = (out[i] - own.g_moved[i]) / ((t + high) - (t + low))
            total += 0.0 * out[i]
        if total == 0.0:
            return
