"""A request carried out with sensitivities: the run as ever, then its steps differentiated."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from herk.core import InputError, Solution
from herk.core.dae import LARGE, Array
from herk.integrate.joined import joined, points
from herk.integrate.journey import Journey
from herk.integrate.kept import Reusable
from herk.integrate.options import Request
from herk.integrate.run import Run
from herk.integrate.segments import travelled
from herk.integrate.sensitivity import half_explicit, radau
from herk.integrate.sensitivity.directions import Directions, Followed, directions_of
from herk.integrate.sensitivity.jumps import across
from herk.integrate.sensitivity.start import first
from herk.integrate.start import begun_otherwise, solution_of, started
from herk.integrate.steppers.radau.layout import RadauMethod
from herk.linalg.threads import one_thread
from herk.model.jumps import MANY

_MOST_KEPT = 32
_kept: OrderedDict[tuple[Any, ...], Reusable] = OrderedDict()
SAFETY, SHORTER, ROUNDS = 0.5, 0.25, 8  # of repeated runs, where errors of sensitivities are controlled too
TIGHTEST = 1e-14


@dataclass(frozen=True)
class Outcome:
    """A solution, S at its points, the largest error of S in a step, and the interrupt that ended the run."""

    sol: Solution
    S: Array
    error: float
    interrupted: KeyboardInterrupt | None


def differentiated(asked: Request, wanted: Any, *, controlled: bool = False, given: Any = None) -> Solution:
    """Return the solution with its sensitivities.

    `given` is the start as the user wrote it, None where it follows from the rest; else that of the request.
    """
    directions = directions_of(asked.dae, wanted, asked.y0 if given is None else given)
    _refuse_unknown(asked, controlled)
    if controlled:
        found = _controlled(asked, replace(directions, estimated=True))
    else:
        found = _solved(asked, directions)
    named = {name: found.S[:, :, q].T for q, name in enumerate(directions.names)}
    kept = found.sol.sol if asked.dense_output else None
    notes = (*found.sol.notes, *_assumed(asked))
    sol = replace(found.sol, sensitivities=named, sol=kept, notes=notes)
    if found.interrupted is not None:
        found.interrupted.solution = sol  # type: ignore[attr-defined]
        raise found.interrupted
    return sol


def _assumed(asked: Request) -> tuple[str, ...]:
    """Return what is taken for granted of a model with too many conditions to look at each."""
    model = getattr(asked.dae, "model", None)
    if asked.switches is not None or model is None or len(model.conditions) <= MANY:
        return ()
    return (
        "The sensitivities hold if the equations do not jump at any of their"
        f" {len(model.conditions)} conditions on the state: of more than {MANY} this is not examined.",
    )


def _refuse_unknown(asked: Request, controlled: bool) -> None:
    """Raise if steps or jumps like these cannot be differentiated."""
    implicit, model = isinstance(asked.method, RadauMethod), getattr(asked.dae, "model", None)
    if not asked.generate:
        raise InputError("sensitivities cannot be computed with generate=False.")
    if asked.switches is not None and not all(hasattr(event, "label") for event in asked.switches.events):
        raise InputError("sensitivities need switches that stand in the equations of a herk.Model.")
    if asked.switches is None and model is not None and model.conditions and model.jumps:
        raise InputError(
            f"The equations jump where {model.jumps[0]} = 0; sensitivities need to know when: leave out"
            " switches=False."
        )
    if asked.dae.large and not implicit:
        raise InputError(f"sensitivities of more than {LARGE} unknowns need method='radau5'.")
    if controlled and implicit:
        raise InputError("sensitivity_errors=True needs a half-explicit method, such as 'dopri5'.")


def _controlled(asked: Request, directions: Directions) -> Outcome:
    """Repeat the run until the tolerances asked for hold for S: smaller ones first, then shorter steps."""
    least, before, found = asked.rtol, np.inf, _solved(asked, directions)
    for _ in range(ROUNDS):
        if not found.error > 1.0 or found.interrupted is not None:
            break
        if found.error < 0.5 * before and asked.rtol > TIGHTEST:
            less = max(SAFETY / found.error, TIGHTEST / asked.rtol)
            asked = replace(asked, rtol=less * asked.rtol, atol=less * asked.atol)
        else:  # y itself has no errors that limit the step
            longest = float(np.abs(np.diff(found.sol.t)).max(initial=abs(asked.t1 - asked.t0) / 2))
            asked = replace(asked, max_step=SHORTER * min(asked.max_step, longest))
        before, found = found.error, _solved(asked, directions)
        found = replace(found, error=found.error * asked.rtol / least)
    return found


def _solved(asked: Request, directions: Directions) -> Outcome:
    if isinstance(asked.method, RadauMethod) and asked.dae.large:  # derivatives of steps are full matrices
        asked = replace(asked, method=replace(asked.method, full=True))
    whole = replace(asked, dense_output=asked.dense_output or asked.t_eval is not None)  # keeps every point
    return _in_segments(whole, directions) if asked.segmented else _smooth(asked, whole, directions)


def _smooth(asked: Request, whole: Request, directions: Directions) -> Outcome:
    """Carry out a request without jumps, with the machine of an earlier one where that had the same code."""
    key = _key(asked)
    known = None if key is None else _kept.pop(key, None)  # nobody else may use it meanwhile
    run = None if known is None else _again(known, whole)
    if run is None:
        known = Reusable(whole)
        run = known.begun(known.asked, None)
    assert run is not None
    _go(run)
    run = begun_otherwise(run, _made)
    if run.goes_on:
        return _in_segments(whole, directions, run)
    sol = solution_of(run)
    with one_thread(asked.dae.n):
        start = first(run.request.dae, run.request.t0, run.y0, directions)
        found = _followed(run, sol, start, directions)
    if key is not None:
        assert known is not None
        _kept[key] = known
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    return Outcome(sol, found.points, found.error, run.interrupted)


def _key(asked: Request) -> tuple[Any, ...] | None:
    """Return what a machine must have been made for; None if it is not to be used twice."""
    if asked.consistent == "project" or asked.dense_output:
        return None
    generated: Any = asked.dae.generated
    how = asked.generate, asked.selection, asked.newton, asked.step is None
    return (generated.key, asked.method.mark, *how)


def _again(known: Reusable, asked: Request) -> Run | None:
    """Return a run with a machine of before; None if all must be looked at again."""
    generated: Any = asked.dae.generated
    return known.begun(asked, generated.parameters if generated.values else None)


def _go(run: Run) -> None:
    """Make a run to its end; what its steps need to be differentiated is kept."""
    if isinstance(run.request.method, RadauMethod):
        radau.record(run)
    with one_thread(run.request.dae.n):
        run.go()


def _followed(run: Run, sol: Solution, start: Array, directions: Directions) -> Followed:
    times = np.zeros(0) if run.request.t_eval is None else sol.t
    if run.request.t_eval is not None and not times.size:  # nothing is asked for in this segment
        times = run.output.track.t[:1]
    values = sol.y.T if sol.t.size else run.output.track.y[:1]
    if isinstance(run.request.method, RadauMethod):
        return radau.follow(run, start, directions, times, values)
    return half_explicit.follow(run, start, directions, times, values)


def _in_segments(whole: Request, directions: Directions, begun: Run | None = None) -> Outcome:
    """Carry out a request whose run ends and begins anew on the way; `begun` is its first part."""
    journey = travelled(whole, _made, begun)
    start, found, n = None, [], whole.dae.n
    tau = np.zeros(0)
    for k, run in enumerate(journey.runs):
        dae = run.request.dae
        along = directions if dae is whole.dae else directions.of(dae, run.y0)
        if start is None:
            start = first(dae, run.request.t0, run.y0, along)
        else:
            start, tau = across(whole, journey.runs[k - 1], run, start, along, tau)
        found.append(_followed(run, journey.parts[k], start, along))
        start = found[-1].last
    sol = joined(journey, final=False)
    S = _joined_points(journey, sol, [part.points[:, :n] for part in found])
    return Outcome(sol, S, max(part.error for part in found), journey.runs[-1].interrupted)


def _made(asked: Request) -> Run:
    run = started(asked)
    _go(run)
    return begun_otherwise(run, _made)


def _joined_points(journey: Journey, sol: Solution, found: list[Array]) -> Array:
    """Return S at the points of the joined solution."""
    size = found[0].shape[1:]
    if journey.asked.t_eval is None:
        rows = [part.reshape(len(part), -1).T for part in found]
        return points(journey.parts, rows, journey.resets)[1].T.reshape(-1, *size)
    pairs = [(part.t, S) for part, S in zip(journey.parts, found, strict=True) if part.t.size]
    times, S = np.concatenate([t for t, _ in pairs]), np.concatenate([S for _, S in pairs])
    return S[[int(np.argmin(np.abs(times - t))) for t in sol.t]]
