"""Block triangular form: which constraints determine which algebraic components, in which order.

The same for E y' = f.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mpmath
import sympy as sp

from herk.codegen.equations import Equations, without
from herk.codegen.gradient import gradient as partials
from herk.codegen.tape import Tape
from herk.core import InputError
from herk.linalg.rank import equilibrated, split

Pattern = Sequence[Collection[int]]
GOLDEN = 0.6180339887498949  # multiples of it are far from each other, modulo 1
CLEARLY = 1e-6  # of its terms: a sum that is not zero by rounding
_EXPAND_LIMIT = 400  # operations up to which an expression is expanded to see a cancellation


@dataclass(frozen=True)
class Block:
    """Rows that determine columns, everything before them known.

    Linear: the rows are affine in these columns.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    linear: bool


def constraint_blocks(equations: Equations, algebraic: Collection[int]) -> list[Block]:
    """Return the blocks of g = 0 for these algebraic components, in solving order."""
    columns = sorted(algebraic)
    if len(set(columns)) != equations.m or not all(0 <= j < equations.n for j in columns):
        raise InputError(
            f"{equations.m} constraints need as many different algebraic components among"
            f" 0..{equations.n - 1}, not {columns}."
        )
    place = {equations.states[j]: i for i, j in enumerate(columns)}
    gradients = [gradient(row, place) for row in equations.g]
    parts = triangular([{place[s] for s in entries} for entries in gradients])
    if parts is None:
        names = ", ".join(str(equations.states[j]) for j in columns)
        raise InputError(
            f"The constraints cannot be solved for {names}: no assignment gives each of them an equation of"
            " its own."
        )
    return [
        Block(
            rows,
            tuple(columns[i] for i in own),
            _is_linear([gradients[r] for r in rows], {equations.states[columns[i]] for i in own}),
        )
        for rows, own in parts
    ]


def rate_blocks(equations: Equations, wanted: Collection[int]) -> list[Block]:
    """Return the blocks of E y' = f that the derivatives of the wanted components need, in solving order."""
    rows, columns = nonzero(equations.E)
    parts = _reduced(equations.E)
    if parts is None:
        raise InputError("E is not regularly reducible, so E y' = f alone does not give derivatives.")
    missing = sorted(set(wanted) - set(columns))
    if missing:
        names = ", ".join(str(equations.states[j]) for j in missing)
        raise InputError(
            f"E y' = f does not contain the derivative of {names}: it must be an algebraic component."
        )
    needed, blocks = set(wanted), []
    for own_rows, own_columns in reversed(parts):
        block = Block(tuple(rows[i] for i in own_rows), tuple(columns[i] for i in own_columns), True)
        if needed & set(block.columns):
            needed |= {j for i, j in filled(equations.E) if i in block.rows}
            blocks.append(block)
    return blocks[::-1]


def required(E: sp.ImmutableDenseMatrix) -> tuple[int, ...] | None:
    """Return the zero columns of E, which must be algebraic, if E is regularly reducible.

    None for a general E.
    """
    used = set(nonzero(E)[1])
    return None if _reduced(E) is None else tuple(j for j in range(E.cols) if j not in used)


def nonzero(E: sp.ImmutableDenseMatrix) -> tuple[list[int], list[int]]:
    """Return the rows and the columns of E that are not zero."""
    full = filled(E)
    return sorted({i for i, _ in full}), sorted({j for _, j in full})


def filled(E: sp.ImmutableDenseMatrix) -> dict[tuple[int, int], sp.Expr]:
    """Return the entries of E that do not vanish, by place: what is large is mostly zero."""
    return {place: entry for place, entry in sorted(E.todok().items()) if not is_zero(entry)}


def gradient(expression: sp.Expr, symbols: Collection[sp.Symbol]) -> dict[sp.Symbol, sp.Expr]:
    """Return the derivatives that do not vanish."""
    entries = partials(expression)
    present = sorted(entries.keys() & symbols, key=sp.default_sort_key)
    return {s: entries[s] for s in present if not is_zero(entries[s])}


def without_cancelled(expression: sp.Expr, symbols: set[sp.Symbol]) -> sp.Expr:
    """Return an expression without symbols that it does not depend on: code would wait for their values.

    A derivative that vanishes says so, but of what has steps.
    """
    cancelled = (expression.free_symbols & symbols) - gradient(expression, symbols).keys()
    if cancelled:
        steps = expression.atoms(sp.floor, sp.ceiling, sp.frac, sp.Mod, sp.Piecewise)
        cancelled = cancelled.difference(*(each.free_symbols for each in steps))
    return without(expression, cancelled)


def jacobian(expressions: Iterable[sp.Expr], symbols: Sequence[sp.Symbol]) -> list[list[sp.Expr]]:
    """Return the derivatives of every expression with respect to every symbol.

    Zeros without a differentiation.
    """
    return [
        [entries.get(s, sp.S.Zero) for s in symbols]
        for entries in (gradient(e, symbols) for e in expressions)
    ]


@lru_cache(maxsize=1 << 16)
def is_zero(expression: sp.Expr) -> bool:
    """Tell whether an expression vanishes, as far as expansion shows it."""
    if expression.is_Add and not _seen_not_to_vanish(expression):
        expression = _expanded(expression)
    return bool(expression.is_number and expression.is_zero)


def _seen_not_to_vanish(total: sp.Expr) -> bool:
    """Tell whether a sum is clearly not zero at some point: much quicker to see than by expansion."""
    symbols = sorted(total.free_symbols, key=str)
    point = [0.5 + GOLDEN * (i + 1) % 1.0 for i in range(len(symbols))]
    try:
        tape = Tape(symbols, total.args)
    except TypeError:  # a constant that is no real number
        return False
    return any(_clearly(tape, sign, point) for sign in (1.0, -1.0))  # where other cases apply


def _clearly(tape: Tape, sign: float, point: Sequence[float]) -> bool:
    """Tell whether the sum of these terms is clearly not zero there."""
    try:
        terms = tape.floats([sign * value for value in point])
        return abs(math.fsum(terms)) > CLEARLY * math.fsum(map(abs, terms))
    except (ArithmeticError, TypeError, ValueError):  # outside the domain of a function
        return False


def triangular(pattern: Pattern) -> list[tuple[tuple[int, ...], tuple[int, ...]]] | None:
    """Return (rows, columns) of the diagonal blocks of a square pattern in solving order.

    None if it is structurally singular.
    """
    matched = _matching(pattern)
    if matched is None:
        return None
    owner = {column: row for row, column in enumerate(matched)}
    successors = [[owner[c] for c in sorted(entries)] for entries in pattern]
    return [(tuple(part), tuple(matched[r] for r in part)) for part in _components(successors)]


def _expanded(expression: sp.Expr) -> sp.Expr:
    return sp.expand(expression) if expression.count_ops() <= _EXPAND_LIMIT else expression


def _is_linear(gradients: Sequence[Mapping[sp.Symbol, sp.Expr]], own: set[sp.Symbol]) -> bool:
    return not any(
        _expanded(e).free_symbols & own if e.free_symbols & own else False
        for row in gradients
        for s, e in row.items()
        if s in own
    )


def _reduced(E: sp.ImmutableDenseMatrix) -> list[tuple[tuple[int, ...], tuple[int, ...]]] | None:
    """Return the blocks of E over its nonzero rows and columns (numbered among these).

    None if that part is not regular.
    """
    rows, columns = nonzero(E)
    if len(rows) != len(columns):
        return None
    place = {j: c for c, j in enumerate(columns)}
    pattern: dict[int, set[int]] = {i: set() for i in rows}
    for i, j in filled(E):
        pattern[i].add(place[j])
    parts = triangular(list(pattern.values()))
    if parts is None:
        return None
    blocks = (
        E.extract([rows[i] for i in own_rows], [columns[i] for i in own_columns])
        for own_rows, own_columns in parts
        if len(own_rows) > 1
    )
    return parts if all(_is_regular(block) for block in blocks) else None


def _is_regular(block: sp.ImmutableDenseMatrix) -> bool:
    """Tell whether a block is regular for generic values, in whatever units.

    50 digits at one point of random fractions prove it.
    """
    dice = random.Random(20240229)  # noqa: S311 - any fixed numbers will do
    with mpmath.workdps(50):
        for _ in range(3):
            point = {s: sp.Rational(dice.randint(100, 900), 997) for s in sorted(block.free_symbols, key=str)}
            values = [[_number(e) for e in row] for row in block.xreplace(point).tolist()]
            if any(value is None for row in values for value in row):  # no real value there
                continue
            rows = [{j: value for j, value in enumerate(row) if value} for row in values]
            if all(rows) and not split([equilibrated(rows)], [True], range(len(rows))).relations:
                return True
    return False


def _number(entry: sp.Expr) -> Any:
    """Return a real value in many digits; None if there is none."""
    try:
        value = mpmath.mpmathify(entry.evalf(mpmath.mp.dps))
    except (TypeError, ZeroDivisionError):
        return None
    return value if isinstance(value, mpmath.mpf) and mpmath.isfinite(value) else None


def _matching(pattern: Pattern) -> list[int] | None:
    """Return a column for every row, all different, by augmenting paths.

    None if there is no such assignment.
    """
    row_of: dict[int, int] = {}
    column_of: dict[int, int] = {}
    for start in range(len(pattern)):
        came: dict[int, int] = {}
        stack = [start]
        end = None
        while stack and end is None:
            row = stack.pop()
            for column in sorted(pattern[row]):
                if column not in came:
                    came[column] = row
                    if column not in row_of:
                        end = column
                        break
                    stack.append(row_of[column])
        if end is None:
            return None
        while end is not None:
            row = came[end]
            row_of[end], column_of[row], end = row, end, column_of.get(row)
    return [column_of[row] for row in range(len(pattern))]


def _components(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the strongly connected components, each behind those it leads to (Tarjan, without recursion)."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    open_nodes: list[int] = []
    closed: set[int] = set()
    parts: list[list[int]] = []
    for root in range(len(successors)):
        path = [] if root in number else [(root, iter(successors[root]))]
        while path:
            node, rest = path[-1]
            if node not in number:
                number[node] = low[node] = len(number)
                open_nodes.append(node)
            child = next((c for c in rest if c not in number), None)
            if child is not None:
                path.append((child, iter(successors[child])))
                continue
            path.pop()
            low[node] = min([low[node]] + [low[c] for c in successors[node] if c not in closed])
            if low[node] == number[node]:
                at = open_nodes.index(node)
                parts.append(sorted(open_nodes[at:]))
                closed.update(open_nodes[at:])
                del open_nodes[at:]
    return parts
