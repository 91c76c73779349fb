"""Tolerances inside a half-explicit step: of Newton's iteration, and of what only constraints determine."""

from __future__ import annotations

from functools import lru_cache

from herk.integrate.options import Request
from herk.integrate.steppers.half_explicit.layout import HalfExplicit
from herk.integrate.steppers.half_explicit.stability import bound
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.linalg.differences import time_size

GATE = 0.4  # part of what stability allows from which on it may be the limit: errors that it damps show early


def set_tolerances(asked: Request, state: HalfExplicit, *, generated: bool) -> None:
    """Set the tolerances of Newton's iteration, and how well algebraic components must be resolved.

    Inside a step the algebraic components need only be exact enough not to disturb the error estimate; Newton
    converges quadratically in generated code, so corrections of this relative size leave errors of about
    their square.
    """
    state.tight = 1e-9 if generated else 1e-14
    loose = min(1e-4, (1e-3 * asked.rtol) ** 0.5) if generated else 1e-3 * asked.rtol
    state.tolerance = state.tight if asked.step is not None else max(state.tight, loose)
    state.t_size = time_size(asked.t0, asked.t1)
    state.full_newton = asked.newton == "full"
    state.floor[: state.n] = asked.atol / asked.rtol
    state.resolved = 0.08 if _few_inside(asked.method) else 0.2  # two stages see less than three
    state.patience = 0 if asked.plan is None else asked.plan.patience
    state.gate = 0.0 if asked.plan is None else GATE * bound(asked.method)
    if asked.step is not None:  # taken as they are
        state.probes = 0


@lru_cache(maxsize=256)
def _few_inside(tableau: Tableau) -> bool:
    return len({float(c) for c in tableau.c if 0.05 < c < 0.95}) < 3
