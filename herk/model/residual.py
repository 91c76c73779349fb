"""The residual F(t, y, y') = E y' - f of a form and its Jacobian cj F_y' + F_y, compiled: what implicit solvers ask for."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from herk.model.store import load

if TYPE_CHECKING:
    from herk.model.equations import Equations

InPlace = Callable[..., None]

_HEADER = "from math import *\n\nfrom herk.core.jit import compiled\n"


def load_residual(key: str, equations: Callable[[], Equations]) -> tuple[InPlace, InPlace]:
    """Return `residual(t, y, v, out)` and `jacobian(t, y, v, cj, out)`, n x n by rows; `equations` is called if they are not stored."""
    module: ModuleType = load(f"residual_{key}", lambda: _text(equations()))
    return module.residual, module.jacobian


def _text(given: Equations) -> str:
    import sympy as sp

    from herk.model.code import prepared

    system, names = prepared(given)
    rates = [sp.Dummy(f"v{j}", real=True) for j in range(system.n)]
    cj = sp.Dummy("cj", real=True)
    product = list(system.E * sp.Matrix(rates))
    residual = [a - b for a, b in zip(product, system.f, strict=True)]
    jacobian = [cj * system.E[i, j] + sp.diff(row, s) for i, row in enumerate(residual) for j, s in enumerate(system.states)]
    texts = {**names, **{s: f"v{j}" for j, s in enumerate(rates)}, cj: "cj"}
    array = "float64[::1]"
    first = _function("residual", residual, texts, "t, y, v, out", f"float64, {array}, {array}, {array}")
    return _HEADER + first + _function("jacobian", jacobian, texts, "t, y, v, cj, out", f"float64, {array}, {array}, float64, {array}")


def _function(name: str, entries: list[Any], texts: dict[Any, str], arguments: str, types: str) -> str:
    from herk.model.code import lines

    used = sorted({texts[s] for e in entries for s in e.free_symbols} - {"t", "cj"})
    body = [f"{text} = {text[0]}[{text[1:]}]" for text in used]
    body += [f"for i in range({len(entries)}):", "    out[i] = 0.0"]
    body += lines([(f"out[{i}]", e) for i, e in enumerate(entries) if e != 0], texts, "c")
    return f'\n\n@compiled("void({types})")\ndef {name}({arguments}):\n' + "".join(f"    {line}\n" for line in [*body, "return"])
