"""Problems and solvers as records: what a reader of the report needs to know about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import baselines
from herk.bench import measure
from herk.bench.record import Record, plain
from herk.core import Problem

LONGEST = 3000  # characters of a formula that somebody may still read
MOST = 100  # formulas that somebody may still read
FIRST = 6  # of more, so many are shown


def solver(name: str) -> Record:
    """Return what a solver says of itself."""
    own = baselines.get(name)
    available, reason = own.available()
    version = str(getattr(own, "version", ""))
    about = {
        "family": own.family,
        "order": own.order,
        "adaptive": own.adaptive,
        "forms": list(own.forms),
        "tags": own.tags,
    }
    return {"solver": name, "version": version, **about, "available": available, "reason": reason}


def problem(own: Problem) -> Record:
    """Return equations, constraints and reference; index and levels only where there is a model."""
    counted = measure.levels(own)
    about = {
        "title": own.title,
        "source": own.source,
        "tags": own.tags,
        "groups": own.groups,
        "components": list(own.dae.names),
        "n": len(own.y0),
        "m": own.dae.m,
        "index": len(counted) or None,
        "levels": [len(rows) for rows in counted],
        "t_span": own.t_span,
    }
    return plain({**about, **_formulas(own), **_reference(own)})


def _formulas(own: Problem) -> Record:
    if own.model is None:
        return {"equations": [], "constraints": []}
    from sympy import latex

    from herk.model.index_reduction.regularize import regularize

    model = own.model
    equations = _first(range(model.n), lambda row: f"{_left(model, row)} = {latex(model.f[row])}")
    constraints = [_first(level, lambda each: f"0 = {latex(each)}") for level in regularize(model).levels]
    return {"equations": _short(equations), "constraints": [_short(level) for level in constraints]}


def _left(model: Any, row: int) -> str:
    """Return a row of E y' as LaTeX, factors before derivatives."""
    from sympy import latex

    terms = []
    for (_, column), entry in sorted(model.E[row, :].todok().items()):
        factor = latex(entry) if not entry.is_Add else f"\\left({latex(entry)}\\right)"
        factor = {1: "", -1: "-"}.get(entry, factor)
        terms.append(f"{factor} \\dot{{{latex(model.states[column])}}}".strip())
    return " + ".join(terms).replace("+ -", "- ") or "0"


def _first(given: Sequence[Any], written: Callable[[Any], str]) -> list[str]:
    """Return formulas as LaTeX; of very many the first, and how many follow."""
    if len(given) <= MOST:
        return [written(each) for each in given]
    rest = f"\\text{{and {len(given) - FIRST} more}}"
    return [*(written(each) for each in given[:FIRST]), rest]


def _short(formulas: Iterable[str]) -> list[str]:
    return [
        text if len(text) <= LONGEST else f"\\text{{(a formula of {len(text)} characters)}}"
        for text in formulas
    ]


def _reference(own: Problem) -> Record:
    known = own.reference
    if known is None:
        told = ("reference_digits", "reference_how", "reference_y")
        return dict.fromkeys((*told, "published_y", "published_digits", "published_note"))
    return {
        "reference_digits": known.digits,
        "reference_how": f"{known.source}; {known.how}" if known.how else known.source,
        "reference_y": known.y,
        "published_y": known.published,
        "published_digits": known.published_digits,
        "published_note": known.published_note,
    }
