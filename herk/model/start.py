"""Consistent start: does y0 satisfy every constraint, and if not, what is the least change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from herk.core import Dae, HerkError, InputError
from herk.core.dae import Array
from herk.linalg.balance import LOST, rank, sizes
from herk.model.approach import Task, approached, guesses_of
from herk.model.evaluate import CallableError, Linearisation, constraints, jacobian, located, time_derivative
from herk.model.implicit import HIGHER, Implicit
from herk.model.large import equations_of, stack_of
from herk.model.large_start import correction, determined, is_finite, slopes, touching, without_derivative

EPS = float(np.finfo(float).eps)
MOST_ITERATIONS = 60
MOST_LISTED = 10  # rows, of a large DAE
LONGEST_EQUATION = 120  # characters
MOST_NAMED = 40  # components
OUTSIDE = "g or its Jacobian is not finite there."
REPAIR = 'Give other start values, or have them changed as little as possible by consistent="project".'


def free_columns(E: Array | NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the components whose derivative does not occur: the required algebraic ones."""
    return tuple(int(j) for j in np.flatnonzero(~E.any(axis=0)))


def residual_limits(jac: Any, y: Array, rtol: float, atol: Array | float) -> Array:
    """Return how large each residual may be if y is known to atol + rtol |y|, never less than rounding.

    Zero where that overflows: there nothing can be said for y.
    """
    sizes: Any = abs(jac)
    with np.errstate(over="ignore"):
        limits: Array = sizes @ (atol + rtol * np.abs(y)) + 16 * EPS * (sizes @ np.abs(y)) + 1e-300
    return np.where(limits < np.inf, limits, 0.0)


def inconsistency(
    dae: Dae, t: float, y: Array, rtol: float, atol: Array | float, here: Linearisation | None = None
) -> str | None:
    """Return a sentence naming the constraints y violates, or None; `here` saves evaluations."""
    g, jac = (here.g, here.jac) if here is not None else (constraints(dae, t, y), jacobian(dae, t, y))
    limits = residual_limits(jac, y, rtol, atol)
    wrong = np.flatnonzero(~(np.abs(g) <= limits)).tolist()
    if not wrong:
        return None
    some = wrong[:MOST_LISTED] if dae.large else wrong
    listed = ", ".join(f"{_row(dae, i)} is {g[i]:.3g} (allowed {limits[i]:.1g})" for i in some)
    listed += f", and {len(wrong) - len(some)} others" if len(some) < len(wrong) else ""
    return f"y0 is inconsistent at t = {t!r}: {listed}."


def undetermined(dae: Dae, here: Linearisation) -> str | None:
    """Return a sentence if E and g do not determine y' at this point, in whatever units, else None."""
    stacked = stack_of(here) if here.sparse else np.vstack([here.E, here.jac])
    found = len(equations_of(stacked, dae.n)) if here.sparse else rank(stacked)
    if found >= dae.n:
        return None
    if isinstance(dae, Implicit):
        return HIGHER
    idle = [dae.names[j] for j in np.flatnonzero(~(stacked != 0).sum(axis=0).astype(bool))]
    which = (
        f" {', '.join(idle)} {'takes' if len(idle) == 1 else 'take'} part in none of them there."
        if idle
        else ""
    )
    if getattr(dae, "model", None) is not None:
        advice = "The start is a singular point of the model: start elsewhere."
    else:
        advice = "Add the missing (hidden) constraints to g, or start elsewhere."
    return (
        f"E and g leave y' undetermined at the start: [E; dg/dy] has rank {found}, not n = {dae.n}.{which}"
        f" {advice}"
    )


def _row(dae: Dae, i: int) -> str:
    """Return what row i of g is called: by its number and, if the DAE comes from a model, by its equation."""
    known = getattr(dae, "row_names", ())
    if known:
        return str(known[i])
    model = getattr(dae, "model", None)
    if model is None or getattr(dae, "form", "") != "overdetermined":
        return f"row {i} of g"
    from herk.model.index_reduction.regularize import regularize

    try:
        text = str(regularize(model).constraints[i])
    except (HerkError, IndexError):
        return f"row {i} of g"
    return f"row {i} of g, 0 = {text if len(text) <= LONGEST_EQUATION else text[:LONGEST_EQUATION] + '...'},"


def consistent_start(
    system: Any,
    t0: float | None = None,
    y0: Sequence[float | None] | Array | None = None,
    fixed: Sequence[int] = (),
) -> Array:
    """Return a consistent start near y0: what is unknown moves first, the rest as little as possible.

    Parameters
    ----------
    system : Dae, Model or Problem
        Its constraints, hidden ones included, are to hold.
    t0, y0 : optional
        Another start than the system's own; None or nan stands for what is unknown.
    fixed : sequence of int, optional
        Components that must not move.

    Returns
    -------
    array
        All components; those whose derivative does not occur move before the others.

    Examples
    --------
    >>> import herk
    >>> model = herk.Model.from_equations("circle", ["x' = -y", "0 = x**2 + y**2 - 1"], t_span=(0, 1))
    >>> herk.consistent_start(model, 0.0, [0.6, 0.7]).round(12)
    array([0.6, 0.8])

    """
    dae, t, start = located(system, t0, y0, "consistent_start")
    y, unknown = start_vector(dae, start)
    bad = [i for i in fixed if not 0 <= i < dae.n or i in unknown]
    if bad:
        raise InputError(f"fixed names components {bad}, which are unknown or outside 0..{dae.n - 1}.")
    required = without_derivative(dae, t, np.where(np.isnan(y), 1.0, y))
    first = sorted({*unknown, *required} - set(fixed))
    others = sorted({*range(dae.n)} - {*first, *fixed})
    if unknown and others and not dae.large:  # where no other component must move, none does
        try:
            return _solve(Task(dae, t, np.arange(dae.m), first, []), y, unknown)
        except InputError:
            pass
    return _solve(Task(dae, t, np.arange(dae.m), first, others), y, unknown)


def completed_start(dae: Dae, t0: float, y0: Sequence[float | None] | Array) -> Array:
    """Return y0 with unknown components (None, nan) computed from the constraints, given ones untouched."""
    y, unknown = start_vector(dae, y0)
    if not unknown:
        return y
    names = _listed([dae.names[i] for i in unknown])
    if len(unknown) > dae.m:
        how_many = f"{dae.m} constraint{'' if dae.m == 1 else 's'} cannot determine {len(unknown)} of them"
        raise InputError(f"The start values of {names} are left open, but {how_many}; give some of them.")
    try:
        guesses = list(guesses_of(dae, t0, y, unknown))
        found = _solve(Task(dae, t0, touched(dae, t0, guesses, unknown), unknown, []), y, unknown, guesses)
    except InputError as error:
        reason = (
            f"The start values of {names} cannot be computed from the constraints with the others as given:"
            f" {error}"
        )
        raise InputError(f"{reason} {REPAIR}") from None
    if not determined(slopes(dae, t0, found)[:, unknown]):
        raise InputError(f"The constraints do not determine the start values of {names}; give some of them.")
    return found


def _listed(names: list[str]) -> str:
    """Return names in one line, of many the first few."""
    more = f" and {len(names) - MOST_NAMED} others" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED] if more else names) + more


def touched(dae: Dae, t: float, guesses: Iterable[Array], unknown: list[int]) -> NDArray[np.int64]:
    """Return the constraints in which unknown components take part, as guesses at them show.

    Whether the others hold is not theirs to say.
    """
    part = np.zeros(dae.m, dtype=bool)
    for guess in guesses:
        try:
            with np.errstate(all="ignore"):
                part |= touching(slopes(dae, t, guess), unknown)
        except CallableError:
            return np.arange(dae.m)
    return np.flatnonzero(part)


def start_vector(dae: Dae, y0: Sequence[float | None] | Array) -> tuple[Array, list[int]]:
    """Return the start with nan for what is unknown, and which that is."""
    y = np.array([np.nan if value is None else value for value in y0], dtype=float)
    if y.shape != (dae.n,):
        raise InputError(f"y0 has shape {y.shape}; {dae.n} values are needed.")
    return y, [int(i) for i in np.flatnonzero(np.isnan(y))]


def _solve(task: Task, y: Array, unknown: list[int], guesses: Iterable[Array] | None = None) -> Array:
    """Run Gauss-Newton from a few values for the unknown components; the first that converges is taken."""
    message, tries = "", list(guesses or guesses_of(task.dae, task.t, y, unknown))
    for last, start in product((0, 1), tries):
        try:
            with np.errstate(all="ignore"):  # iterates may run away; then another start value is tried
                found, words = newton(task, start, last=last)
                if found is None:  # where pieces meet, corrections of another length may stay on one side
                    found, _ = newton(task, start, np.abs(start) + 1.0, last=last)
        except CallableError as error:
            if not unknown:
                raise
            found, words = None, str(error)
        if found is not None:
            return _tidied(task, found, unknown) if unknown else found
        message = message if message and message != OUTSIDE else words  # of the first try that says something
    found = _from_afar(task, tries)
    if found is None:
        raise InputError(f"No consistent start was found near y0: {message}")
    return _tidied(task, found, unknown) if unknown else found


def _from_afar(task: Task, starts: Iterable[Array]) -> Array | None:
    """Return the first solution that cut and lengthened steps lead to, None if none do."""
    for start in starts:
        with np.errstate(all="ignore"), suppress(CallableError):
            near = approached(task, start)
            found = None if near is None else newton(task, near, last=1)[0]
            if found is not None:
                return found
    return None


def _tidied(task: Task, y: Array, unknown: list[int]) -> Array:
    """Return y with zeros for what is zero but for rounding, if g allows it: rounding is no size."""
    near, tidy = y.copy(), y.copy()
    near[unknown] = np.nan
    tidy[(np.abs(y) <= LOST * sizes(slopes(task.dae, task.t, y), near)) & np.isnan(near)] = 0.0
    return tidy if (tidy == y).all() or newton(task, tidy)[0] is tidy else y


def newton(task: Task, y: Array, scale: Array | None = None, last: int = 0) -> tuple[Array | None, str]:
    """Return a solution of g = 0, or None and the rows that stay wrong; `last` allows for rounding of t."""
    best, nearest_point, stalled = np.inf, y, 0
    closest = np.zeros(len(task.rows)), np.ones(len(task.rows))
    for _ in range(MOST_ITERATIONS):
        g, jac = constraints(task.dae, task.t, y)[task.rows], slopes(task.dae, task.t, y)[task.rows]
        if not (np.isfinite(g).all() and is_finite(jac)):
            break
        scale = sizes(jac, y) if scale is None else scale
        limits = residual_limits(jac, y, EPS, EPS**2 * scale)  # zeros have no rounding of their own
        size = float(np.max(np.abs(g) / limits, initial=0.0))
        if not size < np.inf:
            break
        if size <= 1.0:
            return y, ""
        stalled = stalled + 1 if size >= 0.5 * best else 0
        if size < best:
            best, nearest_point, closest = size, y, (g, limits)
        if stalled > 6:
            break
        y = y + correction(g, jac, scale, task.first, task.others)
    if best <= 1e3:  # at rounding level, but for a badly scaled constraint
        return nearest_point, ""
    if best == np.inf:
        return None, OUTSIDE
    g, limits = closest
    if last:
        limits = limits + EPS * np.abs(task.t * time_derivative(task.dae, task.t, nearest_point)[task.rows])
    if (np.abs(g) <= 1e3 * limits).all():
        return nearest_point, ""
    wrong = [i for i in np.argsort(-np.abs(g) / limits)[:3] if abs(g[i]) > 1e3 * limits[i]]
    return None, f"{', '.join(f'{_row(task.dae, task.rows[i])} stays at {g[i]:.3g}' for i in wrong)}."
