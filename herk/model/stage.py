"""Text of what a stage needs.

`complete` solves g = 0 block by block, `rate` derives y' from E y' = f, `residual` is the largest |g|.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from herk.core import InputError, StageSource
from herk.model.code import lines, literal, prepared
from herk.model.equations import Equations
from herk.model.structure import (
    Block,
    constraint_blocks,
    gradient,
    is_zero,
    jacobian,
    nonzero,
    rate_blocks,
    required,
)

_ITERATIONS = 12
_HUGE = "1e300"


def stage_source(equations: Equations, algebraic: Iterable[int], scalar: bool) -> StageSource:
    """Return the code of a stage for these algebraic components.

    Scalar: components in local variables instead of an array.

    `floor[i]` belongs to component i of y, `floor[n + i]` is its size. A block a*y**2 + c = 0 needs no
    iteration, only the sign of its start value.
    """
    equations, names = prepared(equations)
    chosen = tuple(sorted(algebraic))
    blocks = constraint_blocks(equations, chosen)
    differential = tuple(j for j in range(equations.n) if j not in chosen)
    fixed = required(equations.E)
    unknown = sorted(j for block in blocks if not block.linear for j in block.columns)
    ahead = [j for j in unknown if fixed is None or j not in fixed]
    writer = _Writer(equations, names, chosen, (*ahead, *(j for j in unknown if j not in ahead)), scalar)
    complete = _complete(writer, blocks)
    wanted = (*differential, *ahead)
    rate = _stacked_rate(writer, wanted) if fixed is None else _block_rate(writer, wanted)
    text = "\n".join([*complete, "", "", *rate, "", "", *_residual(writer), ""])
    return StageSource(
        text,
        chosen,
        differential,
        writer.guessed,
        len(ahead),
        len(writer.pivots),
        writer.work,
        scalar,
        fixed or (),
    )


@dataclass
class _Writer:
    """What is known while the text grows: the pivots to be reported and the scratch memory needed so far."""

    equations: Equations
    names: Mapping[sp.Symbol, str]
    algebraic: tuple[int, ...]
    guessed: tuple[int, ...]
    scalar: bool
    pivots: list[str] = field(default_factory=list)
    work: int = 1

    def need(self, floats: int) -> None:
        self.work = max(self.work, floats)

    def used(self, expressions: Iterable[sp.Expr], without: Iterable[int] = ()) -> list[str]:
        """Return the statements that bring the parameters.

        And components these expressions contain into local variables.
        """
        present = set().union(*(e.free_symbols for e in expressions))
        values = [f"par_{k} = par[{k}]" for k, s in enumerate(self.equations.parameters) if s in present]
        if self.scalar:
            return values
        return values + [
            f"y{j} = y[{j}]" for j, s in enumerate(self.equations.states) if s in present and j not in without
        ]

    def moves(self, expression: sp.Expr) -> bool:
        """Tell whether an expression may change along a run."""
        return bool(expression.free_symbols - set(self.equations.parameters))

    def function(self, name: str, tail: str, body: Iterable[str]) -> list[str]:
        state = ", ".join(f"y{j}" for j in range(self.equations.n)) if self.scalar else "y"
        return [f"def {name}(t, {state}, {tail}):", *(f"    {line}" for line in body)]


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _indented(statements: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in statements]


def _complete(w: _Writer, blocks: Sequence[Block]) -> list[str]:
    """Return `complete`; its blocks follow each other, a failure leaves at once."""
    solved = [(_solve(w, number, block), block) for number, block in enumerate(blocks)]  # fills w.pivots
    fail = (
        f"return {_tuple(['-1', *['nan'] * (len(w.algebraic) + len(w.pivots))])}" if w.scalar else "return -1"
    )
    body = w.used(w.equations.g, without=set(w.algebraic) - set(w.guessed))
    newton = any("iterations += 1" in line for text, _ in solved for line in text)
    body += ["iterations = 0"] if newton else []
    body += [line.replace("FAIL", fail) for text, _ in solved for line in text]
    direct = [f"abs(y{j})" for _, block in solved for j in block.columns if block.linear]
    if direct:
        body += [f"if not {' + '.join(direct)} <= {_HUGE}:", f"    {fail}"]
    count = "iterations" if newton else "0"
    if w.scalar:
        body.append(f"return {_tuple([count, *(f'y{j}' for j in w.algebraic), *w.pivots])}")
        return w.function("complete", "tolerance, floor, work, par", body)
    body += [f"y[{j}] = y{j}" for j in w.algebraic]
    body += [f"pivots[{i}] = {pivot}" for i, pivot in enumerate(w.pivots)]
    return w.function("complete", "tolerance, floor, pivots, work, par", [*body, f"return {count}"])


def _residual(w: _Writer) -> list[str]:
    """Return `residual`, the largest |g| at a point.

    By which a run reports how well its points satisfy the constraints.
    """
    rows = [(f"r{i}", row) for i, row in enumerate(w.equations.g)]
    body = [*w.used(w.equations.g), *lines(rows, w.names, "c"), "largest = 0.0"]
    body += [f"largest = max(largest, abs(r{i}))" for i in range(len(rows))]
    return w.function("residual", "work, par", [*body, "return largest"])


def _solve(w: _Writer, number: int, block: Block) -> list[str]:
    if len(block.rows) > 1:
        return _solve_several(w, number, block)
    column = block.columns[0]
    row, slope = _scaled(w.equations.g[block.rows[0]], w.equations.states[column])
    square = _square(w.equations, block)
    if block.linear:
        return _divide(w, number, column, row, slope)
    return _newton(w, number, column, row, slope) if square is None else _root(w, number, column, square)


def _scaled(row: sp.Expr, symbol: sp.Symbol) -> tuple[sp.Expr, sp.Expr]:
    """Return the row and its derivative, a common number divided out where that makes the text shorter."""
    slope = gradient(row, [symbol])[symbol]
    content = slope.as_content_primitive()[0]
    smaller = sp.expand_mul(row / content)
    return (smaller, slope / content) if sp.count_ops(smaller) < sp.count_ops(row) else (row, slope)


@dataclass(frozen=True)
class _Square:
    """The row a*base**2 + c, base = factor*y + shift, with y in none of a, c.

    Shift and a number as factor.
    """

    a: sp.Expr
    c: sp.Expr
    base: sp.Expr
    factor: sp.Expr
    shift: sp.Expr


def _square(equations: Equations, block: Block) -> _Square | None:
    """Recognise a square as it is written.

    One that appears only on expanding would lose digits where the root is a small difference.
    """
    if len(block.rows) > 1 or block.linear:
        return None
    y, row = equations.states[block.columns[0]], equations.g[block.rows[0]]
    rest, own = row.as_independent(y, as_Add=True)
    own = sp.factor_terms(own) if own.is_Add else own  # collects a1*y**2 + a2*y**2
    a, power = own.as_independent(y, as_Add=False)
    if not (isinstance(power, sp.Pow) and power.exp == 2):
        return None
    factor = sp.diff(power.base, y)
    return (
        _Square(a, rest, power.base, factor, power.base.xreplace({y: sp.S.Zero}))
        if factor.is_number
        else None
    )


def _report(w: _Writer, slope: sp.Expr, name: str) -> None:
    if w.moves(slope):
        w.pivots.append(name)


def _divide(w: _Writer, number: int, column: int, row: sp.Expr, slope: sp.Expr) -> list[str]:
    """Return the formula of a block that is linear in its one component."""
    symbol = w.equations.states[column]
    slope = sp.expand(slope) if symbol in slope.free_symbols else slope
    top = -row.xreplace({symbol: sp.S.Zero})
    if slope.is_number:
        return _quotient(w, f"y{column}", top, slope, f"c{number}_")
    _report(w, slope, f"p{number}")
    text = lines([(f"r{number}", top), (f"p{number}", slope)], w.names, f"c{number}_")
    return [*text, f"if p{number} == 0.0:", "    FAIL", f"y{column} = r{number}/p{number}"]


def _quotient(w: _Writer, target: str, top: sp.Expr, number: sp.Expr, prefix: str) -> list[str]:
    """Return top/number: the number goes into the coefficients of top if that costs nothing.

    Otherwise one division is left.
    """
    inside = _inside(top, number)
    if sp.count_ops(inside) <= sp.count_ops(top) + 1:
        return lines([(target, inside)], w.names, prefix)
    text = lines([(f"{prefix}top", top)], w.names, prefix)
    return [*text, f"{target} = {_divided(f'{prefix}top', number)}"]


def _inside(top: sp.Expr, number: sp.Expr) -> sp.Expr:
    return top / number if abs(number) == 1 else sp.expand_mul(top / number)


def _divided(top: str, number: sp.Expr) -> str:
    """Return the text of a division by a number, as a product where the reciprocal is exact."""
    value = float(literal(number))
    if abs(value) == 1.0:
        return top if value > 0.0 else f"-{top}"
    return f"{top}*{1.0 / value!r}" if abs(math.frexp(value)[0]) == 0.5 else f"{top}/{value!r}"


def _root(w: _Writer, number: int, column: int, square: _Square) -> list[str]:
    """Return the root of a*base**2 + c = 0 on the side of the start value.

    Exact where Newton iterates, and faster.
    """
    q, u, p = f"q{number}", f"u{number}", f"p{number}"
    w.pivots.append(p)
    side = sp.Dummy(real=True)
    texts = dict(w.names) | {side: u}
    first = lines([(q, -square.c / square.a), (u, square.base)], texts, f"c{number}_")
    found = lines(
        [(f"y{column}", (side - square.shift) / square.factor), (p, 2 * square.a * square.factor * side)],
        texts,
        f"d{number}_",
    )
    return [
        *first,
        f"if not ({q} > 0.0 and {q} <= {_HUGE} and {u} == {u}):",
        "    FAIL",
        f"{u} = copysign(sqrt({q}), {u})",
        *found,
    ]


def _newton(w: _Writer, number: int, column: int, row: sp.Expr, slope: sp.Expr) -> list[str]:
    """Return Newton's iteration for one component.

    It converges quadratically, so the last correction bounds far more than the error.
    """
    y, r, p, d = f"y{column}", f"r{number}", f"p{number}", f"d{number}"
    _report(w, slope, p)
    loop = [
        *lines([(r, row), (p, slope)], w.names, f"c{number}_"),
        f"if {p} == 0.0:",
        "    FAIL",
        f"{d} = {r}/{p}",
        f"{y} -= {d}",
    ]
    return _iterated(loop, [(y, d, column)])


def _iterated(loop: Sequence[str], corrections: Sequence[tuple[str, str, int]]) -> list[str]:
    size = " + ".join(f"abs({d})" for _, d, _ in corrections)
    small = " and ".join(f"abs({d}) <= tolerance*(abs({y}) + floor[{j}])" for y, d, j in corrections)
    loop = [*loop, "iterations += 1", f"if not {size} <= {_HUGE}:", "    FAIL", f"if {small}:", "    break"]
    return [f"for _ in range({_ITERATIONS}):", *_indented(loop), "else:", "    FAIL"]


def _solve_several(w: _Writer, number: int, block: Block) -> list[str]:
    """Return the solution of a block of several rows.

    One linear solve, or Newton's iteration with the exact Jacobian.
    """
    k = len(block.rows)
    w.need(k * k + 2 * k)
    own = [w.equations.states[j] for j in block.columns]
    rows = [w.equations.g[i] for i in block.rows]
    matrix = jacobian(rows, own)
    if block.linear:
        matrix = [[sp.expand(e) if e.free_symbols.intersection(own) else e for e in row] for row in matrix]
        rows = [-row.xreplace(dict.fromkeys(own, sp.S.Zero)) for row in rows]
    entries = [(f"work[{i * k + j}]", e) for i, row in enumerate(matrix) for j, e in enumerate(row)]
    fill = lines(
        [*entries, *((f"work[{k * k + i}]", row) for i, row in enumerate(rows))], w.names, f"c{number}_"
    )
    n = w.equations.n
    fill += [f"work[{k * k + k + i}] = floor[{n + c}]" for i, c in enumerate(block.columns)]
    solve = [*fill, f"p{number} = solve_in_units(work, {k})", f"if p{number} == 0.0:", "    FAIL"]
    if any(w.moves(e) for row in matrix for e in row):
        w.pivots.append(f"p{number}")
    if block.linear:
        return [*solve, *(f"y{c} = work[{k * k + i}]" for i, c in enumerate(block.columns))]
    for i, c in enumerate(block.columns):
        solve += [f"d{number}_{i} = work[{k * k + i}]", f"y{c} -= d{number}_{i}"]
    return _iterated(solve, [(f"y{c}", f"d{number}_{i}", c) for i, c in enumerate(block.columns)])


def _rate(w: _Writer, wanted: Sequence[int], body: Sequence[str], result: Mapping[int, str]) -> list[str]:
    fail = f"return {_tuple(['nan'] * len(wanted))}" if w.scalar else "return -1"
    body = [line.replace("FAIL", fail) for line in body]
    if w.scalar:
        return w.function("rate", "work, par", [*body, f"return {_tuple([result[j] for j in wanted])}"])
    return w.function(
        "rate",
        "out, work, par",
        [*body, *(f"out[{i}] = {result[j]}" for i, j in enumerate(wanted)), "return 0"],
    )


def _block_rate(w: _Writer, wanted: Sequence[int]) -> list[str]:
    """Return `rate` for a regularly reducible E.

    Blocks of E in order, equations that no wanted derivative needs left out.
    """
    blocks = rate_blocks(w.equations, wanted)
    E, f = w.equations.E, w.equations.f
    assignments: list[tuple[str, Any]] = []
    entries: dict[int, dict[int, str]] = {}
    for i in (i for block in blocks for i in block.rows):
        assignments.append((f"f{i}", f[i]))
        entries[i] = {
            j: literal(E[i, j]) if E[i, j].is_number else f"e{i}_{j}"
            for j in range(w.equations.n)
            if not is_zero(E[i, j])
        }
        assignments += [(f"e{i}_{j}", E[i, j]) for j in entries[i] if not E[i, j].is_number]
    body = w.used(expression for _, expression in assignments)
    simple = {
        block.rows[0]: block.columns[0]
        for block in blocks
        if len(block.rows) == 1 and len(entries[block.rows[0]]) == 1
    }
    shortened = [_shortened(target, e, E, simple) for target, e in assignments]
    body += lines(shortened, w.names, "c")
    done = {target for target, _ in shortened}
    for block in blocks:
        if f"k{block.columns[0]}" not in done:
            body += _rate_of_block(w, block, entries)
    return _rate(w, wanted, body, {j: f"k{j}" for block in blocks for j in block.columns})


def _shortened(
    target: str, e: sp.Expr, E: sp.ImmutableDenseMatrix, simple: Mapping[int, int]
) -> tuple[str, sp.Expr]:
    """Turn `f_i` into the derivative itself where the row has one number on the diagonal that disappears.

    In the coefficients of f.
    """
    row = int(target[1:]) if target.startswith("f") else -1
    if row not in simple or not E[row, simple[row]].is_number:
        return target, e
    inside = _inside(e, E[row, simple[row]])
    return (f"k{simple[row]}", inside) if sp.count_ops(inside) <= sp.count_ops(e) else (target, e)


def _rate_of_block(w: _Writer, block: Block, entries: Mapping[int, Mapping[int, str]]) -> list[str]:
    k = len(block.rows)
    tops = {
        i: " - ".join([f"f{i}", *(f"{e}*k{j}" for j, e in entries[i].items() if j not in block.columns)])
        for i in block.rows
    }
    if k == 1:
        row, column = block.rows[0], block.columns[0]
        diagonal, top = w.equations.E[row, column], tops[row]
        top = f"({top})" if " " in top else top
        if diagonal.is_number:
            return [f"k{column} = {_divided(top, diagonal)}"]
        name = entries[row][column]
        return [f"if {name} == 0.0:", "    FAIL", f"k{column} = {top}/{name}"]
    w.need(k * k + 2 * k)
    body = [
        f"work[{i * k + j}] = {entries[r].get(c, '0.0')}"
        for i, r in enumerate(block.rows)
        for j, c in enumerate(block.columns)
    ]
    body += [f"work[{k * k + i}] = {tops[r]}" for i, r in enumerate(block.rows)]
    body += [f"if solve_block(work, {k}) == 0.0:", "    FAIL"]
    return [*body, *(f"k{c} = work[{k * k + i}]" for i, c in enumerate(block.columns))]


def _stacked_rate(w: _Writer, wanted: Sequence[int]) -> list[str]:
    """Return `rate` for a general E: [E; g_y] y' = [f; -g_t], zero rows of E left out."""
    n, E = w.equations.n, w.equations.E
    rows = [[E[i, j] for j in range(n)] for i in nonzero(E)[0]] + jacobian(w.equations.g, w.equations.states)
    right = [w.equations.f[i] for i in nonzero(E)[0]] + [-e for e in w.equations.g_t]
    if len(rows) < n:
        raise InputError(
            f"E y' = f and g = 0 have {len(rows)} rows that contain derivatives, too few for {n} unknowns."
        )
    size = len(rows) * n
    w.need(size + len(rows) + n)
    entries = [
        (f"work[{i * n + j}]", e) for i, row in enumerate(rows) for j, e in enumerate(row) if not is_zero(e)
    ]
    entries += [(f"work[{size + i}]", e) for i, e in enumerate(right)]
    body = w.used(e for _, e in entries)
    body += [f"for i in range({size}):", "    work[i] = 0.0", *lines(entries, w.names, "c")]
    right_hand, scratch = f"work[{size}:{size + len(rows)}]", f"work[{size + len(rows)}:]"
    body += [
        f"if solve_stacked(work[:{size}], {len(rows)}, {n}, {right_hand}, {scratch}) == 0.0:",
        "    FAIL",
    ]
    return _rate(w, wanted, body, {j: f"work[{size + j}]" for j in wanted})
