"""Where one segment of a run ends and the next begins: how sensitivities jump there.

With tau = dt*/dp, t* the time of the jump, the state before it changes by S + y' tau, a reset maps that,
and what follows is S+ = D - y'+ tau, where D is the change of the new start on the constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from herk.core import HerkError, Reason
from herk.core.dae import Array
from herk.integrate.options import Request
from herk.integrate.run import Run
from herk.integrate.sensitivity.directions import Directions
from herk.integrate.sensitivity.start import constraints_by_parameters, onto_constraints
from herk.model.evaluate import linearise
from herk.model.forms.forms import rates

INCREMENT = 6e-6  # relative, of central differences of a user's functions
SMALL = 1e-3  # size below which a component counts as this large
NEAR = 1e-9  # of the span: how far the zero of a switching function may be from a breakpoint


def across(asked: Request, before: Run, after: Run, S: Array, directions: Directions) -> Array:
    """Return S behind the jump between two segments."""
    dae = asked.dae
    t, y = before.output.last
    y_new, t_new = after.y0, after.request.t0
    slope, slope_new = rates(dae, t, y), rates(dae, t_new, y_new)
    reset: Callable[..., Any] | None = None
    if before.reason is Reason.EVENT:
        assert before.watch is not None
        assert before.watch.ended is not None
        assert asked.events is not None
        event = asked.events[before.watch.ended]
        reset = event.reset  # type: ignore[attr-defined]
        tau = _crossing(event, t, y, slope, S)
    else:
        tau = _moving(asked, 0.5 * (t + t_new), directions)
    moved = S + np.outer(slope, tau)
    if reset is not None:
        by_state, by_time = _differences(reset, t, y)
        moved = by_state @ moved + np.outer(by_time, tau)
    offset = constraints_by_parameters(dae, t_new, y_new, directions)
    if dae.m:
        offset = offset + np.outer(linearise(dae, t_new, y_new).g_t, tau)
    return onto_constraints(dae, t_new, y_new, moved, offset, []) - np.outer(slope_new, tau)


def _crossing(event: Callable[..., Any], t: float, y: Array, slope: Array, S: Array) -> Array:
    """Return how the time of an event moves: e_y (S + y' tau) + e_t tau = 0."""
    by_state, by_time = _differences(lambda time, state: [event(time, state)], t, y)
    speed = float(by_state[0] @ slope + by_time[0])
    if speed == 0.0:
        raise HerkError(f"The event at t = {t!r} is touched, not crossed: its time has no derivative there.")
    return np.asarray(-(by_state[0] @ S) / speed)


def _moving(asked: Request, t: float, directions: Directions) -> Array:
    """Return how a breakpoint moves with the parameters: s_p + s_t tau = 0 for its switching function s."""
    model: Any = getattr(asked.dae, "model", None)
    tau = np.zeros(directions.many)
    near = NEAR * abs(asked.t1 - asked.t0)
    values = {} if model is None else {**model.parameters, model.t: t}
    for function in () if model is None else model.switching_functions:
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
