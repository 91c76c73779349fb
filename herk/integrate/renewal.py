"""Constraints that become singular on the way only by how they were combined: combined anew there.

Hidden constraints are rows of E y' = f combined with factors, and a factor divides by a pivot that is good at
the start. Where it vanishes later, the constraints found are singular though the model is not. An analysis at
that point takes other pivots; the run goes back to where the old ones were still good, and on with the new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from herk.core import HerkError, Reason
from herk.core.dae import Array
from herk.linalg.sparse_rank import least_singular
from herk.model.forms.forms import Form, analysed_at, analysis
from herk.model.index_reduction.clock import within
from herk.model.index_reduction.division import below, beyond
from herk.model.index_reduction.structural.trace import Trace
from herk.model.large_start import is_finite, slopes
from herk.model.roots import roots

if TYPE_CHECKING:
    from herk.integrate.run import Run
    from herk.model.model import Model

ENDS = (Reason.SINGULAR, Reason.NEWTON, Reason.NONFINITE, Reason.STEP_UNDERFLOW)
BACK = 0.05  # of the way made: rounding errors that grow with the inverse of the distance are small there
FALLEN = 0.2  # of how regular g_y was at the start: if it is no less, the constraints are not the trouble
LATEST = 4  # points, the last ones of a run, between which it may have passed a zero
LONGEST = 30.0  # seconds for an analysis of a large model whose structure does not decide there
BETTER = 10.0  # times more regular is what is worth a change


def renewed(run: Run) -> tuple[float, Form] | None:
    """Return the time to go back to, and the form to go on with; None if this end is the end."""
    return better(run) if run.reason in ENDS else None


def better(run: Run) -> tuple[float, Form] | None:
    """Return from where on, and in which form, constraints are less singular than where a run stands."""
    dae, asked = run.request.dae, run.request
    t, y = run.output.last
    if not isinstance(dae, Form) or dae.form != "overdetermined" or t == asked.t0 or not may_divide(dae):
        return None
    sizes = np.maximum(np.maximum(np.abs(run.y0), np.abs(y)), asked.atol / asked.rtol)
    with np.errstate(all="ignore"):
        track = run.output.track
        latest = track.t[-LATEST:], track.y[-LATEST:]
        points = np.append(asked.t0, latest[0]), np.vstack([run.y0, latest[1]])
        now = regularity(dae, t, y, sizes) * left(dae, *points)
        if now > FALLEN * regularity(dae, asked.t0, run.y0, sizes):
            return None
        below_them = pivots(dae, *points)
        zeros = [(time, y) for time in zeros_around(dae.model, below_them, t, (asked.t0, asked.t1))]
        passed = zeros_passed(dae.model, below_them, *latest)
        for time, there in ((t, y), *zeros, *passed):
            # Points are looked at between this time and the far end of the span: one of them is far enough.
            far = max(
                (asked.t0, asked.t1), key=lambda end: abs(end - time) * (1.0 if end == asked.t0 else 10.0)
            )
            other = _combined(dae, time, far, there)
            if other is None:
                continue
            if regularity(other, t, y, sizes) * left(other, *points) > BETTER * now:
                return t - BACK * (t - asked.t0), other
    return None


def note(t: float) -> str:
    """Return what a user is told about a change."""
    return f"From t = {t:.6g} on, the constraints are combined differently: before, they divide by zero."


def _combined(dae: Form, t: float, far: float, y: Array) -> Form | None:
    """Return the form with constraints combined as is best at this time; None if they are those there are."""
    model = dae.model.with_start([float(value) for value in y]).with_span(t_end=far, t0=t)
    try:
        with within(LONGEST if dae.large else None):
            found = analysed_at(model)
    except HerkError:
        return None
    same = set(analysis(model).constraints) == set(analysis(dae.model).constraints)
    return None if same else found


def zeros_around(model: Model, pivots: set[sp.Expr], t: float, ends: tuple[float, float]) -> list[float]:
    """Return the times next to this one at which a factor of the combinations divides by zero.

    Behind as well as ahead: with few large steps a run may fail just after it has passed the zero, and a
    zero soon after the end is felt before it.
    """
    far = beyond(ends)[1], ends[0]
    sides = (roots(pivots, model.t, (t, end), model.parameters) for end in far if end != t)
    others = ([time for time in side if time != t] for side in sides)
    return [min(times, key=lambda time: abs(time - t)) for times in others if times]


def zeros_passed(model: Model, pivots: set[sp.Expr], t: Array, y: Array) -> Iterator[tuple[float, Array]]:
    """Return points between these, the last first, where a factor divides by zero by its unknowns."""
    from scipy.optimize import brentq

    states, points = set(model.states), np.column_stack([t, y])
    moved = [pivot for pivot in pivots if pivot.free_symbols & states]
    for pivot in sorted(moved, key=sp.default_sort_key):
        value = _at_points(model, pivot)
        sizes = np.array([value(point) for point in points], dtype=float)
        for k in np.flatnonzero(sizes[1:] * sizes[:-1] < 0.0)[::-1]:
            one, way = points[k], points[k + 1] - points[k]
            share = brentq(lambda part, f=value, a=one, b=way: f(a + part * b), 0.0, 1.0, xtol=1e-15)
            zero = one + share * way
            yield float(zero[0]), zero[1:]


def _at_points(model: Model, expr: sp.Expr) -> Callable[[Array], float]:
    """Return an expression as a function of time and states in one vector."""
    variables = [model.t, *model.states]
    own = [k for k, variable in enumerate(variables) if variable in expr.free_symbols]
    value = sp.lambdify(
        [variables[k] for k in own], expr.xreplace(dict(model.parameters)), ["scipy", "numpy"]
    )
    return lambda point: value(*point[own])


def may_divide(dae: Form) -> bool:
    """Tell whether something that constraints were divided by may vanish on the way.

    Of large models this is known, and mostly there is nothing.
    """
    found = analysis(dae.model).trace
    return not isinstance(found, Trace) or bool(found.divisors.moving)


def left(dae: Form, t: Array, y: Array) -> float:
    """Return what is left, at the last of these points, of what constraints were divided by.

    At a pole nothing is, although the constraints, in units of their sizes, are as regular as ever. Small
    models are written without poles wherever that can be done.
    """
    found = analysis(dae.model).trace
    return found.divisors.left(dae.model.values, t, y) if isinstance(found, Trace) else 1.0


def pivots(dae: Form, t: Array, y: Array) -> set[sp.Expr]:
    """Return what factors of the combinations divide by; of many, what is nearest to zero at the points."""
    model, found = dae.model, analysis(dae.model).trace
    if isinstance(found, Trace):
        divided = [1 / each for each in found.divisors.nearest_zero(model.values, t, y)]
    else:
        divided = [factor for step in found for _, factor in step.combined]
    return below(divided, {model.t, *model.states})


def regularity(dae: Form, t: float, y: Array, sizes: Array) -> float:
    """Return the smallest singular value of g_y, columns in the sizes of the unknowns, rows of size one."""
    try:
        here = slopes(dae, t, y)
    except HerkError:
        return 0.0
    if not dae.m or not is_finite(here):
        return 0.0
    if dae.large:
        return least_singular(here.multiply(sizes[None, :]))
    scaled = here * sizes
    tops = np.abs(scaled).max(axis=1, keepdims=True, initial=0.0)
    if not np.isfinite(scaled).all() or not tops.all():
        return 0.0
    return float(np.linalg.svd(scaled / tops, compute_uv=False)[-1])
