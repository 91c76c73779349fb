"""The forms of a model as formulas: what each solver wants, derived from the chains of constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from herk.codegen.block_form import constraint_blocks
from herk.codegen.equations import Equations
from herk.codegen.gradient import gradient
from herk.codegen.numbers import exact, inserted
from herk.model.forms.chains import (
    Chain,
    chains,
    differential_rows,
    refuse,
    replaced,
    with_entries,
    zero_columns,
)
from herk.model.forms.variable_index import variable_index
from herk.model.index_reduction.regularize import Regularization
from herk.model.model import Model

# Beyond these the elimination is done in numbers: unknowns in a block (Cramer's rule), operations in all
# formulas.
LARGEST_BLOCK, LONGEST_FORMULAS = 3, 2000


@dataclass(frozen=True)
class Reduced:
    """A form: its equations, its index, the index of each unknown.

    And how its unknowns z relate to y of the model.

    z[i] is y[kept[i]]; unknowns of z beyond `kept` are new; y[eliminated] follows from the last constraints.
    `rows` are the rows of the index-1 form that are left if the elimination is done in numbers; then E and f
    are not in `equations`.
    """

    equations: Equations
    index: int
    variable_index: tuple[int, ...]
    kept: tuple[int, ...]
    eliminated: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()


def reduced(
    model: Model, found: Regularization, name: str, options: Mapping[str, float], *, insert: bool = False
) -> Reduced:
    """Return the form of this name; raise InputError if the model does not have it.

    `insert`: parameters are replaced by their values.
    """
    rows = found.rows if name == "overdetermined" else found.constraints
    system = model.numeric(found.constraints) if insert else model.symbolic(rows)
    system = _zeros(system, found.zeros)
    if name == "overdetermined":
        return Reduced(system, min(1, found.index), (1,) * model.n, tuple(range(model.n)))
    parts = chains(found)
    if insert:
        parts = [Chain(c.row, tuple(_number(model, member) for member in c.members)) for c in parts]
    if name == "ode":
        return _ode(system, parts)
    if name == "ggl":
        return _ggl(model, system, parts)
    if name == "baumgarte":
        return _baumgarte(model, system, parts, options["k0"], options["k1"])
    return _of_index(model, system, parts, int(name.removeprefix("index")), found.index)


def _number(model: Model, expression: sp.Expr) -> sp.Expr:
    return inserted(sp.sympify(expression), model.parameters)


def _zeros(system: Equations, zeros: Sequence[tuple[int, int]]) -> Equations:
    """Return the system with entries of E that are zero, for these parameter values or by an identity.

    Written as zero.
    """
    kept = {
        place: entry for place, entry in system.E.todok().items() if not entry.is_zero and place not in zeros
    }
    return replace(system, E=with_entries(system.E, kept))


def _of_index(model: Model, system: Equations, parts: Sequence[Chain], wanted: int, own: int) -> Reduced:
    if wanted > own:
        raise refuse(model.name, f"its index is {own}, and no form of it has index {wanted}.")
    if wanted < 1:
        raise refuse(model.name, "the lowest index is 1; the form of index 0 is called 'ode'.")
    hidden = [chain.at_index(wanted) for chain in parts]
    square = replaced(system, {chain.row: members[0] for chain, members in zip(parts, hidden, strict=True)})
    return Reduced(square, wanted, variable_index(square, wanted, hidden), tuple(range(system.n)))


def _baumgarte(model: Model, system: Equations, parts: Sequence[Chain], k0: float, k1: float) -> Reduced:
    """0 = c'' + k1 c' + k0 c for chains of length three, 0 = c' + k0 c for those of length two."""
    _refuse_long(model, parts, "baumgarte")
    factors = {1: (1.0,), 2: (k0, 1.0), 3: (k0, k1, 1.0)}
    rows = {
        c.row: sum(exact(k) * member for k, member in zip(factors[c.index], c.members, strict=True))
        for c in parts
    }
    return Reduced(replaced(system, rows), 1, (1,) * system.n, tuple(range(system.n)))


def _refuse_long(model: Model, parts: Sequence[Chain], name: str) -> None:
    if max((c.index for c in parts), default=0) < 2:
        raise refuse(
            model.name,
            f"'{name}' stabilises differentiated constraints, and none has to be differentiated here.",
        )
    if max(c.index for c in parts) > 3:
        raise refuse(
            model.name, f"'{name}' is defined up to index 3, the index here is {max(c.index for c in parts)}."
        )


def _ggl(model: Model, system: Equations, parts: Sequence[Chain]) -> Reduced:
    """Stabilised index 2 (Gear, Gupta, Leimkuhler): constraint and derivative both hold, q' = v - G^T mu."""
    _refuse_long(model, parts, "ggl")
    long = [c for c in parts if c.index == 3]
    if not long:
        raise refuse(model.name, "'ggl' stabilises index 3, the index here is 2: use 'index2'.")
    states, n = system.states, system.n
    multipliers = tuple(_fresh(f"mu{i}", states) for i in range(len(long)))
    base = replaced(system, {c.row: c.members[0] for c in parts})
    f = sp.Matrix(base.f)
    for i, j in _position_rows(model, base, long):
        f[i] -= sum(
            gradient(c.members[0]).get(states[j], sp.S.Zero) * mu
            for c, mu in zip(long, multipliers, strict=True)
        )
    extra = [c.members[1] for c in long]
    E = sp.diag(base.E, sp.zeros(len(long)))
    g = sp.ImmutableDenseMatrix([*base.g, *extra])
    right = sp.ImmutableDenseMatrix([*f, *extra])
    full = Equations(system.t, (*states, *multipliers), E.as_immutable(), right, g, system.parameters)
    hidden = (
        [[c.members[0]] for c in long]
        + [c.members[1:] for c in long]
        + [c.members for c in parts if c.index < 3]
    )
    hidden.append([sp.S.Zero, sum(multipliers)])  # mu is as deep as lambda
    return Reduced(full, 2, variable_index(full, 2, hidden), tuple(range(n)))


def _fresh(name: str, states: Sequence[sp.Symbol]) -> sp.Symbol:
    while name in {s.name for s in states}:
        name += "_"
    return sp.Symbol(name, real=True)


def _position_rows(model: Model, system: Equations, long: Sequence[Chain]) -> list[tuple[int, int]]:
    """Return (row, column) of q_j' = ...

    for every unknown in the constraints; each row must stand for one of them.
    """
    names = set().union(*(c.members[0].free_symbols for c in long))
    pairs = []
    for j, s in enumerate(system.states):
        if s not in names:
            continue
        rows = [i for i in range(system.n) if not system.E[i, j].is_zero]
        if len(rows) != 1 or sum(not e.is_zero for e in system.E[rows[0], :]) != 1:
            raise refuse(
                model.name,
                f"'ggl' needs a row of its own for the derivative of each position, and {s}' has none.",
            )
        pairs.append((rows[0], j))
    return pairs


def _ode(system: Equations, parts: Sequence[Chain]) -> Reduced:
    """Underlying ODE: algebraic unknowns eliminated where they occur linearly.

    Otherwise the last constraints are differentiated.
    """
    last = {c.row: c.members[-1] for c in parts}
    square = replaced(system, last)
    rows, columns = differential_rows(system.n, parts), zero_columns(system.E)
    kept = tuple(j for j in range(system.n) if j not in columns)
    if len(kept) == len(rows):
        solved = _solved(square, columns)
        if solved is not None:
            return _eliminated(square, rows, kept, columns, solved)
        if _is_linear(square, columns):
            states, nothing = tuple(system.states[j] for j in kept), sp.ImmutableDenseMatrix(0, 1, [])
            unsolved = Equations(
                system.t, states, sp.eye(len(kept)).as_immutable(), nothing, nothing, system.parameters
            )
            return Reduced(unsolved, 0, (1,) * len(kept), kept, columns, tuple(rows))
    E, f = sp.Matrix(square.E), sp.Matrix(square.f)
    for i, constraint in last.items():
        slopes = gradient(constraint)
        E[i, :] = sp.Matrix([[slopes.get(s, sp.S.Zero) for s in system.states]])
        f[i] = -slopes.get(system.t, sp.S.Zero)
    none = sp.ImmutableDenseMatrix(0, 1, [])
    whole = Equations(system.t, system.states, E.as_immutable(), f.as_immutable(), none, system.parameters)
    return Reduced(whole, 0, (1,) * system.n, tuple(range(system.n)))


def _is_linear(square: Equations, columns: Sequence[int]) -> bool:
    own = {square.states[j] for j in columns}
    return not any(
        slope.free_symbols & own for row in square.g for s, slope in gradient(row).items() if s in own
    )


def _solved(square: Equations, columns: Sequence[int]) -> dict[sp.Symbol, sp.Expr] | None:
    """Return formulas for the algebraic unknowns, block by block.

    None if a block is not linear or too large.
    """
    values: dict[sp.Symbol, sp.Expr] = {}
    for block in constraint_blocks(square, columns):
        own = [square.states[j] for j in block.columns]
        if not block.linear or len(own) > LARGEST_BLOCK:
            return None
        rows = sp.Matrix([square.g[i] for i in block.rows])
        matrix = sp.Matrix([[gradient(row).get(s, sp.S.Zero) for s in own] for row in rows])
        right = -rows.xreplace(dict.fromkeys(own, sp.S.Zero))
        determinant = matrix.det(method="berkowitz")
        for k, s in enumerate(own):  # Cramer's rule: no pivot that may vanish somewhere
            changed = matrix.copy()
            changed[:, k] = right
            values[s] = (changed.det(method="berkowitz") / determinant).xreplace(values)
        if sum(sp.count_ops(value) for value in values.values()) > LONGEST_FORMULAS:
            return None
    return values


def _eliminated(
    square: Equations,
    rows: Sequence[int],
    kept: tuple[int, ...],
    gone: tuple[int, ...],
    solved: Mapping[sp.Symbol, sp.Expr],
) -> Reduced:
    E = square.E.extract(list(rows), list(kept)).xreplace(dict(solved))
    f = square.f.extract(list(rows), [0]).xreplace(dict(solved))
    E, f = _normalised(sp.Matrix(E), sp.Matrix(f))
    states = tuple(square.states[j] for j in kept)
    system = Equations(square.t, states, E, f, sp.ImmutableDenseMatrix(0, 1, []), square.parameters)
    return Reduced(system, 0, (1,) * len(kept), kept, gone)


def _normalised(E: sp.Matrix, f: sp.Matrix) -> tuple[sp.ImmutableDenseMatrix, sp.ImmutableDenseMatrix]:
    """Return E = I where every row has one entry; otherwise E and f as they are."""
    places = [[j for j in range(E.cols) if not E[i, j].is_zero] for i in range(E.rows)]
    if any(len(place) != 1 for place in places):
        return E.as_immutable(), f.as_immutable()
    right = sp.zeros(E.rows, 1)
    for i, (j,) in enumerate(places):
        right[j] = f[i] / E[i, j]
    return sp.eye(E.rows).as_immutable(), right.as_immutable()
