"""The matrices of a large system in compiled steps: values on one pattern, that of [E, (E y' - f)_y; g_y].

Equation k of a step is row `place(k)` there: the selected rows of E y' = f, then the constraints. Orders of
pivots are found in Python, which is asked for them; so are other rows where those in use have become bad.
"""

from __future__ import annotations

from herk.integrate.steppers.radau.layout import (
    MADE,
    NONE_FOUND,
    NOTHING,
    OK,
    PIVOTS,
    SELECTION,
    SINGULAR,
    Radau,
    function_at,
    product_at,
)
from herk.integrate.steps import INFINITE, NEED_PYTHON
from herk.jit.state import Floats, view
from herk.linalg.sparse_complex import ComplexLU, refactor_complex, solve_complex
from herk.linalg.sparse_lu import SparseLU, copy_factors, refactor, solve_sparse

GOLDEN = 0.618033988749895  # multiples are spread evenly, whatever the order of rows
POWERS = 6  # of the Jacobian, for its fastest eigenvalue
FALLEN = 0.01  # the weakest pivot of [S E; g_y], beside its size when it was chosen, that asks for other rows


def place(k: int, own: Radau) -> int:
    """Return the row of equation k in the pattern."""
    return own.rows[k] if k < own.d else own.n + k - own.d


def masses_times(i: int, x: Floats, e: Floats, own: Radau) -> float:
    """Return row i of E times x."""
    total = 0.0
    for p in range(own.e_start[i], own.e_start[i + 1]):
        total += e[p] * x[own.e_column[p]]
    return total


def put_derivatives(t: float, own: Radau) -> None:
    """Write (E y' - f)_y at the current point into the whole, by the code of a model."""
    jacobian, part = own.jacobian, own.whole
    for p in range(own.first_g):
        jacobian[p] = 0.0
    function_at(own.at_jac_f)(t, own.y, own.parameters, part)
    for p in range(own.f_place.size):
        jacobian[own.f_place[p]] = -part[p]
    if own.have_e:
        product_at(own.at_jac_ey)(t, own.y, own.slope, own.parameters, part)
        for p in range(own.ey_place.size):
            jacobian[own.ey_place[p]] += part[p]


def put_masses(own: Radau) -> None:
    """Write E at the current point into the whole."""
    for p in range(own.e_place.size):
        own.mass[own.e_place[p]] = own.e_here[p]


def put_constraints(own: Radau) -> None:
    """Write g_y into the whole."""
    for p in range(own.g_y.size):
        own.jacobian[own.first_g + p] = own.g_y[p]


def measure(unit: Floats, own: Radau) -> None:
    """Take the sizes of the unknowns here for their units."""
    for j in range(own.n):
        unit[j] = abs(own.y[j]) + own.floor[j]


def in_units(a: Floats, unit: Floats, levels: Floats, own: Radau) -> None:
    """Write unknowns in these units, then equations in units of their largest entries; keep the factors."""
    for k in range(own.n):
        row, size = place(k, own), 0.0
        for p in range(own.start[row], own.start[row + 1]):
            a[p] *= unit[own.column[p]]
            size = max(size, abs(a[p]))
        levels[k] = 1.0 / size if size > 0.0 else 1.0
        for p in range(own.start[row], own.start[row + 1]):
            a[p] *= levels[k]


def factor_masses(g_y: Floats, levels: Floats, own: Radau) -> bool:
    """Factor [S E; g_y] in units, kept in `levels`; False if the order of pivots does not serve."""
    for p in range(own.first_g):
        own.stacked[p] = own.mass[p]
    for p in range(g_y.size):
        own.stacked[own.first_g + p] = g_y[p]
    measure(own.width, own)
    for j in range(own.n):  # an unknown that passes zero keeps its unit
        own.width[j] = max(own.width[j], own.reached[j])
    in_units(own.stacked, own.width, levels, own)
    return refactor(own.stacked, SparseLU.at(own.of_masses))


def solve_masses(b: Floats, x: Floats, own: Radau) -> None:
    """Solve with the factors of [S E; g_y], equations being in their units."""
    solve_sparse(b, x, SparseLU.at(own.of_masses))
    for j in range(own.n):
        x[j] *= own.width[j]


def volume(own: Radau) -> float:
    """Return how far [S E; g_y] is from singular, with the sign of its determinant; 0: it is singular.

    That is 1 / max |x|, x its solution for a right-hand side that is nothing special: as smooth as the
    determinant where this vanishes (a test function of bifurcations), and no product of too many factors.
    """
    if not factor_masses(own.g_y, own.right_1, own):
        return 0.0
    b, x, part, largest = own.tops, own.response, 0.0, 1e-300
    for k in range(own.n):
        part = part + GOLDEN if part + GOLDEN < 1.0 else part + GOLDEN - 1.0
        b[k] = 0.5 + part
    factors = SparseLU.at(own.of_masses)
    solve_sparse(b, x, factors)
    for j in range(own.n):
        largest = max(largest, abs(x[j]))
    return factors.sign / largest


def derivative_on_patterns(own: Radau) -> bool:
    """Write y' from [S E; g_y] y' = [S f; -g_t], g_t standing behind f in `right`."""
    n, d, total = own.n, own.d, 0.0
    put_masses(own)
    if not factor_masses(own.g_y, own.right_2, own):
        return False
    for k in range(n):
        own.right_1[k] = own.right_2[k] * (own.f[own.rows[k]] if k < d else -own.right[n + k - d])
    solve_masses(own.right_1, own.slope, own)
    for j in range(n):
        total += 0.0 * own.slope[j]
    own.pivot = SparseLU.at(own.of_masses).weakest
    return total == 0.0


def select_on_patterns(own: Radau) -> int:
    """Look at the rows in use; ask for others, once at a point, where they have become bad."""
    answer, own.answered = own.answered, 0
    if answer == NONE_FOUND:
        return SINGULAR
    fit = factor_masses(own.g_y, own.right_1, own)
    factors = SparseLU.at(own.of_masses)
    poor = not fit or (not own.settled and (factors.weakest < FALLEN or factors.sign * own.sign < 0.0))
    doubtful = own.always or own.in_units == 1
    if answer == MADE:
        return OK if fit else SINGULAR
    if poor or doubtful:
        own.asked = SELECTION
        own.njev -= 1  # all this is done again
        return NEED_PYTHON
    return OK


def factor_step(own: Radau) -> int:
    """Factor the real and the complex matrices of a step; ask for an order of pivots if there is none."""
    gamma = own.values[0] / own.h
    own.factors_valid, own.h_factors = 0, own.h
    for p in range(own.mass.size):
        own.lu[p] = gamma * own.mass[p] + own.jacobian[p]
    if own.of_step == 0:
        measure(own.unit, own)
    in_units(own.lu, own.unit, own.leveled, own)
    answer, own.answered = own.answered, 0
    fit = own.of_step != 0 and refactor(own.lu, SparseLU.at(own.of_step))
    if not fit:
        if answer != NOTHING:
            return SINGULAR
        own.asked = PIVOTS
        return NEED_PYTHON
    own.nlu += 1
    for i in range(own.s // 2):
        own.nlu += 1
        if not factor_pair(i, own):
            return SINGULAR
    own.stamp += 1
    SparseLU.at(own.of_step).stamp = own.stamp
    own.factors_valid = 1
    return OK


def factor_pair(i: int, own: Radau) -> bool:
    """Factor the complex matrix of a pair of eigenvalues."""
    alpha, beta = own.values[2 * i + 1] / own.h, own.values[2 * i + 2] / own.h
    re, im, mass, jacobian = own.re, own.im, own.mass, own.jacobian
    for k in range(own.n):
        row, level = place(k, own), own.leveled[k]
        for p in range(own.start[row], own.start[row + 1]):
            factor = level * own.unit[own.column[p]]
            re[p] = factor * (alpha * mass[p] + jacobian[p])
            im[p] = factor * beta * mass[p]
    return refactor_complex(re, im, ComplexLU.at(own.of_pairs[i]))


def factor_end(own: Radau) -> bool:
    """Factor the real matrix with g_y at the end of the step; the factors of the step stay as they are."""
    same = True
    for p in range(own.g_y.size):
        same = same and own.g_y[p] == own.jacobian[own.first_g + p]
    if same:  # linear constraints
        own.nlu -= 1
        copy_factors(SparseLU.at(own.of_step), SparseLU.at(own.of_end))
        return True
    for k in range(own.n):
        row, level = place(k, own), own.leveled[k]
        for p in range(own.start[row], own.start[row + 1]):
            value = own.jacobian[p] + own.values[0] / own.h_factors * own.mass[p]
            if k >= own.d:
                value = own.g_y[p - own.first_g]
            own.stacked[p] = level * own.unit[own.column[p]] * value
    return refactor(own.stacked, SparseLU.at(own.of_end))


def solve_in_units(b: Floats, x: Floats, factors: int, own: Radau) -> None:
    """Solve with real factors of the step, or of its end."""
    solve_sparse(b, x, SparseLU.at(factors))
    for j in range(own.n):
        x[j] *= own.unit[j]


def solve_pair(i: int, b: Floats, c: Floats, own: Radau) -> None:
    """Solve with complex factors; the solution is written to `pair`."""
    n = own.n
    solve_complex(b, c, own.pair, ComplexLU.at(own.of_pairs[i]))
    for j in range(n):
        own.pair[j] *= own.unit[j]
        own.pair[n + j] *= own.unit[j]


def fastest_on_patterns(own: Radau) -> float:
    """Return about the modulus of the fastest eigenvalue, by powers of the last Jacobian along g = 0."""
    n, v, right, found, before = own.n, own.moved, own.right_1, 0.0, 0.0
    if not factor_masses(view(own.jacobian, own.first_g, own.g_y.size), own.right_2, own):
        return INFINITE
    for j in range(n):
        v[j] = own.scale[j] * (1.0 if j % 2 == 0 else -0.7)
    for _ in range(POWERS):
        for k in range(n):
            right[k] = 0.0
        for k in range(own.d):
            row = own.rows[k]
            for p in range(own.start[row], own.start[row + 1]):
                right[k] -= own.right_2[k] * own.jacobian[p] * v[own.column[p]]
        solve_masses(right, own.delta, own)
        total = 0.0
        for j in range(n):
            total += (own.delta[j] * own.per[j]) ** 2
        before, found = found, (total / n) ** 0.5
        for j in range(n):
            v[j] = own.delta[j] / found if found > 0.0 else 0.0
    return max(found, before)
