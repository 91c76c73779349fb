"""Equations of a model as formulas for people: LaTeX, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

if TYPE_CHECKING:
    from herk.model.model import Model

MOST = 40  # rows; a notebook shows no more of a large model


def latex(model: Model) -> str:
    """Return E y' = f row by row, zero rows as 0 = f."""
    dots = [sp.Symbol(rf"\dot{{{sp.latex(state)}}}") for state in model.states]
    lines = []
    for i in range(min(model.n, MOST)):
        left = sp.Add(*(model.E[i, j] * dots[j] for j in range(model.n)))
        lines.append(f"{sp.latex(left)} &= {sp.latex(model.f[i])}")
    if model.n > MOST:
        lines.append(rf"&\ldots \text{{ {model.n - MOST} more rows}}")
    return r"$\displaystyle \begin{aligned} " + r" \\ ".join(lines) + r" \end{aligned}$"
