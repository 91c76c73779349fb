"""Constraints that become singular on the way only by how they were combined: combined anew there.

Hidden constraints are rows of E y' = f combined with factors, and a factor divides by a pivot that is good at
the start. Where it vanishes later, the constraints found are singular though the model is not. An analysis at
that point takes other pivots; the run goes back to where the old ones were still good, and on with the new.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from herk.core import HerkError, Reason
from herk.core.dae import Array
from herk.model.evaluate import jacobian
from herk.model.forms.forms import Form, analysed_at, analysis
from herk.model.index_reduction.division import below, beyond
from herk.model.roots import roots

if TYPE_CHECKING:
    from herk.integrate.run import Run

ENDS = (Reason.SINGULAR, Reason.NEWTON, Reason.NONFINITE, Reason.STEP_UNDERFLOW)
BACK = 0.05  # of the way made: rounding errors that grow with the inverse of the distance are small there
FALLEN = 0.2  # of how regular g_y was at the start: if it is no less, the constraints are not the trouble
LATEST = 4  # points, the last ones of a run, between which it may have passed a zero
BETTER = 10.0  # times more regular is what is worth a change


def renewed(run: Run) -> tuple[float, Form] | None:
    """Return the time to go back to, and the form to go on with; None if this end is the end."""
    return better(run) if run.reason in ENDS else None


def better(run: Run) -> tuple[float, Form] | None:
    """Return from where on, and in which form, constraints are less singular than where a run stands."""
    dae, asked = run.request.dae, run.request
    t, y = run.output.last
    if not isinstance(dae, Form) or dae.form != "overdetermined" or t == asked.t0:
        return None
    if dae.large:  # factors of a large model come from E alone, and dense matrices would be too large
        return None
    sizes = np.maximum(np.maximum(np.abs(run.y0), np.abs(y)), asked.atol / asked.rtol)
    with np.errstate(all="ignore"):
        now = regularity(dae, t, y, sizes)
        if now > FALLEN * regularity(dae, asked.t0, run.y0, sizes):
            return None
        zeros = [(time, y) for time in zeros_around(dae, t, asked.t0, asked.t1)]
        passed = zeros_passed(dae, run.output.track.t[-LATEST:], run.output.track.y[-LATEST:])
        for time, there in ((t, y), *zeros, *passed):
            # Points are looked at between this time and the far end of the span: one of them is far enough.
            far = max(
                (asked.t0, asked.t1), key=lambda end: abs(end - time) * (1.0 if end == asked.t0 else 10.0)
            )
            other = _combined(dae, time, far, there)
            if other is not None and regularity(other, t, y, sizes) > BETTER * now:
                return t - BACK * (t - asked.t0), other
    return None


def note(t: float) -> str:
    """Return what a user is told about a change."""
    return f"From t = {t:.6g} on, the constraints are combined differently: before, they divide by zero."


def _combined(dae: Form, t: float, far: float, y: Array) -> Form | None:
    """Return the form with constraints combined as is best at this time; None if they are those there are."""
    model = dae.model.with_start([float(value) for value in y]).with_span(t_end=far, t0=t)
    try:
        found = analysed_at(model)
    except HerkError:
        return None
    same = set(analysis(model).constraints) == set(analysis(dae.model).constraints)
    return None if same else found


def zeros_around(dae: Form, t: float, t0: float, t1: float) -> list[float]:
    """Return the times next to this one at which a factor of the combinations divides by zero.

    Behind as well as ahead: with few large steps a run may fail just after it has passed the zero, and a
    zero soon after the end is felt before it.
    """
    model = dae.model
    pivots = _pivots(dae, {model.t})
    ends = beyond((t0, t1))[1], t0
    sides = (roots(pivots, model.t, (t, end), model.parameters) for end in ends if end != t)
    others = ([time for time in side if time != t] for side in sides)
    return [min(times, key=lambda time: abs(time - t)) for times in others if times]


def zeros_passed(dae: Form, t: Array, y: Array) -> Iterator[tuple[float, Array]]:
    """Return points between these, the last first, where a factor divides by zero by its unknowns."""
    from scipy.optimize import brentq

    model, states = dae.model, set(dae.model.states)
    pivots = [pivot for pivot in _pivots(dae, {model.t, *states}) if pivot.free_symbols & states]
    points = np.column_stack([t, y])
    for pivot in sorted(pivots, key=sp.default_sort_key):
        value = sp.lambdify([model.t, *model.states], pivot.xreplace(dict(model.parameters)), "numpy")
        sizes = np.array([value(*point) for point in points], dtype=float)
        for k in np.flatnonzero(sizes[1:] * sizes[:-1] < 0.0)[::-1]:
            one, way = points[k], points[k + 1] - points[k]
            share = brentq(lambda part, f=value, a=one, b=way: f(*(a + part * b)), 0.0, 1.0, xtol=1e-15)
            zero = one + share * way
            yield float(zero[0]), zero[1:]


def _pivots(dae: Form, moving: set[sp.Symbol]) -> set[sp.Expr]:
    """Return what factors of the combinations divide by."""
    found = analysis(dae.model)
    return below([factor for step in found.trace for _, factor in step.combined], moving)


def regularity(dae: Form, t: float, y: Array, sizes: Array) -> float:
    """Return the smallest singular value of g_y, columns in the sizes of the unknowns, rows of size one."""
    try:
        scaled = np.asarray(jacobian(dae, t, y)) * sizes
    except HerkError:
        return 0.0
    tops = np.abs(scaled).max(axis=1, keepdims=True, initial=0.0)
    if not dae.m or not np.isfinite(scaled).all() or not tops.all():
        return 0.0
    return float(np.linalg.svd(scaled / tops, compute_uv=False)[-1])
