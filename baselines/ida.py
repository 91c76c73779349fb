"""IDA as seen from Python, whichever package wraps it.

One loop over internal steps, output by IDA's own interpolation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.adapter import Points, Watch
from herk.core import Reason, Settings
from herk.core.dae import Array

FORMS = ("index1", "ggl", "index2", "index3")
TAGS = frozenset({"implicit", "stiff", "multistep", "sundials"})
REASONS = {
    -1: Reason.MAX_STEPS,
    -2: Reason.STEP_UNDERFLOW,
    -3: Reason.STEP_UNDERFLOW,
    -4: Reason.NEWTON,
    -5: Reason.SINGULAR,
    -6: Reason.SINGULAR,
    -7: Reason.SINGULAR,
    -8: Reason.EXCEPTION,
    -9: Reason.NEWTON,
    -12: Reason.EXCEPTION,
    -14: Reason.NEWTON,
    -16: Reason.NEWTON,
    -17: Reason.NEWTON,
    -22: Reason.INCONSISTENT,
}
MAX_STEPS = 10_000_000

IGNORED = 1e3  # atol of unknowns that are not to count

Step = Callable[[float, bool], tuple[int, float, Array, str]]


class Residual:
    """The residual as IDA calls it.

    Calls and steps are counted, errors become flags, all in one layer because it is timed.

    A trial that is followed by one at an earlier time was rejected, all others were accepted: this counts
    steps exactly.
    """

    def __init__(self, function: Callable[..., None], watch: Watch, t_span: tuple[float, float]) -> None:
        """Start with nothing counted."""
        self.watch, self.trials, self.rejected, self.last = watch, 0, 0, np.nan
        self.call = self._caller(function, 1.0 if t_span[1] > t_span[0] else -1.0)

    def _caller(self, function: Callable[..., None], sign: float) -> Callable[..., int]:
        watch, limited = self.watch, self.watch.limit is not None

        def call(t: float, z: Array, zp: Array, out: Array) -> int:
            watch.nfev += 1
            try:
                if t != self.last:
                    self.trials += 1
                    self.rejected += (self.last - t) * sign > 0
                    self.last = t
                if limited:
                    watch.check()
                function(t, z, zp, out)
            except (
                ArithmeticError,
                ValueError,
            ):  # a trial point outside the domain, such as the root of a negative number
                out[:] = np.nan
                return 1
            except BaseException as error:  # noqa: BLE001 - it must not travel through C code
                watch.error = error
                return -1
            return 0

        return call

    def counts(self) -> tuple[int, int]:
        """Return accepted and rejected steps."""
        return self.trials - self.rejected, self.rejected


def atol(form: Any, given: Array) -> Array:
    """Return atol, so large for unknowns of index above one that IDA neither tests them nor iterates.

    For their sake.

    IDASetSuppressAlg is not enough: Newton's iteration then fails on the spring chain in index 2 and on the
    pendulum in index 3.
    """
    return np.where(np.array(form.variable_index) > 1, IGNORED, given)


def run(step: Step, t_span: tuple[float, float], start: Array, settings: Settings, points: Points) -> None:
    """Go through the span; `step(t, one)` goes to t, where IDA interpolates.

    Or makes one step of its own towards t and maybe past it.
    """
    here, end = t_span
    own, sign = settings.t_eval is None, 1.0 if end > here else -1.0
    wanted = [end] if own else [*map(float, settings.t_eval), end]
    if wanted[0] == here:
        points.add(here, start)
    for target in wanted:
        while (target - here) * sign > 0:
            flag, here, z, message = step(target, own)
            if flag >= 0 and (here - target) * sign > 0:
                flag, here, z, message = step(target, False)
            if flag < 0:
                points.stop(REASONS.get(flag, Reason.EXCEPTION), f"IDA {flag}: {message}")
                return
            if own or len(points.t) < len(wanted) - 1:
                points.add(here, z)
