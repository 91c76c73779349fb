"""The loop around solvers that make one step at a time, SciPy's way.

Points, output times, limits, reasons.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baselines.adapter import Points, Watch
from herk.core import Reason, Settings


def run(solver: Any, settings: Settings, watch: Watch, points: Points, max_steps: int = 10_000_000) -> None:
    """Step to the end; `solver` has step(), status, t, t_old, y and dense_output(), as SciPy's OdeSolver."""
    wanted = None if settings.t_eval is None else np.asarray(settings.t_eval, dtype=float)
    done = 0
    if wanted is not None and len(wanted) and wanted[0] == solver.t:
        points.add(solver.t, np.array(solver.y))
        done = 1
    while solver.status == "running":
        watch.check()
        message = solver.step()
        if solver.status == "failed":
            points.stop(_reason(str(message)), str(message))
            return
        points.nstep += 1
        if wanted is None:
            points.add(solver.t, np.array(solver.y))
        else:
            ahead = np.searchsorted(wanted * solver.direction, solver.t * solver.direction, side="right")
            if ahead > done:
                dense = solver.dense_output()
                for t in wanted[done:ahead]:
                    value = dense(t)
                    points.add(t, value[0] if isinstance(value, tuple) else value)
                done = ahead
        if points.nstep >= max_steps and solver.status == "running":
            points.stop(Reason.MAX_STEPS, f"{max_steps} steps were not enough.")
            return


def _reason(message: str) -> Reason:
    return (
        Reason.STEP_UNDERFLOW
        if "step size" in message
        else Reason.NEWTON
        if "converge" in message
        else Reason.EXCEPTION
    )
