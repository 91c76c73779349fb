"""Text of `complete`, which solves g = 0 block by block, and of `residual`, the largest |g|."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from herk.codegen.block_form import Block, gradient, jacobian
from herk.codegen.code import lines
from herk.codegen.equations import Equations
from herk.codegen.stage_writer import Writer, divided, indented, over_number, tupled

_ITERATIONS = 12
HUGE = "1e300"


def complete(w: Writer, blocks: Sequence[Block]) -> list[str]:
    """Return `complete`; its blocks follow each other, a failure leaves at once."""
    solved = [(_solve(w, number, block), block) for number, block in enumerate(blocks)]  # fills w.pivots
    fail = (
        f"return {tupled(['-1', *['nan'] * (len(w.algebraic) + len(w.pivots))])}" if w.scalar else "return -1"
    )
    body = w.used(w.equations.g, without=set(w.algebraic) - set(w.guessed))
    newton = any("iterations += 1" in line for text, _ in solved for line in text)
    body += ["iterations = 0"] if newton else []
    body += [line.replace("FAIL", fail) for text, _ in solved for line in text]
    direct = [f"abs(y{j})" for _, block in solved for j in block.columns if block.linear]
    if direct:
        body += [f"if not {' + '.join(direct)} <= {HUGE}:", f"    {fail}"]
    count = "iterations" if newton else "0"
    if w.scalar:
        body.append(f"return {tupled([count, *(f'y{j}' for j in w.algebraic), *w.pivots])}")
        return w.function("complete", "tolerance, floor, work, par", body)
    body += [f"y[{j}] = y{j}" for j in w.algebraic]
    body += [f"pivots[{i}] = {pivot}" for i, pivot in enumerate(w.pivots)]
    return w.function("complete", "tolerance, floor, pivots, work, par", [*body, f"return {count}"])


def residual(w: Writer) -> list[str]:
    """Return `residual`, the largest |g| at a point.

    By which a run reports how well its points satisfy the constraints.
    """
    rows = _rows(tuple(w.equations.g), tuple(w.names.items()))
    body = [*w.used(w.equations.g), *rows, "largest = 0.0"]
    body += [f"largest = max(largest, abs(r{i}))" for i in range(len(w.equations.g))]
    return w.function("residual", "work, par", [*body, "return largest"])


@lru_cache(maxsize=8)  # the same for all selections
def _rows(g: tuple[sp.Expr, ...], names: tuple[tuple[sp.Symbol, str], ...]) -> tuple[str, ...]:
    """Return the lines that evaluate every constraint."""
    return tuple(lines([(f"r{i}", row) for i, row in enumerate(g)], dict(names), "c"))


def _solve(w: Writer, number: int, block: Block) -> list[str]:
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


def _report(w: Writer, slope: sp.Expr, name: str) -> None:
    if w.moves(slope):
        w.pivots.append(name)


def _divide(w: Writer, number: int, column: int, row: sp.Expr, slope: sp.Expr) -> list[str]:
    """Return the formula of a block that is linear in its one component."""
    symbol = w.equations.states[column]
    slope = sp.expand(slope) if symbol in slope.free_symbols else slope
    top = -row.xreplace({symbol: sp.S.Zero})
    if slope.is_number:
        return _quotient(w, f"y{column}", top, slope, f"c{number}_")
    _report(w, slope, f"p{number}")
    text = lines([(f"r{number}", top), (f"p{number}", slope)], w.names, f"c{number}_")
    test = [f"if p{number} == 0.0:", "    FAIL"]
    if not w.moving(top) - w.moving(slope):
        return [*text, *test, f"y{column} = r{number}/p{number}"]
    # The slope does not wait for all that the top waits for: divided by ahead of it, a product is left
    return [*text, *test, f"v{number} = 1.0/p{number}", f"y{column} = r{number}*v{number}"]


def _quotient(w: Writer, target: str, top: sp.Expr, number: sp.Expr, prefix: str) -> list[str]:
    """Return top/number: the number goes into the coefficients of top if that costs nothing.

    Otherwise one division is left.
    """
    inside = over_number(top, number)
    if sp.count_ops(inside) <= sp.count_ops(top) + 1:
        return lines([(target, inside)], w.names, prefix)
    text = lines([(f"{prefix}top", top)], w.names, prefix)
    return [*text, f"{target} = {divided(f'{prefix}top', number)}"]


def _root(w: Writer, number: int, column: int, square: _Square) -> list[str]:
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
        f"if not ({q} > 0.0 and {q} <= {HUGE} and {u} == {u}):",
        "    FAIL",
        f"{u} = copysign(sqrt({q}), {u})",
        *found,
    ]


def _newton(w: Writer, number: int, column: int, row: sp.Expr, slope: sp.Expr) -> list[str]:
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
    loop = [*loop, "iterations += 1", f"if not {size} <= {HUGE}:", "    FAIL", f"if {small}:", "    break"]
    return [f"for _ in range({_ITERATIONS}):", *indented(loop), "else:", "    FAIL"]


def _solve_several(w: Writer, number: int, block: Block) -> list[str]:
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
