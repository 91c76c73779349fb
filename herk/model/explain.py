"""What regularize found, told to people: text, LaTeX, HTML."""

from __future__ import annotations

import html as markup
from typing import TYPE_CHECKING

import sympy as sp

from herk.model.findings import RegularizationError, Step
from herk.model.numbers import readable
from herk.model.written.formulas import symbols

if TYPE_CHECKING:
    from herk.model.model import Model
    from herk.model.regularize import Regularization


def text(found: Regularization) -> str:
    """Return the index, the constraints of each level and how they came about, line by line."""
    lines = [_headline(found)]
    for level in range(found.index):
        lines.append(f"Level {level}:")
        lines += [f"  {step.text()}" for step in found.trace if step.level == level]
    lines.append(_ending(found))
    lines += [f"Note: {note}" for note in _notes(found)]
    return "\n".join(lines)


def latex(found: Regularization) -> str:
    """Return the constraints as one aligned display."""
    names = symbols(found.model)
    rows = [
        rf"0 &= {sp.latex(readable(constraint), symbol_names=names)} && \text{{(level {level})}}"
        for level, constraints in enumerate(found.levels)
        for constraint in constraints
    ]
    return (
        r"$\displaystyle \begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}$"
        if rows
        else r"$\text{no constraints (index 0)}$"
    )


def html(found: Regularization) -> str:
    """Return a table of the constraints with how each was found."""
    names = symbols(found.model)
    rows = "".join(_html_row(step, names) for step in found.trace)
    table = (
        f"<table><thead><tr><th>level</th><th>constraint</th><th>from</th></tr></thead><tbody>{rows}</tbody></table>"
        if rows
        else ""
    )
    notes = "".join(f"<p>{markup.escape(note)}</p>" for note in _notes(found))
    return f"<p>{markup.escape(_headline(found))}</p>{table}<p>{markup.escape(_ending(found))}</p>{notes}"


def _html_row(step: Step, names: dict[sp.Symbol, str]) -> str:
    source = ", ".join([step.row, *(label for label, _ in step.combined)])
    cells = [str(step.level), f"$0 = {sp.latex(readable(step.constraint), symbol_names=names)}$", source]
    return (
        "<tr>"
        + "".join(f"<td style='text-align:left'>{markup.escape(cell)}</td>" for cell in cells)
        + "</tr>"
    )


def _notes(found: Regularization) -> tuple[str, ...]:
    """Return what is to be said beside: which derivatives had to become unknowns, how ranks were found."""
    return (*(found.model.notes if found.model.implicit else ()), *found.notes)


def _headline(found: Regularization) -> str:
    counts = [len(level) for level in found.levels]
    m = sum(counts)
    how_many = "no constraints" if not m else f"{m} constraint{'s' if m > 1 else ''}, per level {counts}"
    return (
        f"Model {found.model.name!r}: index {found.index}, strangeness index {found.strangeness_index},"
        f" {how_many}."
    )


def _ending(found: Regularization) -> str:
    if not found.index:
        return "E is non-singular: the model is an ordinary differential equation."
    last = found.index - 1
    return (
        f"With the derivatives of the constraints of level {last} the leading matrix is non-singular: the"
        f" index is {found.index}."
    )


def refuse_absent_states(model: Model) -> None:
    """Raise if a state occurs in no equation."""
    present = set(model.f.free_symbols) | set(model.E.free_symbols)
    moved = {j for row in model.leading for j in row}
    absent = [str(s) for j, s in enumerate(model.states) if s not in present and j not in moved]
    if absent:
        occurs = "occurs" if len(absent) == 1 else "occur"
        raise RegularizationError(
            f"Model {model.name!r} is structurally singular: {', '.join(absent)} {occurs} in no equation."
        )
