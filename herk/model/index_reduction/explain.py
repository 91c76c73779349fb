"""What regularize found, told to people: text, LaTeX, HTML."""

from __future__ import annotations

import html as markup
from typing import TYPE_CHECKING

import sympy as sp

from herk.codegen.equations import filled
from herk.codegen.numbers import readable
from herk.model.index_reduction.findings import RegularizationError, Step
from herk.model.written.formulas import symbols

MOST, FEW = 40, 3  # constraints of a level that are all shown; of more, the first few

if TYPE_CHECKING:
    from herk.model.index_reduction.regularize import Regularization
    from herk.model.model import Model


def text(found: Regularization) -> str:
    """Return the index, the constraints of each level and how they came about, line by line."""
    lines = [_headline(found), *([found.way] if found.way else [])]
    first = 0
    for level, count in enumerate(found.counts):
        lines.append(f"Level {level}:")
        lines += [f"  {step.text()}" for step in _first(found, first, count)]
        if count > MOST:
            lines.append(f"  ... {count - FEW} more of this level")
        first += count
    lines.append(_ending(found))
    lines += [f"Note: {note}" for note in _notes(found)]
    return "\n".join(lines)


def _first(found: Regularization, first: int, count: int) -> list[Step]:
    """Return the steps of a level, of many only the first few; levels follow each other."""
    return list(found.trace[first : first + (FEW if count > MOST else count)])


def _shown(found: Regularization) -> list[Step | str]:
    """Return the steps to show, with a word in place of those left out."""
    shown: list[Step | str] = []
    first = 0
    for level, count in enumerate(found.counts):
        shown += _first(found, first, count)
        shown += [f"{count - FEW} more of level {level}"] if count > MOST else []
        first += count
    return shown


def latex(found: Regularization) -> str:
    """Return the constraints as one aligned display."""
    names = symbols(found.model)
    rows = [
        rf"&\ldots && \text{{({step})}}"
        if isinstance(step, str)
        else rf"0 &= {_formula(step, names)} && \text{{(level {step.level})}}"
        for step in _shown(found)
    ]
    return (
        r"$\displaystyle \begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}$"
        if rows
        else r"$\text{no constraints (index 0)}$"
    )


def html(found: Regularization) -> str:
    """Return a table of the constraints with how each was found."""
    names = symbols(found.model)
    rows = "".join(_html_row(step, names) for step in _shown(found))
    table = (
        f"<table><thead><tr><th>level</th><th>constraint</th><th>from</th></tr></thead><tbody>{rows}</tbody></table>"
        if rows
        else ""
    )
    told = [found.way] if found.way else []
    notes = "".join(f"<p>{markup.escape(note)}</p>" for note in (*told, *_notes(found)))
    return f"<p>{markup.escape(_headline(found))}</p>{table}<p>{markup.escape(_ending(found))}</p>{notes}"


def _formula(step: Step, names: dict[sp.Symbol, str]) -> str:
    return str(sp.latex(readable(step.constraint), symbol_names=names))


def _html_row(step: Step | str, names: dict[sp.Symbol, str]) -> str:
    if isinstance(step, str):
        return f"<tr><td colspan='3'>... {markup.escape(step)}</td></tr>"
    source = ", ".join([step.row, *step.sources])
    cells = [str(step.level), f"$0 = {_formula(step, names)}$", source]
    return (
        "<tr>"
        + "".join(f"<td style='text-align:left'>{markup.escape(cell)}</td>" for cell in cells)
        + "</tr>"
    )


def _notes(found: Regularization) -> tuple[str, ...]:
    """Return what is to be said beside: which derivatives had to become unknowns, how ranks were found."""
    return (*(found.model.notes if found.model.implicit else ()), *found.notes)


def _headline(found: Regularization) -> str:
    counts = found.counts
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
    present = set(model.f.free_symbols) | set(filled(model.E).free_symbols)
    moved = {j for row in model.leading for j in row}
    absent = [str(s) for j, s in enumerate(model.states) if s not in present and j not in moved]
    if absent:
        occurs = "occurs" if len(absent) == 1 else "occur"
        raise RegularizationError(
            f"Model {model.name!r} is structurally singular: {', '.join(absent)} {occurs} in no equation."
        )
