"""A foreign solver's run in segments: it ends and begins anew at breakpoints, where a problem is not smooth.

The span is cut as `herk.solve_dae` cuts it (`herk.integrate.cuts`), and a solver makes one segment after the
other, each from a start of its own. Unknowns whose derivative occurs go on continuously; algebraic ones may
jump and are computed anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from herk.core import InputError, Reason, Settings, Solution, Stats
from herk.core.dae import Array
from herk.integrate.cuts import Cuts


def solve_segments(solve: Callable[[Any, Settings], Solution], prepared: Any, settings: Settings) -> Solution:
    """Solve one segment after the other, the first failure being the last.

    Points are joined, counters summed.
    """
    cuts, parts = Cuts(*prepared.t_span, prepared.breakpoints), []
    stop = cuts.following(cuts.t0)
    if stop is None:
        return solve(prepared, settings)
    begun, since, here = time.perf_counter(), cuts.t0, replace(prepared, breakpoints=())
    while True:
        span = (here.t_span[0], cuts.end(stop))
        asked = _asked(cuts, settings, since, stop, not parts)
        left = None if settings.time_limit is None else settings.time_limit - (time.perf_counter() - begun)
        limits = {"time_limit": None if left is None else max(left, 1e-6)}
        solution = solve(
            replace(here, t_span=span), replace(settings, t_eval=_with_end(cuts, asked, span), **limits)
        )
        parts.append(_shown(cuts, solution, asked, span))
        if not solution.success or stop is None or stop == cuts.t1:
            return _joined(cuts, parts)
        begin, since = cuts.begin(stop), stop
        stop = cuts.following(begin)
        try:
            here = here.restarted((begin, cuts.t1), solution.y[:, -1])
        except InputError as error:
            words = f"No consistent start was found after t = {since!r}: {error}"
            parts[-1] = replace(parts[-1], reason=Reason.INCONSISTENT, message=words)
            return _joined(cuts, parts)


def _asked(cuts: Cuts, settings: Settings, since: float, stop: float | None, first: bool) -> Array | None:
    """Return the output times of a segment."""
    if settings.t_eval is None:
        return None
    return cuts.wanted(np.asarray(settings.t_eval, dtype=float), since, stop, first)


def _with_end(cuts: Cuts, asked: Array | None, span: tuple[float, float]) -> Array | None:
    """Return the output times moved into the segment, and its end, from where the next one goes on."""
    return None if asked is None else cuts.inside(np.append(asked, span[1]), *span)


def _shown(cuts: Cuts, solution: Solution, asked: Array | None, span: tuple[float, float]) -> Solution:
    """Return the points asked for under the times asked for."""
    if asked is None:
        return solution
    inside, sign = np.clip(asked, min(span), max(span)), cuts.forward
    reached = np.searchsorted(sign * solution.t, sign * inside)
    known = reached < len(solution.t)
    return replace(solution, t=asked[known], y=solution.y[:, reached[known]])


def _joined(cuts: Cuts, parts: Sequence[Solution]) -> Solution:
    counts = {f.name: sum(getattr(part, f.name) for part in parts) for f in fields(Stats)}
    t, last = np.concatenate([part.t for part in parts]), parts[-1]
    if last.success and abs(cuts.t1 - t[-1:]) <= 2 * cuts.gap:
        t[-1] = cuts.t1  # reached from before
    selections = tuple(selection for part in parts for selection in part.selections)
    residual = max(part.residual for part in parts)
    return replace(
        last, t=t, y=np.hstack([part.y for part in parts]), residual=residual, selections=selections, **counts
    )
