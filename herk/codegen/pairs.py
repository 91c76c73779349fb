"""Text that factors and solves blocks of two rows, every number in a local variable."""

from __future__ import annotations

from collections.abc import Mapping

from herk.codegen.block_form import Block

Rows = Mapping[int, Mapping[int, str]]  # names of entries that are not zero, by row and column


def factored_pair(block: Block, entries: Rows, name: str) -> list[str]:
    """Return statements that factor a block of two rows, the one with the larger first entry on top."""
    rows = [[entries[r].get(c, "0.0") for c in block.columns] for r in block.rows]
    body = [f"{name}e{i}{j} = {rows[i][j]}" for i in (0, 1) for j in (0, 1)]
    body += [f"{name}s = abs({name}e10) > abs({name}e00)", f"if {name}s:"]
    body += [f"    {name}e0{j}, {name}e1{j} = {name}e1{j}, {name}e0{j}" for j in (0, 1)]
    body += [
        f"if {name}e00 == 0.0:",
        "    return -1",
        f"{name}i = 1.0/{name}e00",
        f"{name}m = {name}e10*{name}i",
    ]
    body += [f"{name}p = {name}e11 - {name}m*{name}e01", f"if {name}p == 0.0:", "    return -1"]
    return [*body, f"{name}j = 1.0/{name}p"]


def solved_pair(block: Block, tops: Mapping[int, str], letter: str, name: str) -> list[str]:
    """Return statements that solve a factored block of two rows."""
    (r, s), (b, c) = block.rows, (f"{letter}{j}" for j in block.columns)
    body = [f"{name}a = {tops[r]}", f"{name}b = {tops[s]}", f"if {name}s:"]
    body += [f"    {name}a, {name}b = {name}b, {name}a"]
    return [*body, f"{c} = ({name}b - {name}m*{name}a)*{name}j", f"{b} = ({name}a - {name}e01*{c})*{name}i"]
