"""Texts of the functions of a system: f, g, E and the derivatives of g; derivatives of f.

The residual of the implicit system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy as sp

from herk.codegen.block_form import jacobian
from herk.codegen.code import lines, prepared
from herk.codegen.equations import Equations

Texts = Mapping[sp.Symbol, str]


def functions_text(given: Equations) -> str:
    """Return f, g, E, jac_g and g_t as functions (t, y, par, out), matrices by rows."""
    system, texts = prepared(given)
    jac_g = [e for row in jacobian(system.g, system.states) for e in row]
    contents = {"f": system.f, "g": system.g, "E": system.E, "jac_g": jac_g, "g_t": system.g_t}
    return "\n".join(
        function_text(name, list(entries), texts, "t, y, par, out") for name, entries in contents.items()
    )


def derivatives_text(given: Equations) -> str:
    """Return jac_f(t, y, par, out) = f_y and jac_Ey(t, y, v, par, out) = (E v)_y."""
    system, texts = prepared(given)
    rates, more = _rates(system)
    jac_f, product = (
        [e for row in jacobian(rows, system.states) for e in row]
        for rows in (system.f, system.E * sp.Matrix(rates))
    )
    first = function_text("jac_f", jac_f, texts, "t, y, par, out")
    return first + "\n" + function_text("jac_Ey", product, {**texts, **more}, "t, y, v, par, out")


def residual_text(given: Equations, *, constrained: bool = False) -> str:
    """Return two functions in text: the residual E v - f, if asked for with g behind it, and its Jacobian.

    residual(t, y, v, par, out) = E v - f and jacobian(t, y, v, cj, par, out) = cj E + (E v - f)_y. Functions
    that f and g share are then evaluated once.
    """
    system, texts = prepared(given)
    rates, more = _rates(system)
    cj = sp.Dummy("cj", real=True)
    residual = [a - b for a, b in zip(system.E * sp.Matrix(rates), system.f, strict=True)]
    moved = jacobian(residual, system.states)
    shifted = [cj * system.E[i, j] + moved[i][j] for i in range(system.n) for j in range(system.n)]
    names = {**texts, **more, cj: "cj"}
    rows = [*residual, *system.g] if constrained else residual
    first = function_text("residual", rows, names, "t, y, v, par, out")
    return first + "\n" + function_text("jacobian", shifted, names, "t, y, v, cj, par, out")


def _rates(system: Equations) -> tuple[list[sp.Symbol], dict[sp.Symbol, str]]:
    rates = [sp.Dummy(f"v{j}", real=True) for j in range(system.n)]
    return rates, {s: f"v{j}" for j, s in enumerate(rates)}


def function_text(name: str, entries: Sequence[sp.Expr], texts: Texts, arguments: str) -> str:
    """Return a function that writes the entries into `out`, zeros by a loop if there are many."""
    used = {texts[s] for e in entries for s in e.free_symbols} - {"t", "cj"}
    body = [f"{text} = {_place(text)}" for text in sorted(used)]
    zeros = [i for i, e in enumerate(entries) if e == 0]
    many = len(zeros) > 32
    body += (
        [f"for i in range({len(entries)}):", "    out[i] = 0.0"]
        if many
        else [f"out[{i}] = 0.0" for i in zeros]
    )
    body += lines([(f"out[{i}]", e) for i, e in enumerate(entries) if e != 0], texts, "c")
    text = "".join(f"    {line}\n" for line in [*body, "return"])
    return f"def {name}({arguments}):\n{text}"


def _place(text: str) -> str:
    return f"par[{text[4:]}]" if text.startswith("par_") else f"{text[0]}[{text[1:]}]"
