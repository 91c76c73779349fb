"""Where a model is not smooth: functions whose change of sign switches it, and the times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import sympy as sp
from scipy.optimize import brentq

from herk.core.dae import Array
from herk.model.deciding import distances
from herk.model.model import Model

SAMPLES = 4001  # of the span, to find changes of sign between them


@dataclass(frozen=True)
class Switch:
    """A switching function as text; `times` of its changes of sign; `timed`: it depends on time only."""

    function: str
    timed: bool
    times: tuple[float, ...]


def switches(model: Model, t: Array, y: Array) -> tuple[Switch, ...]:
    """Return every switch; those of the state are looked up along the trajectory (points x unknowns)."""
    system = model.numeric()
    found: dict[str, Switch] = {}
    for expression in (*system.f, *system.E):
        for function in _functions(expression):
            if function.free_symbols and str(function) not in found:
                found[str(function)] = _switch(model, function, t, y)
    return tuple(found.values())


def _functions(expression: sp.Expr) -> Iterator[sp.Expr]:
    yield from distances(expression)
    for atom in expression.atoms(sp.floor, sp.ceiling):
        yield sp.sin(sp.pi * atom.args[0])  # it changes its sign where the argument is whole


def _switch(model: Model, function: sp.Expr, t: Array, y: Array) -> Switch:
    value = sp.lambdify([model.t, *model.states], function, "numpy")
    timed = function.free_symbols <= {model.t}
    if timed:
        t = np.linspace(*model.t_span, SAMPLES)
        y = np.zeros((SAMPLES, model.n))
    values = np.broadcast_to(np.asarray(value(t, *y.T), dtype=float), t.shape)
    times = [
        _crossing(value, t[k], t[k + 1], y[k], y[k + 1], timed)
        for k in np.flatnonzero(np.diff(np.sign(values)))
    ]
    inside = sorted({float(time) for time in times if min(model.t_span) < time < max(model.t_span)})
    return Switch(
        str(function),
        timed,
        tuple(a for i, a in enumerate(inside) if i == 0 or a - inside[i - 1] > 1e-9 * abs(a)),
    )


def _crossing(value: object, a: float, b: float, ya: Array, yb: Array, timed: bool) -> float:
    """Return the time of a change of sign: exact if time decides, to a step of the trajectory else."""

    def along(t: float) -> float:
        return float(value(t, *(ya + (yb - ya) * (t - a) / (b - a))))  # type: ignore[operator]

    if along(a) == 0:
        return float(a)
    if along(b) == 0:
        return float(b)
    root = float(brentq(along, a, b, xtol=1e-15, rtol=8.9e-16)) if timed else float(brentq(along, a, b))
    short = float(f"{root:.12g}")  # as it is written in the model, most likely
    return short if abs(along(short)) <= abs(along(root)) else root
