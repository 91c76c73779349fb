"""Runs through switches: each piece ends where an event changes sign, the modes are set anew, and the next piece begins there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from herk.core import InputError, Reason, Solution, Stats, Switches
from herk.core.dae import Array
from herk.method.solve import solve_dae

MOST_PIECES = 1000
BEYOND = 1e-12  # an event counts when it is clearly past zero, so that the state found there belongs to the new mode


def solve_switched(
    switches: Switches,
    t_span: tuple[float, float],
    y0: Sequence[float] | Array,
    *,
    t_eval: Sequence[float] | Array | None = None,
    atol: float | Sequence[float] | Array = 1e-9,
    time_limit: float | None = None,
    **options: Any,
) -> Solution:
    """Solve as solve_dae does, no step leading across a switch; `t_events` and `y_events` hold the switches, one row per event.

    Differential unknowns are continuous at a switch, the others follow from the constraints of the new mode. The point of a switch
    is returned once, as the old mode leaves it. dense_output, events and callback are not offered here.
    """
    refused = {"dense_output", "events", "callback", "consistent"} & set(options)
    if refused:
        raise InputError(f"solve_switched does not take {', '.join(sorted(refused))}; use solve_dae on the DAE of one mode.")
    n, (t, t_end), y = len(y0), t_span, np.array(y0, dtype=float)
    extended = atol if np.ndim(atol) == 0 else np.concatenate([atol, np.ones(len(switches.events))])
    deadline = None if time_limit is None else time.perf_counter() + time_limit
    pieces: list[Solution] = []
    while len(pieces) < MOST_PIECES:
        modes = switches.modes(t, y)
        left = None if deadline is None else max(deadline - time.perf_counter(), 1e-9)
        piece = solve_dae(
            switches.dae, (t, t_end), [*y, *modes], events=[_armed(*each, n) for each in zip(switches.events, modes, strict=True)],
            t_eval=_ahead(t_eval, t, t_end, first=not pieces), atol=extended, time_limit=left,
            consistent="project" if pieces else "check", **options,
        )  # fmt: skip
        pieces.append(piece)
        if piece.reason is not Reason.EVENT:
            break
        t, y = _where(piece, n)
    else:
        words = f"The equations switched {MOST_PIECES} times, at last at t = {t!r}: the solution slides along a switch, or is about to."
        pieces[-1] = replace(pieces[-1], reason=Reason.STEP_UNDERFLOW, message=words)
    return _joined(pieces, n, t_eval)


def _armed(event: Callable[[float, Array], float], mode: float, n: int) -> Callable[[float, Array], float]:
    """Return the event as it ends this mode: a crossing in one direction, counted when it is past."""
    sign = -1.0 if mode else 1.0

    def value(t: float, y: Array) -> float:
        return sign * event(t, y[:n]) - BEYOND

    value.terminal, value.direction = True, 1  # type: ignore[attr-defined]
    return value


def _ahead(t_eval: Any, t: float, t_end: float, *, first: bool) -> Any:
    """Return the output times of a piece that starts at t; the end of the span if there are none left, since one is needed."""
    if t_eval is None:
        return None
    later = [s for s in np.asarray(t_eval, dtype=float) if (s - t) * np.sign(t_end - t) > 0 or (first and s == t)]
    return later or [t_end]


def _where(piece: Solution, n: int) -> tuple[float, Array]:
    """Return time and state of the event that ended a piece."""
    assert piece.t_events is not None
    assert piece.y_events is not None
    [(t, y)] = [(times[-1], states[-1]) for times, states in zip(piece.t_events, piece.y_events, strict=True) if len(times)]
    return float(t), np.array(y[:n])


def _joined(pieces: list[Solution], n: int, t_eval: Any) -> Solution:
    """Return the pieces as one solution without modes."""
    own = t_eval is None
    t = np.concatenate([piece.t[1:] if own and i else piece.t for i, piece in enumerate(pieces)])
    y = np.hstack([piece.y[:n, 1:] if own and i else piece.y[:n] for i, piece in enumerate(pieces)])
    wanted = np.ones(len(t), dtype=bool) if own else np.isin(t, np.asarray(t_eval, dtype=float))
    events = range(len(pieces[0].t_events or ()))
    counts = {field.name: sum(getattr(piece, field.name) for piece in pieces) for field in fields(Stats)}
    return replace(
        pieces[-1], t=t[wanted], y=y[:, wanted], **counts,
        t_events=[np.concatenate([piece.t_events[i] for piece in pieces]) for i in events],  # type: ignore[index]
        y_events=[np.vstack([piece.y_events[i].reshape(-1, pieces[0].y.shape[0])[:, :n] for piece in pieces]) for i in events],  # type: ignore[index]
        residual=max(piece.residual for piece in pieces), selections=tuple(each for piece in pieces for each in piece.selections),
    )  # fmt: skip
