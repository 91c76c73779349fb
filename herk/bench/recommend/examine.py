"""What can be known before any solver is compared: constraints, start, sizes, decay, switches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import LSODA

from baselines.flow import UNUSABLE, Flow
from herk.bench import plugins
from herk.bench.plugins import Offer
from herk.bench.recommend.switching import Switch, switches
from herk.bench.runner.worker import Send
from herk.core import HerkError, InputError, Problem
from herk.core.dae import Array, Dae
from herk.model.contradiction import check_constraints
from herk.model.evaluate import linearise
from herk.model.index_reduction.regularize import RegularizationError, regularize
from herk.model.model import Model
from herk.model.start import consistent_start, inconsistency, undetermined

POINTS = 40  # of the trajectory at which the Jacobian is looked at
GRID = 32  # even intervals, at whose ends solvers are compared
JUMP = 1e-3  # of the span on either side of a switch is left out: there an algebraic component has two values
EXPLORE_RTOL, EXPLORE_ATOL, EXPLORE_STEPS = 1e-6, 1e-9, 20_000
STABILITY = 3.3  # |h lambda| up to which dopri5 is stable on the negative real axis
STEEP = 10.0  # a rate so many times the usual one may be the difference across a jump
SMALLEST = 1e-9  # a component smaller than this part of the largest is measured against that


@dataclass(frozen=True)
class Facts:
    """Plain data about the problem; `sizes` is the largest absolute value of each component over the span.

    `stability_steps`: steps an explicit method of order 5 must make however low the accuracy, from the
    eigenvalues along the solution; `fastest` the largest rate of decay met.
    """

    name: str
    kind: str
    attribute: str
    names: tuple[str, ...]
    t_span: tuple[float, float]
    m: int
    index: int | None
    levels: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    switches: tuple[Switch, ...]
    sizes: tuple[float, ...]
    fastest: float
    stability_steps: float
    grid: tuple[float, ...]


def examine(send: Send, path: str) -> None:
    """Send ("facts", Facts), or ("wrong", (kind, sentence)) if there is nothing to compare solvers on."""
    try:
        offer = plugins.to_solve(path)
        wrong = _ill_posed(offer.problem)
        send(*(("wrong", wrong) if wrong else ("facts", facts(offer))))
    except RegularizationError as error:
        send("wrong", ("ill-posed", str(error)))
    except HerkError as error:
        send("wrong", ("unusable", str(error)))


def _ill_posed(problem: Problem) -> tuple[str, str] | None:
    """Return what forbids a solve: constraints that contradict the equations, or a start off them."""
    if isinstance(problem.model, Model):
        regularize(problem.model)
    dae, t0 = problem.dae, problem.t_span[0]
    open_slopes = undetermined(dae, linearise(dae, t0, problem.y0))
    if open_slopes:
        return "ill-posed", open_slopes
    wrong = inconsistency(dae, t0, problem.y0, 1e-8, 1e-10)
    if wrong:
        return "inconsistent", f"{wrong} {_repaired(dae, t0, problem.y0)}"
    contrary = check_constraints(dae, t0, problem.y0)
    return ("ill-posed", " ".join(contrary)) if contrary else None


def _repaired(dae: Dae, t0: float, y0: Array) -> str:
    try:
        near = consistent_start(dae, t0, y0)
    except InputError as error:
        return str(error)
    shown = np.where(np.abs(near) < 1e-12 * np.abs(near).max(), 0.0, near)
    return f"The nearest consistent start is y0 = ({', '.join(f'{value:.12g}' for value in shown)})."


def facts(offer: Offer) -> Facts:
    """Return what is known about a well-posed problem."""
    problem, dae = offer.problem, offer.problem.dae
    found = regularize(problem.model) if isinstance(problem.model, Model) else None
    flow, t, y = explore(problem)
    sizes = np.abs(y).max(axis=0)
    sizes = np.maximum(sizes, SMALLEST * sizes.max()) if sizes.max() > 0 else np.ones_like(sizes)
    fastest, steps = decay(flow, t, y, sizes)
    found_switches = switches(problem.model, t, y) if found else ()
    return Facts(
        name=problem.name,
        kind=offer.kind,
        attribute=offer.attribute,
        names=tuple(dae.names),
        t_span=problem.t_span,
        m=dae.m,
        index=found.index if found else None,
        levels=tuple(tuple(str(c) for c in level) for level in found.levels) if found else (),
        notes=found.notes if found else (),
        switches=found_switches,
        sizes=tuple(map(float, sizes)),
        fastest=fastest,
        stability_steps=steps,
        grid=grid(
            problem.t_span, (*problem.breakpoints, *(time for each in found_switches for time in each.times))
        ),
    )


def grid(t_span: tuple[float, float], jumps: tuple[float, ...] = ()) -> tuple[float, ...]:
    """Return times of comparison: even ones, some close to the start for transients, none at a jump."""
    (t0, t1), length = t_span, t_span[1] - t_span[0]
    times = [*np.linspace(t0, t1, GRID + 1), *(t0 + length * 10.0 ** (-k / 2) for k in range(4, 11))]
    clear = JUMP * abs(length)
    kept = {float(time) for time in times if all(abs(time - jump) > clear for jump in jumps)}
    return tuple(sorted(kept | {float(t1)}, reverse=t1 < t0))


def explore(problem: Problem) -> tuple[Flow, Array, Array]:
    """Return the flow and a rough trajectory (times, points x unknowns) by LSODA, which may end early."""
    t0, t1 = problem.t_span
    flow = Flow(problem.dae, t0, problem.y0)
    t, y = [t0], [np.array(problem.y0)]
    units = np.array(problem.sizes or [float(np.abs(problem.y0).max()) or 1.0] * len(problem.y0))
    solver = LSODA(flow.rate, t0, flow.start, t1, rtol=EXPLORE_RTOL, atol=EXPLORE_ATOL * units[flow.bound])
    while solver.status == "running" and len(t) < EXPLORE_STEPS:
        try:
            solver.step()
            point = flow.complete(solver.t, solver.y)
        except UNUSABLE:
            break
        if not np.isfinite(point).all():
            break
        t.append(float(solver.t))
        y.append(point)
    return flow, np.array(t), np.array(y)


def decay(flow: Flow, t: Array, y: Array, sizes: Array) -> tuple[float, float]:
    """Return the fastest rate of decay along the trajectory.

    And the steps stability asks of an explicit method of order 5.

    Where the right-hand side jumps it has no derivative: a difference over a hundred times the change is a
    hundred times smaller there.
    """
    at = np.unique(np.linspace(0, len(t) - 1, POINTS).astype(int))
    speeds = np.array([flow.decay(t[k], y[k], sizes) for k in at])
    steep = np.flatnonzero(speeds > STEEP * np.median(speeds))
    jumps = [i for i in steep if flow.decay(t[at[i]], y[at[i]], sizes, 1e-5) < speeds[i] / STEEP]
    at, speeds = np.delete(at, jumps), np.delete(speeds, jumps)
    return float(speeds.max(initial=0.0)), float(np.trapezoid(speeds, np.abs(t[at] - t[0])) / STABILITY)
