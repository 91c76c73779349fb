"""What the runs prove about the problem: stiffness, drift, places where steps collapse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from herk.bench.recommend.examine import Facts
from herk.bench.recommend.rank import Measured, Trial
from herk.bench.recommend.trial import Run
from herk.core.dae import Array

STIFF, MILD = 5.0, 2.0  # an explicit method makes so many times the steps of an implicit one
SHARPER = 10.0  # steps shrink so much more than smoothness explains when the tolerance falls
HELD = 1e-10  # constraints that hold to this are kept; drift lies above it

Tags = Callable[[str], frozenset[str]]


@dataclass(frozen=True)
class Stiffness:
    """The verdict and the numbers behind it; `explicit` is None if no explicit run came to the end."""

    verdict: str  # "stiff", "mildly stiff", "not stiff" or "unknown"
    explicit: Run | None
    implicit: Run | None
    stability_steps: float
    fastest: float


@dataclass(frozen=True)
class Drift:
    """The run at the recommended accuracy whose constraints drift most, and the one that keeps them best."""

    worst: Run
    best: Run


def stiffness(facts: Facts, trials: Sequence[Trial], tags: Tags) -> Stiffness:
    """Compare steps at the loosest tolerance an implicit method survives, and ask the eigenvalues why."""
    good = [each.run for each in _all(trials) if each.run.success]
    implicit = [run for run in good if "implicit" in tags(run.solver)]
    explicit = [run for run in good if "explicit" in tags(run.solver)]
    rtol = max((run.rtol for run in implicit), default=None)
    if rtol is None:
        return Stiffness("unknown", None, None, facts.stability_steps, facts.fastest)
    few = min((run for run in implicit if run.rtol == rtol), key=lambda run: run.nstep)
    same = min((run for run in explicit if run.rtol == rtol), key=lambda run: run.nstep, default=None)
    ratio = (same.nstep if same else facts.stability_steps) / max(few.nstep, 1)
    forced = facts.stability_steps > MILD * few.nstep
    verdict = (
        "stiff" if forced and ratio > STIFF else "mildly stiff" if forced and ratio > MILD else "not stiff"
    )
    return Stiffness(verdict, same, few, facts.stability_steps, facts.fastest)


def drift(winners: Sequence[Measured]) -> Drift | None:
    """Return the extremes of |g| among runs that reach the accuracy; None if constraints hold everywhere."""
    runs = [each.run for each in winners if np.isfinite(each.run.drift)]
    if not runs or max(run.drift for run in runs) <= HELD:
        return None
    return Drift(max(runs, key=lambda run: run.drift), min(runs, key=lambda run: run.drift))


def collapses(trials: Sequence[Trial], orders: Callable[[str], int]) -> tuple[float, ...]:
    """Return times at which a one-step method's steps shrink far more.

    With the tolerance than a smooth solution explains.

    Smooth: the smallest step falls like rtol^(1/order). At a jump of the right-hand side it falls like rtol
    itself.
    """
    for trial in trials:
        runs = [each.run for each in trial.runs if each.run.success and len(each.run.t) > 30]
        if not trial.candidate[0].startswith("herk") or len(runs) < 2:
            continue
        loose, tight = runs[0], runs[-1]
        expected = (loose.rtol / tight.rtol) ** (1 / orders(loose.solver))
        before, after = _inner_steps(loose.t)[1], _inner_steps(tight.t)[1]
        if before.min() / after.min() > SHARPER * expected:
            return _places(*_inner_steps(tight.t))
    return ()


def _inner_steps(t: Array) -> tuple[Array, Array]:
    """Return middles and lengths of the steps, without those of the start and the last, which is cut."""
    return (t[11:-2] + t[10:-3]) / 2, np.abs(np.diff(t))[10:-2]


def _places(middle: Array, length: Array) -> tuple[float, ...]:
    """Return one time for each group of steps that are far shorter than those around them."""
    short = np.flatnonzero(length < 10 * length.min())
    groups = np.split(short, np.flatnonzero(np.diff(short) > 10) + 1)
    return tuple(float(middle[group[length[group].argmin()]]) for group in groups)


def _all(trials: Sequence[Trial]) -> Iterator[Measured]:
    for trial in trials:
        yield from trial.runs
