"""Which rows of E y' = f are integrated beside the constraints: those that make [S E; g_y] regular.

Rows, not combinations: rank [E; g_y] = n, so n - m rows of E always complete those of g_y to a basis. They
are found by elimination with complete pivoting on rows and columns that are scaled first, so that units do
not decide: g_y before E, and in g_y multipliers before velocities before positions (`levels`). Rows in use
are kept until others are clearly better.
"""

from __future__ import annotations

from herk.integrate.steppers.radau.layout import Radau
from herk.jit.state import Floats, view

LOYALTY = 0.9  # part of the largest pivot that a row in use must have to stay
NO_PIVOT = 1e-13
IN_ANY_UNITS = 1e-7  # a pivot below this one may be small by the units of its unknown alone
CLEAR = 0.05  # an entry of this size, largest ones being 1, ties a constraint to an unknown
FADED = 0.1  # part that is left of the entries of a row of E with which it counts for less
SUSPECT = 0.2  # a rate of convergence that may be due to the selection
TINY = 1e-3  # part of the longest step that another one may have become by the selection
PATIENCE = 4  # a look at the selection costs as much as factors: not at every Jacobian


def select(own: Radau) -> bool:
    """Choose rows by E and g_y at the current point; False if they do not determine y'."""
    own.unseen += 1
    doubtful = own.always or own.careful or own.theta > SUSPECT or own.unseen >= PATIENCE
    if own.selected and (own.settled or not doubtful):
        return True
    own.unseen = 0
    grade(own)
    if not found(own.in_units > 0, own) and not found(own.in_units == 0, own):
        return False
    return enter(own)


def reconsider(failing: bool, own: Radau) -> None:
    """Choose rows by other sizes where steps keep failing, or have become tiny: units may have misled.

    A component of another unit may have long been the larger one when that on which a constraint was solved
    goes through zero; there steps become tiny, and solutions that part at this point cannot be told apart.
    """
    own.longest = max(own.longest, abs(own.h_old))
    tiny = own.settled == 0 and own.sparse == 0 and abs(own.h) < TINY * own.longest
    if tiny or (failing and own.in_units == 0):
        other_sizes(own)
        own.jacobian_valid, own.unseen, own.longest = 0, PATIENCE, abs(own.h)


def other_sizes(own: Radau) -> None:
    """Go over from largest entries to the sizes of the unknowns, or back."""
    own.in_units = 1 if own.in_units == 0 else 0


def found(in_units: bool, own: Radau) -> bool:
    """Eliminate all columns, scaled by largest entries or by the sizes of the unknowns.

    What is largest may be a matter of units. Sizes are not, as far as they are known, but change on the way.
    """
    n, m, a = own.n, own.m, own.stacked
    for i in range(m * n):
        a[i] = own.g_y[i]
    for i in range(n * n):
        a[m * n + i] = own.e_here[i]
    if in_units:
        for i in range((n + m) * n):
            a[i] *= own.scale[i % n]
    equilibrate(a, n + m, n, not in_units, own.tops)
    for i in range(n if own.have_e else 0):
        faded = fading(i, own)
        for j in range(n):
            a[(m + i) * n + j] *= faded
    for i in range(n + m):
        own.used[i] = 0
    for j in range(n):
        own.free[j] = 1
    for k in range(n):
        if not eliminate(k, IN_ANY_UNITS if own.in_units == 0 and not in_units else NO_PIVOT, own):
            return False
    return True


def equilibrate(a: Floats, rows: int, n: int, columns: bool, tops: Floats) -> None:
    """Scale rows by their largest entries; if asked for, columns, then rows again."""
    for j in range(n):
        tops[j] = 0.0
    for i in range(rows):
        in_units_of_largest(view(a, i * n, n), n)
        for j in range(n):
            tops[j] = max(tops[j], abs(a[i * n + j]))
    for j in range(n):
        tops[j] = tops[j] if tops[j] > 0.0 else 1.0
    for i in range(rows if columns else 0):
        for j in range(n):
            a[i * n + j] /= tops[j]
        in_units_of_largest(view(a, i * n, n), n)


def in_units_of_largest(row: Floats, n: int) -> None:
    """Divide a row by its largest entry, if that is not zero."""
    size = 0.0
    for j in range(n):
        size = max(size, abs(row[j]))
    size = size if size > 0.0 else 1.0
    for j in range(n):
        row[j] /= size


def eliminate(k: int, least: float, own: Radau) -> bool:
    """Find pivot k and eliminate its column from the rows left."""
    n, m, a, used, free = own.n, own.m, own.stacked, own.used, own.free
    place = constraint_pivot(least, own) if k < m else equation_pivot(least, own)
    if place < 0:
        return False
    row, pivot = place // n, place % n
    used[row] = 1
    free[pivot] = 0
    for i in range(n + m):
        if used[i] == 0 and a[i * n + pivot] != 0.0:
            multiplier = a[i * n + pivot] / a[row * n + pivot]
            for j in range(n):  # those of columns that are done are not looked at any more
                a[i * n + j] -= multiplier * a[row * n + j]
    return True


def constraint_pivot(least: float, own: Radau) -> int:
    """Return the place of the largest entry of the constraints among the shallowest unknowns they contain."""
    n, m, a, used, free, levels, level = own.n, own.m, own.stacked, own.used, own.free, own.level, 0
    while level <= n:
        best, place = (CLEAR if level < n else least), -1
        for i in range(m):
            if used[i] == 0:
                for j in range(n):  # size first: most entries are zero
                    if abs(a[i * n + j]) > best and free[j] and (level == n or levels[j] == level):
                        best = abs(a[i * n + j])
                        place = i * n + j
        if place >= 0:
            return place if best < 1e300 else -1
        level = deeper(level, own)
    return -1


def deeper(level: int, own: Radau) -> int:
    """Return the next level that unknowns have; n, beyond all of them, means any."""
    following = own.n if level < own.n else own.n + 1
    for j in range(own.n):
        if own.level[j] > level and own.level[j] < following:
            following = own.level[j]
    return following


def equation_pivot(least: float, own: Radau) -> int:
    """Return the place of the largest entry of E left, or one nearly as large in a row that is in use.

    Rows stand for unknowns of their own level: v' = .. is no equation for positions, although a constraint
    may make it one.
    """
    n, m, a, used, free, levels, chosen = own.n, own.m, own.stacked, own.used, own.free, own.level, own.chosen
    for own_level in range(2):
        best, place, kept, kept_place = (CLEAR if own_level == 0 else least), -1, 0.0, -1
        for i in range(n):
            if used[m + i] == 0:
                row_level = own.row_level[i]
                for j in range(n):
                    size = abs(a[(m + i) * n + j])  # first: most entries are zero
                    if size > 0.0 and free[j] and (own_level == 1 or row_level == levels[j]):
                        if size > best:
                            best, place = size, (m + i) * n + j
                        if chosen[i] and size > kept:
                            kept, kept_place = size, (m + i) * n + j
        if place >= 0:
            if not best < 1e300:
                return -1
            return kept_place if kept >= LOYALTY * best and not own.always else place
    return -1


def fading(i: int, own: Radau) -> float:
    """Return a factor below 1 for a row of E that has become small: it may be on its way through zero.

    Each entry beside its own largest value so far: those of a row have different units.
    """
    n, left, known = own.n, 0.0, False
    for j in range(i * n, i * n + n):
        own.peak[j] = max(own.peak[j], abs(own.e_here[j]))
        if own.peak[j] > 0.0:
            left, known = max(left, abs(own.e_here[j]) / own.peak[j]), True
    return min(1.0, left / FADED) if known else 1.0


def grade(own: Radau) -> None:
    """Write the level of the largest entry in each row of E."""
    n = own.n
    for i in range(n):
        best = 0.0
        own.row_level[i] = -1
        for j in range(n):
            if abs(own.e_here[i * n + j]) > best:
                best = abs(own.e_here[i * n + j])
                own.row_level[i] = own.level[j]


def enter(own: Radau) -> bool:
    """Put the rows found in force; they are kept in the order of the equations."""
    n, m, place, changed = own.n, own.m, 0, False
    for i in range(n):
        if own.used[m + i] != own.chosen[i]:
            changed = True
        own.chosen[i] = own.used[m + i]
        if own.used[m + i]:
            own.rows[place] = i
            place += 1
    if changed:
        own.sign = 0.0
        own.changes += own.selected
    own.selected = 1
    return place == own.d
