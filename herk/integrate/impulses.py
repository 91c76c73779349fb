"""Jumps of unknowns whose derivatives occur: those are impulses, which make other unknowns jump through E."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from herk.core import HerkError
from herk.core.dae import Array
from herk.model.evaluate import matrix
from herk.model.jump_space import jumped

if TYPE_CHECKING:
    from herk.core import Dae
    from herk.integrate.journey import Journey
    from herk.integrate.options import Request

CLEAR = 1e3  # tolerances: what is less may be a correction onto the constraints
MOST_UNKNOWNS = 2000  # E is looked at as a full matrix,
MOST_IN_SPACE = 500  # and the space of jumps is looked for
LATER = 1e-3  # of a segment: where it is seen whether the equations change with time
SHOWN = 3  # times
NAMED = 10  # unknowns


def carried(asked: Request, dae: Dae, y: Array) -> Array | None:
    """Return where impulses carry the state that a run begins with, if some unknown makes one.

    `y` is the consistent point next to that state. None: it is the start, since nothing but algebraic
    unknowns jump, or where impulses lead is not known.
    """
    if asked.behind is None or dae.n > MOST_IN_SPACE or not hasattr(dae.generated, "code"):
        return None
    before = np.array(asked.y0, dtype=float)
    try:
        if not _impulses(asked, dae, asked.t0, before, y).any():
            return None
        time, state = asked.behind
        later = asked.t0 + LATER * (asked.t1 - asked.t0)
        return jumped(dae, asked.t0, before, (time, state[: dae.n]), later)
    except (HerkError, np.linalg.LinAlgError):  # outside the domain of the equations
        return None


def acted(asked: Request, least: Array | None, y: Array) -> bool:
    """Tell whether impulses carried a state elsewhere than to the consistent point next to it."""
    return least is not None and bool(_far(asked, least, y).any())


def impulses(journey: Journey) -> list[str]:
    """Return a note on every unknown that constraints make jump although its derivative occurs in E y'.

    Between segments it follows from the constraints. Where `carried` does not know what its derivative, an
    impulse, does elsewhere, the others stay where they are.
    """
    asked, n = journey.asked, journey.asked.dae.n
    found: dict[tuple[int, tuple[int, ...] | None], list[float]] = {}
    if n > MOST_UNKNOWNS:
        return []
    for k, (one, other) in enumerate(zip(journey.runs, journey.runs[1:], strict=False), start=1):
        if k in journey.resets:
            continue
        t, before = one.output.last
        try:
            jumps = _impulses(asked, asked.dae, float(t), before[:n], other.y0[:n])
            first, others = jumps, None
            if other.least is not None:
                asking = jumps & _far(asked, before[:n], other.least[:n])
                first = asking if asking.any() else jumps
                others = tuple(np.flatnonzero(jumps & ~first).tolist())
        except HerkError:
            continue
        for j in np.flatnonzero(first):
            found.setdefault((int(j), others), []).append(float(t))
    names = asked.dae.names
    return [_note(names, j, others, found[j, others]) for j, others in sorted(found, key=lambda key: key[0])]


def _impulses(asked: Request, dae: Dae, t: float, before: Array, after: Array) -> NDArray[np.bool_]:
    """Return which unknowns jump although their derivatives occur."""
    found = _far(asked, before, after)
    return found & matrix(dae, t, np.array(before)).any(axis=0) if found.any() else found


def _far(asked: Request, one: Array, other: Array) -> NDArray[np.bool_]:
    """Return which components of two states differ by more than tolerances allow."""
    size = np.maximum(np.abs(one), np.abs(other))
    far: NDArray[np.bool_] = np.abs(other - one) > CLEAR * (asked.atol[: one.size] + asked.rtol * size)
    return far


def _note(names: Sequence[str], j: int, others: tuple[int, ...] | None, times: list[float]) -> str:
    shown = ", ".join(f"{time:.12g}" for time in times[:SHOWN])
    more = f" and at {len(times) - SHOWN} later times" if len(times) > SHOWN else ""
    begun = f"{names[j]} jumps at t = {shown}{more}, as the constraints demand. Its derivative is an impulse"
    if others is None:
        return (
            f"{begun} there that does not act on other equations; if it should, give what jumps to them"
            " without the derivative, or describe the jump as an event with a reset."
        )
    if not others:
        return f"{begun} there; no other unknown whose derivative occurs jumps with it."
    named = ", ".join(names[i] for i in others[:NAMED])
    named += f" and {len(others) - NAMED} others" if len(others) > NAMED else ""
    named += " jumps with it." if len(others) == 1 else " jump with it."
    return f"{begun} there that acts on other equations through E: {named}"
