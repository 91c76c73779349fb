"""Problems that are not smooth at known times, their kinks.

The span is solved piece by piece, each from a start of its own.

A piece ends just before a kink and the next begins just behind it, so that no evaluation sees the wrong
branch. Unknowns whose derivative occurs go on continuously; algebraic ones may jump and are computed anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from herk.core import InputError, Reason, Settings, Solution, Stats
from herk.core.dae import Array

GAP = 8 * float(
    np.finfo(float).eps
)  # between a kink and the ends of the pieces beside it, relative to the end of the span

Span = tuple[float, float]


def solve_pieces(solve: Callable[[Any, Settings], Solution], prepared: Any, settings: Settings) -> Solution:
    """Solve one piece after the other, the first failure being the last.

    Points are joined, counters summed.
    """
    cut = pieces(prepared.t_span, prepared.kinks)
    if len(cut) == 1:
        return solve(prepared, settings)
    begun, after, parts = time.perf_counter(), -np.inf, []
    here = replace(prepared, t_span=cut[0][0], kinks=())
    for number, (span, until) in enumerate(cut):
        wanted = _between(settings.t_eval, after, until)
        left = (
            None
            if settings.time_limit is None
            else max(settings.time_limit - (time.perf_counter() - begun), 1e-6)
        )
        solution = solve(here, replace(settings, t_eval=_inside(wanted, span), time_limit=left))
        parts.append(_shown(solution, wanted, span))
        if not solution.success or number + 1 == len(cut):
            break
        after = until
        try:
            here = here.restarted(cut[number + 1][0], solution.y[:, -1])
        except InputError as error:
            parts[-1] = replace(
                parts[-1],
                reason=Reason.INCONSISTENT,
                message=f"No start was found behind t = {until!r}: {error}",
            )
            break
    return _joined(parts, cut[-1][1])


def pieces(t_span: Span, kinks: Sequence[float]) -> list[tuple[Span, float]]:
    """Return the spans between the kinks, and the time up to which output belongs to each.

    The end of t_span may be a kink, too.
    """
    gap, begin, found = GAP * max(map(abs, t_span)), t_span[0], []
    for kink in kinks:
        if begin < kink <= t_span[1]:
            found.append(((begin, kink - gap), kink))
            begin = kink + gap
    return [*found, ((begin, t_span[1]), t_span[1])] if begin < t_span[1] or not found else found


def _between(t_eval: Any, after: float, until: float) -> Array | None:
    if t_eval is None:
        return None
    times = np.asarray(t_eval, dtype=float)
    return times[(times > after) & (times <= until)]


def _inside(wanted: Array | None, span: Span) -> Array | None:
    """Return the output times moved into the piece, and its end, from where the next one goes on."""
    return None if wanted is None else np.unique([*np.clip(wanted, *span), span[1]])


def _shown(solution: Solution, wanted: Array | None, span: Span) -> Solution:
    """Return the points asked for under the times asked for."""
    if wanted is None:
        return solution
    reached = np.searchsorted(solution.t, np.clip(wanted, *span))
    known = reached < len(solution.t)
    return replace(solution, t=wanted[known], y=solution.y[:, reached[known]])


def _joined(parts: Sequence[Solution], end: float) -> Solution:
    counts = {f.name: sum(getattr(part, f.name) for part in parts) for f in fields(Stats)}
    t, last = np.concatenate([part.t for part in parts]), parts[-1]
    if last.success and abs(end - t[-1:]) <= 2 * GAP * abs(end):
        t[-1] = end  # reached from the left
    selections = tuple(selection for part in parts for selection in part.selections)
    residual = max(part.residual for part in parts)
    return replace(
        last, t=t, y=np.hstack([part.y for part in parts]), residual=residual, selections=selections, **counts
    )
