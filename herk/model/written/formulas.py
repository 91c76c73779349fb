"""Equations of a model for people: as text in a terminal, as LaTeX in a notebook, one row each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import sympy as sp

from herk.codegen.numbers import readable
from herk.model.written.jets import Jet
from herk.model.written.start import derivatives

if TYPE_CHECKING:
    from herk.model.model import Model

MOST_LINES, MOST_FORMULAS, WIDTH = 12, 40, 110  # more of a large model helps nobody
DOTS = ("{}", r"\dot{{{}}}", r"\ddot{{{}}}", r"\dddot{{{}}}", r"\ddddot{{{}}}")
MULTIPLIER = re.compile(r"lam(?=\d|_|$)")  # lambda is a word of Python, lam the name people take


def text(model: Model) -> str:
    """Return E y' = f row by row as one would type it, then parameters and start."""
    lines = [f"Model {model.name!r}"]
    for i in range(min(model.n, MOST_LINES)):
        terms = [_times(_typed(entry), f"{model.names[j]}'", "*") for j, entry in model.leading[i].items()]
        line = f"  {_sum(terms)} = {_typed(model.f[i])}"
        lines.append(line if len(line) <= WIDTH else line[: WIDTH - 4] + " ...")
    if model.n > MOST_LINES:
        lines.append(f"  ... {model.n - MOST_LINES} more rows")
    start = list(zip(model.names, model.y0, strict=True))
    words = {
        "span": [f"t = {model.t_span[0]:.6g} to {model.t_span[1]:.6g}"],
        "parameters": [f"{symbol.name} = {value:.6g}" for symbol, value in model.parameters.items()],
        "start": [f"{name} = {value:.6g}" for name, value in start if value is not None],
        "computed": [name for name, value in start if value is None],
    }
    for title, listed in words.items():
        if listed:
            more = ", ..." if len(listed) > MOST_LINES else ""
            lines.append(f"  {title}: {', '.join(listed[:MOST_LINES])}{more}")
    return "\n".join(lines)


def latex(model: Model) -> str:
    """Return E y' = f row by row, zero rows as 0 = f, without those that only give x' a name."""
    names, rows = symbols(model), []

    def formula(of: sp.Expr) -> str:
        return str(sp.latex(readable(of), symbol_names=names))

    dots = [_dotted(Jet(jet.name, jet.order + 1)) for jet in _jets(model)]
    for row, rhs in zip(model.leading, model.f, strict=True):
        terms = [_times(formula(entry), dots[j], " ") for j, entry in row.items()]
        left, right = _sum(terms), formula(rhs)
        if left != right:
            rows.append(f"{left} &= {right}")
    if len(rows) > MOST_FORMULAS:
        rows[MOST_FORMULAS:] = [rf"&\ldots \text{{ {len(rows) - MOST_FORMULAS} more rows}}"]
    return r"$\displaystyle \begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}$"


def symbols(model: Model) -> dict[sp.Symbol, str]:
    """Return how states and parameters are written: a state that is only a name for x' as that."""
    shown = {parameter: _letter(parameter.name) for parameter in model.parameters}
    return shown | {state: _dotted(jet) for state, jet in zip(model.states, _jets(model), strict=True)}


def _jets(model: Model) -> list[Jet]:
    """Return what each state is: x, or x' where its name is dx and a row says so."""
    found = [Jet(name) for name in model.names]
    for jet, at in derivatives(model).items():
        if model.names[at] == jet.state and jet.order + 1 < len(DOTS):
            found[at] = jet
    return found


def _dotted(jet: Jet) -> str:
    return DOTS[jet.order].format(_letter(jet.name))


def _letter(name: str) -> str:
    """Return a name in LaTeX; several letters that are no Greek one are one word."""
    written = sp.latex(sp.Symbol(MULTIPLIER.sub("lambda", name)))
    word = re.match(r"[A-Za-z]{2,}", written)
    return written if word is None else rf"\mathrm{{{word[0]}}}{written[word.end() :]}"


def _typed(formula: sp.Expr) -> str:
    return str(sp.sstr(readable(formula), full_prec=False))


def _sum(terms: list[str]) -> str:
    return " + ".join(terms).replace("+ -", "- ").replace("-  ", "- ") or "0"


def _times(factor: str, of: str, sign: str) -> str:
    """Return a product as text; no factor of one, sums in brackets."""
    if factor in ("1", "-1"):
        return of if factor == "1" else f"-{of}"
    summed = re.search(r"(?<=.)\s[+-]\s", factor) is not None
    return f"({factor}){sign}{of}" if summed else f"{factor}{sign}{of}"
