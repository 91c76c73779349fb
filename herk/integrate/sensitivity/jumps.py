"""Where one segment of a run ends and the next begins: how sensitivities jump there.

With tau = dt*/dp, t* the time of the jump, the state before it changes by S + y' tau, a reset maps that,
and what follows is S+ = D - y'+ tau, where D is the change of the new start on the constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from herk.core import HerkError, Reason
from herk.core.dae import Array
from herk.integrate.impulses import acted
from herk.integrate.options import Request
from herk.integrate.run import Run
from herk.integrate.sensitivity.directions import Directions
from herk.integrate.sensitivity.start import Place, constraints_by_parameters, onto_constraints
from herk.model.evaluate import linearise
from herk.model.forms.forms import rates

INCREMENT = 6e-6  # relative, of central differences of a user's functions
SMALL = 1e-3  # size below which a component counts as this large
NEAR = 1e-9  # of the span: how far the zero of a switching function may be from a breakpoint


def across(
    asked: Request, before: Run, after: Run, S: Array, directions: Directions, last: Array
) -> tuple[Array, Array]:
    """Return S behind the jump between two segments, and how its time moves.

    `directions` are those of the segment behind it; `last` is how the time of the jump before this one moves.
    """
    n, dae = asked.dae.n, after.request.dae
    (t, y), t_new, y_new = before.output.last, after.request.t0, after.y0
    if acted(after.request, after.least, y_new):
        words = "an impulse makes unknowns jump through E: behind it sensitivities are not known"
        raise HerkError(f"At t = {t!r} {words}.")
    S, slope, slope_new = S[:n], rates(before.request.dae, t, y)[:n], rates(dae, t_new, y_new)
    tau, reset = _passed(asked, before, t_new, S, slope, directions)
    if before.watch is not None and before.watch.by_jump:
        tau = last
    moved = np.zeros((dae.n, directions.many))
    moved[:n] = S + np.outer(slope, tau)
    if reset is not None:
        by_state, by_time = _differences(reset, t, y[:n])
        moved[:n] = by_state @ moved[:n] + np.outer(by_time, tau)
    offset = constraints_by_parameters(dae, t_new, y_new, directions)
    if dae.m:
        offset = offset + np.outer(linearise(dae, t_new, y_new).g_t, tau)
    place = Place(dae, t_new, y_new, y_new, (), directions.modes)
    return onto_constraints(place, moved, offset, directions.names) - np.outer(slope_new, tau), tau


def _passed(
    asked: Request, before: Run, t_new: float, S: Array, slope: Array, directions: Directions
) -> tuple[Array, Callable[..., Any] | None]:
    """Return how the time of the jump moves, and the reset that is made there."""
    t, y = before.output.last
    if before.reason is not Reason.EVENT:
        return _moving(asked, 0.5 * (t + t_new), directions), None
    assert before.watch is not None
    assert before.watch.ended is not None
    own, ended, y = asked.events or (), before.watch.ended, y[: asked.dae.n]
    if ended < len(own):
        event: Any = own[ended]
        (e_y,), (e_t,) = _differences(lambda time, state: [event(time, state)], t, y)
        return _crossing(t, e_y @ S, float(e_y @ slope + e_t)), event.reset
    assert asked.switches is not None
    e_t, e_y, e_p = _condition(asked, ended - len(own), t, y, directions)
    return _crossing(t, e_y @ S + e_p, float(e_y @ slope + e_t)), None


def _crossing(t: float, change: Array, speed: float) -> Array:
    """Return how the time of an event moves: e_y (S + y' tau) + e_t tau + e_p = 0."""
    if speed == 0.0:
        raise HerkError(f"The event at t = {t!r} is touched, not crossed: its time has no derivative there.")
    return -change / speed


def _condition(
    asked: Request, which: int, t: float, y: Array, directions: Directions
) -> tuple[float, Array, Array]:
    """Return the derivatives of a condition of the model by time, by the state and by what is varied."""
    model: Any = asked.dae.model  # type: ignore[attr-defined]
    assert asked.switches is not None
    label = asked.switches.events[which].label  # type: ignore[attr-defined]
    function = next(each for each in model.conditions if sp.sstr(each) == label)
    slopes = _gradient(function, model.t, tuple(model.states), tuple(model.parameters))
    by_time, *others = slopes(t, y, tuple(model.parameters.values()))
    by_name = dict(zip((p.name for p in model.parameters), others[y.size :], strict=True))
    return by_time, np.array(others[: y.size]), np.array([by_name.get(q, 0.0) for q in directions.names])


@lru_cache(maxsize=64)
def _gradient(
    function: sp.Expr, t: sp.Symbol, states: tuple[sp.Symbol, ...], parameters: tuple[sp.Symbol, ...]
) -> Callable[..., list[float]]:
    """Return the derivatives of a condition as a function of (t, y, values of parameters)."""
    slopes = [function.diff(each).replace(sp.DiracDelta, lambda *_: 0) for each in (t, *states, *parameters)]
    return sp.lambdify([t, states, parameters], slopes, ["scipy", "numpy"])  # type: ignore[no-any-return]


def _moving(asked: Request, t: float, directions: Directions) -> Array:
    """Return how a breakpoint moves with the parameters: s_p + s_t tau = 0 for its switching function s."""
    model: Any = getattr(asked.dae, "model", None)
    tau = np.zeros(directions.many)
    near = NEAR * abs(asked.t1 - asked.t0)
    values = {} if model is None else {**model.parameters, model.t: t}
    for function, _ in () if model is None else model.in_time.switching:
        slope = float(function.diff(model.t).evalf(subs=values))
        if slope and abs(float(function.evalf(subs=values)) / slope) <= near:
            symbols = {p.name: p for p in model.parameters}
            for q, name in enumerate(directions.names):
                if name in symbols:
                    tau[q] = -float(function.diff(symbols[name]).evalf(subs=values)) / slope
            return tau
    return tau


def _differences(function: Callable[..., Any], t: float, y: Array) -> tuple[Array, Array]:
    """Return the derivatives of a user's function of (t, y) by central differences."""

    def value(time: float, state: Array) -> Array:
        return np.array(function(time, state), dtype=float)

    columns = []
    for j in range(y.size):
        high, low = y.copy(), y.copy()
        high[j] += INCREMENT * (abs(y[j]) + SMALL)
        low[j] -= INCREMENT * (abs(y[j]) + SMALL)
        columns.append((value(t, high) - value(t, low)) / (high[j] - low[j]))
    later, earlier = t + INCREMENT * (abs(t) + 1.0), t - INCREMENT * (abs(t) + 1.0)
    return np.stack(columns, axis=-1), (value(later, y) - value(earlier, y)) / (later - earlier)
