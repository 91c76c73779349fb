"""Text of `rate`, which derives y' from E y' = f, or from [E; g_y] y' = [f; -g_t]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from herk.codegen.block_form import Block, is_zero, jacobian, nonzero, rate_blocks
from herk.codegen.code import lines, literal
from herk.codegen.stage_writer import Writer, divided, over_number, tupled
from herk.core import InputError


def block_rate(w: Writer, wanted: Sequence[int]) -> list[str]:
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


def stacked_rate(w: Writer, wanted: Sequence[int]) -> list[str]:
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


def _rate(w: Writer, wanted: Sequence[int], body: Sequence[str], result: Mapping[int, str]) -> list[str]:
    fail = f"return {tupled(['nan'] * len(wanted))}" if w.scalar else "return -1"
    body = [line.replace("FAIL", fail) for line in body]
    if w.scalar:
        values = tupled([result[j] for j in wanted])
        return w.function("rate", "floor, work, par", [*body, f"return {values}"])
    return w.function(
        "rate",
        "out, floor, work, par",
        [*body, *(f"out[{i}] = {result[j]}" for i, j in enumerate(wanted)), "return 0"],
    )


def _shortened(
    target: str, e: sp.Expr, E: sp.ImmutableDenseMatrix, simple: Mapping[int, int]
) -> tuple[str, sp.Expr]:
    """Turn `f_i` into the derivative itself where the row has one number on the diagonal that disappears.

    In the coefficients of f.
    """
    row = int(target[1:]) if target.startswith("f") else -1
    if row not in simple or not E[row, simple[row]].is_number:
        return target, e
    inside = over_number(e, E[row, simple[row]])
    return (f"k{simple[row]}", inside) if sp.count_ops(inside) <= sp.count_ops(e) else (target, e)


def _rate_of_block(w: Writer, block: Block, entries: Mapping[int, Mapping[int, str]]) -> list[str]:
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
            return [f"k{column} = {divided(top, diagonal)}"]
        name = entries[row][column]
        tested = [f"if {name} == 0.0:", "    FAIL"]
        if diagonal.free_symbols & {w.equations.t, *w.equations.states}:
            return [*tested, f"k{column} = {top}/{name}"]
        # the same at every stage: divided by once a step, and nothing waits for it; where stages are written
        # out one choice between numbers takes less than a way out of each
        inverse, product = f"i{row} = 1.0/{name}", f"k{column} = {top}*i{row}"
        if w.scalar:
            return [f"if {name} == 0.0:", f"    {name} = nan", inverse, product]
        return [*tested, inverse, product]
    w.need(k * k + 3 * k)
    body = [
        f"work[{i * k + j}] = {entries[r].get(c, '0.0')}"
        for i, r in enumerate(block.rows)
        for j, c in enumerate(block.columns)
    ]
    body += [f"work[{k * k + i}] = {tops[r]}" for i, r in enumerate(block.rows)]
    body += [f"work[{k * k + k + i}] = floor[{w.equations.n + c}]" for i, c in enumerate(block.columns)]
    body += [f"if solve_leveled(work, {k}) == 0.0:", "    FAIL"]
    return [*body, *(f"k{c} = work[{k * k + i}]" for i, c in enumerate(block.columns))]
