"""What decides on the branches of a formula: functions whose signs say which one holds."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

DECIDING = (
    sp.core.relational.Relational, sp.sign, sp.Heaviside, sp.Abs, sp.Max, sp.Min, sp.floor, sp.ceiling,
)  # fmt: skip


def distances(part: sp.Basic) -> Iterator[sp.Expr]:
    """Yield the functions whose signs decide which branch of a formula holds."""
    for atom in part.atoms(*DECIDING):  # once: a large model is gone through
        if isinstance(atom, sp.core.relational.Relational):
            yield atom.lhs - atom.rhs
        elif isinstance(atom, (sp.floor, sp.ceiling)):
            yield sp.sin(sp.pi * atom.args[0])  # zero where it jumps
        elif isinstance(atom, (sp.Max, sp.Min)):
            yield from (first - second for i, first in enumerate(atom.args) for second in atom.args[:i])
        else:
            yield atom.args[0]


def deciding(part: sp.Basic) -> Iterator[tuple[sp.Expr, sp.Expr]]:
    """Yield these functions again with the formulas by pieces in which they decide."""
    for piece in part.atoms(sp.Piecewise, *DECIDING):
        by_pieces = isinstance(piece, sp.Piecewise)
        conditions = sp.Tuple(*(when for _, when in piece.args)) if by_pieces else piece
        if by_pieces or not isinstance(piece, (sp.core.relational.Relational, sp.floor, sp.ceiling)):
            yield from ((function, piece) for function in distances(conditions))
