"""Text of the derivatives of a stage with respect to parameters and start values.

`tangent` differentiates what `complete` and `rate` compute: g_y Z + g_p = 0 block by block for the algebraic
components, then E K = -(E y' - f)_y Z - (E y' - f)_p for the derivatives, every direction in turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from herk.codegen.block_form import (
    Block,
    constraint_blocks,
    is_zero,
    jacobian,
    nonzero,
    rate_blocks,
    required,
)
from herk.codegen.code import lines, literal, prepared
from herk.codegen.equations import Equations
from herk.codegen.gradient import gradient
from herk.codegen.pairs import Rows, factored_pair, solved_pair
from herk.codegen.texts import function_text
from herk.linalg import blocks as factors
from herk.linalg import stacked

SHARED: dict[str, Any] = {
    function.__name__: function for function in (factors.decompose, factors.resolve, stacked.solve_stacked)
}


@dataclass(frozen=True)
class TangentSource:
    """The text, and how many floats of scratch memory it needs."""

    text: str
    work: int


def tangent_source(
    equations: Equations, algebraic: Sequence[int], directions: Sequence[int]
) -> TangentSource:
    """Return `tangent(t, y, v, out, work, par, floor)` for these algebraic components.

    A direction is the number of a parameter, or -1 for a start value. `out` holds four matrices with a column
    for each direction: Z (n rows; those of differential components are given, the others found), K (n rows,
    found), g_p (m rows) and (E y' - f)_p with (g_y y' + g_t)_p behind it (n + m rows), where zeros are left
    as they are. v becomes y' where it is known. The second half of floor holds the units of the unknowns.
    """
    equations, names = prepared(equations)
    writer = _Writer(equations, names, tuple(sorted(algebraic)), tuple(directions))
    body = writer.stacked() if required(equations.E) is None else writer.reduced()
    text = "".join(f"    {line}\n" for line in [*writer.loads(body), *body, "return 0"])
    return TangentSource(f"def tangent(t, y, v, out, work, par, floor):\n{text}", writer.work)


def parameters_text(given: Equations, directions: Sequence[int]) -> str:
    """Return g_p(t, y, par, out) and residual_p(t, y, v, par, out) = (E v - f)_p, a column per direction."""
    system, texts = prepared(given)
    rates = [sp.Dummy(f"v{j}", real=True) for j in range(system.n)]
    names = {**texts, **{s: f"v{j}" for j, s in enumerate(rates)}}
    rows = [a - b for a, b in zip(system.E * sp.Matrix(rates), system.f, strict=True)]
    moved = {"g_p": [gradient(row) for row in system.g], "residual_p": [gradient(row) for row in rows]}
    found = {
        name: [
            slopes.get(system.parameters[k], sp.S.Zero) if k >= 0 else sp.S.Zero
            for slopes in entries
            for k in directions
        ]
        for name, entries in moved.items()
    }
    first = function_text("g_p", found["g_p"], texts, "t, y, par, out")
    return first + "\n" + function_text("residual_p", found["residual_p"], names, "t, y, v, par, out")


def size_of(n: int, m: int, directions: int) -> int:
    """Return the length of `out`."""
    return (3 * n + 2 * m) * directions


@dataclass
class _Writer:
    """What is known while the text grows."""

    equations: Equations
    names: Mapping[sp.Symbol, str]
    algebraic: tuple[int, ...]
    directions: tuple[int, ...]
    work: int = 1
    used: set[sp.Symbol] = field(default_factory=set)

    def loads(self, _: Sequence[str]) -> list[str]:
        """Return the statements that bring states and parameters into local variables."""
        values = [f"par_{k} = par[{k}]" for k, s in enumerate(self.equations.parameters) if s in self.used]
        return values + [f"y{j} = y[{j}]" for j, s in enumerate(self.equations.states) if s in self.used]

    def room(self, floats: int) -> int:
        """Return where scratch memory of this length begins."""
        start = self.work
        self.work += floats
        return start

    def lines(
        self, assignments: Sequence[tuple[str, Any]], more: Mapping[sp.Symbol, str], prefix: str
    ) -> list[str]:
        """Return statements, and note what they use."""
        for _, expression in assignments:
            self.used |= sp.sympify(expression).free_symbols
        return lines(assignments, {**self.names, **more}, prefix)

    # --- y' and its derivatives from E y' = f where E is regularly reducible

    def reduced(self) -> list[str]:
        """Return the body for a regularly reducible E."""
        system = self.equations
        wanted = [j for j in range(system.n) if j not in (required(system.E) or ())]
        parts = rate_blocks(system, wanted)
        E: dict[int, dict[int, str]] = {}
        entries: list[tuple[str, Any]] = []
        for i in (i for block in parts for i in block.rows):
            entries.append((f"f{i}", system.f[i]))
            E[i] = {}
            for j in (j for j in range(system.n) if not is_zero(system.E[i, j])):
                E[i][j] = literal(system.E[i, j]) if system.E[i, j].is_number else f"e{i}_{j}"
                entries += [] if system.E[i, j].is_number else [(f"e{i}_{j}", system.E[i, j])]
        body = self.lines(entries, {}, "c")
        places = {}
        for number, block in enumerate(parts):
            found, places[number] = self.factored(block, E, f"b{number}")
            tops = {i: _minus(f"f{i}", E[i], "k", block.columns) for i in block.rows}
            body += found + self.solved(block, E, tops, places[number], "k", f"b{number}")
        body += [f"v[{j}] = k{j}" for block in parts for j in block.columns]
        derivatives, R = self.residual_derivatives(E)
        inner, prelude = self.constraint_part()
        n, m, many = system.n, system.m, len(self.directions)
        for number, block in enumerate(parts):
            tops = {}
            for i in block.rows:
                first = self.seed(2 * n + m + i, system.f[i], system.E[i, :])
                tops[i] = _minus(f"-({_sum(first, R[i], 'z')})", E[i], "d", block.columns)
            inner += self.solved(block, E, tops, places[number], "d", f"b{number}")
            inner += [f"out[{(n + j) * many} + q] = d{j}" for j in block.columns]
        return [*body, *derivatives, *prelude, *self.loop(inner)]

    def residual_derivatives(self, E: Rows) -> tuple[list[str], dict[int, dict[int, str]]]:
        """Return statements for (E y' - f)_y and (E y' - f)_p in the rows of E, and names of the first."""
        system = self.equations
        rates = {j: sp.Dummy(f"k{j}", real=True) for j in {j for row in E.values() for j in row}}
        more = {symbol: f"k{j}" for j, symbol in rates.items()}
        rows = {i: sum((system.E[i, j] * rates[j] for j in E[i]), sp.S.Zero) - system.f[i] for i in E}
        return self.entries(rows, "r", 2 * system.n + system.m, more)

    def entries(
        self, rows: Mapping[int, sp.Expr], letter: str, place: int, more: Mapping[sp.Symbol, str]
    ) -> tuple[list[str], dict[int, dict[int, str]]]:
        """Return statements for the derivatives of rows by states, and by parameters into `out`."""
        system, assignments = self.equations, []
        names: dict[int, dict[int, str]] = {}
        for i, row in rows.items():
            slopes = gradient(row)
            names[i] = {}
            for j, state in enumerate(system.states):
                if state in slopes:
                    entry = slopes[state]
                    names[i][j] = literal(entry) if entry.is_number else f"{letter}{i}_{j}"
                    assignments += [] if entry.is_number else [(names[i][j], entry)]
            for q, k in enumerate(self.directions):
                if k >= 0 and system.parameters[k] in slopes:
                    target = f"out[{(place + i) * len(self.directions) + q}]"
                    assignments.append((target, slopes[system.parameters[k]]))
        return self.lines(assignments, more, letter + "c"), names

    # --- algebraic components from g = 0

    def constraint_part(self) -> tuple[list[str], list[str]]:
        """Return what is done for a direction, and what is done before all of them."""
        system, many = self.equations, len(self.directions)
        parts = constraint_blocks(system, self.algebraic)
        prelude, G = self.entries(dict(enumerate(system.g)), "a", 2 * system.n, {})
        inner = [f"z{j} = out[{j * many} + q]" for j in range(system.n) if j not in self.algebraic]
        known = set(range(system.n)) - set(self.algebraic)
        for number, block in enumerate(parts):
            found, place = self.factored(block, G, f"g{number}")
            prelude += found
            known |= set(block.columns)
            tops = {}
            for i in block.rows:
                first = self.seed(2 * system.n + i, system.g[i])
                rest = {j: name for j, name in G[i].items() if j not in block.columns and j in known}
                tops[i] = f"-({_sum(first, rest, 'z')})"
            inner += self.solved(block, G, tops, place, "z", f"g{number}")
            inner += [f"out[{j * many} + q] = z{j}" for j in block.columns]
        return inner, prelude

    def seed(self, row: int, *parts: Any) -> str:
        """Return the text of the derivative by the parameter of this direction, empty if there is none."""
        symbols = set().union(*(sp.Matrix([part]).free_symbols for part in parts))
        moved = any(k >= 0 and self.equations.parameters[k] in symbols for k in self.directions)
        return f"out[{row * len(self.directions)} + q]" if moved else ""

    # --- blocks

    def factored(self, block: Block, entries: Rows, name: str) -> tuple[list[str], int]:
        """Return statements that factor a block, and where the factors stand."""
        k = len(block.rows)
        if k == 1:
            diagonal = entries[block.rows[0]][block.columns[0]]
            return [f"if {diagonal} == 0.0:", "    return -1", f"{name}i = 1.0/{diagonal}"], 0
        if k == 2:
            return factored_pair(block, entries, name), 0
        place = self.room(k * k + 4 * k)
        body = [
            f"work[{place + i * k + j}] = {entries[r].get(c, '0.0')}"
            for i, r in enumerate(block.rows)
            for j, c in enumerate(block.columns)
        ]
        n = self.equations.n
        body += [f"work[{place + k * k + k + j}] = floor[{n + c}]" for j, c in enumerate(block.columns)]
        return [*body, f"if decompose(work[{place}:], {k}) == 0.0:", "    return -1"], place

    def solved(
        self, block: Block, _: Rows, tops: Mapping[int, str], place: int, letter: str, name: str
    ) -> list[str]:
        """Return statements that solve a block for right-hand sides."""
        k = len(block.rows)
        if k == 1:
            return [f"{letter}{block.columns[0]} = ({tops[block.rows[0]]})*{name}i"]
        if k == 2:
            return solved_pair(block, tops, letter, name)
        right = place + k * k + 3 * k
        body = [f"work[{right + i}] = {tops[r]}" for i, r in enumerate(block.rows)]
        body.append(f"resolve(work[{place}:], {k}, work[{right}:])")
        return [*body, *(f"{letter}{c} = work[{right + i}]" for i, c in enumerate(block.columns))]

    def loop(self, inner: Sequence[str]) -> list[str]:
        """Return the statements for every direction."""
        return [f"for q in range({len(self.directions)}):", *(f"    {line}" for line in inner)]

    # --- y' and its derivatives from [E; g_y] y' = [f; -g_t]

    def stacked(self) -> list[str]:
        """Return the body for a general E: constraints differentiated once more take part."""
        system = self.equations
        n, m, many = system.n, system.m, len(self.directions)
        rows = nonzero(system.E)[0]
        rates = [sp.Dummy(f"k{j}", real=True) for j in range(n)]
        more = {symbol: f"k{j}" for j, symbol in enumerate(rates)}
        g_y, g_t = jacobian(system.g, system.states), list(system.g_t)
        whole = [[system.E[i, j] for j in range(n)] for i in rows] + g_y
        matrix = {
            i: {j: f"s{i}_{j}" for j, e in enumerate(row) if not is_zero(e)} for i, row in enumerate(whole)
        }
        entries = [(name, whole[i][j]) for i, row in matrix.items() for j, name in row.items()]
        right = [system.f[i] for i in rows] + [-e for e in g_t]
        entries += [(f"h{i}", e) for i, e in enumerate(right)]
        body = self.lines(entries, {}, "c")
        place = self.room(len(whole) * n + len(whole) + n)
        body += self.least(matrix, {i: f"h{i}" for i in matrix}, place, "k")
        body += [f"v[{j}] = k{j}" for j in range(n)]
        moving = {
            i: sum((e * rates[j] for j, e in enumerate(row) if not is_zero(e)), sp.S.Zero) - right[i]
            for i, row in enumerate(whole)
        }
        statements, R = self.entries(moving, "r", 2 * n + m, more)
        inner, prelude = self.constraint_part()
        tops = {i: f"-({_sum(self.seed(2 * n + m + i, moving[i]), R[i], 'z')})" for i in moving}
        inner += self.least(matrix, tops, place, "d")
        inner += [f"out[{(n + j) * many} + q] = d{j}" for j in range(n)]
        return [*body, *statements, *prelude, *self.loop(inner)]

    def least(self, matrix: Rows, tops: Mapping[int, str], place: int, letter: str) -> list[str]:
        """Return statements that solve the stacked system."""
        n, rows = self.equations.n, len(matrix)
        right, scratch = place + rows * n, place + rows * n + rows
        body = [f"for i in range({rows * n}):", f"    work[{place} + i] = 0.0"]
        body += [
            f"work[{place + i * n + j}] = {name}" for i, row in matrix.items() for j, name in row.items()
        ]
        body += [f"work[{right + i}] = {top}" for i, top in tops.items()]
        call = f"solve_stacked(work[{place}:], {rows}, {n}, work[{right}:], work[{scratch}:])"
        body += [f"if {call} == 0.0:", "    return -1"]
        return [*body, *(f"{letter}{j} = work[{right + j}]" for j in range(n))]


def _sum(first: str, entries: Mapping[int, str], letter: str) -> str:
    terms = [first] if first else []
    return " + ".join([*terms, *(f"{name}*{letter}{j}" for j, name in entries.items())]) or "0.0"


def _minus(first: str, entries: Mapping[int, str], letter: str, without: Sequence[int]) -> str:
    return " - ".join([first, *(f"{e}*{letter}{j}" for j, e in entries.items() if j not in without)])
