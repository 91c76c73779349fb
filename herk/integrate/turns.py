"""Events that are passed there and back within a step: steps follow the solution, not the event functions.

Where one may turn round near zero it is sampled on the dense output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from herk.core import HerkError
from herk.core.dae import Array
from herk.integrate.crossings import Inner, past_between

PIECES = 6  # of a step in which an event may turn round
PARTS = np.arange(1, PIECES) / PIECES
ALIKE = 0.2  # part by which slopes of two steps may differ for a parabola to be a guide
DOUBT = 4.0  # times as far as it an event may go
NONE = np.zeros((0, 0))  # phases of an event

# times between which an event may change sign, and its values there
Bracket = tuple[float, float, float, float]


@dataclass
class Turns:
    """What one event did in the step before, and whether it is passed there and back in this one."""

    value: Callable[[float, Array], float]
    h: float = 0.0  # length of the last step, 0: there was none
    slope: float = 0.0  # of the event from its start to its end

    def near(self, h: float, before: float, after: float) -> bool:
        """Tell whether an event that does not change sign from end to end of a step may do so inside.

        A parabola with the second derivative c leads from a chord away by c h^2/8 at most. It is a guide
        where slopes are much alike in two steps. Otherwise steps are long beside what the solution does, and
        what the event changes in a step is one: in this or, if it were as long, in the last.
        """
        slope, last = (after - before) / h, self.slope
        if not self.h:
            away = np.inf
        elif abs(slope - last) < ALIKE * max(abs(slope), abs(last)):
            away = DOUBT * abs(slope - last) * h**2 / (4.0 * (abs(h) + abs(self.h)))
        else:
            away = abs(after - before) + abs(last / self.h) * h**2
        self.h, self.slope = h, slope
        return before * after > 0.0 and not min(abs(before), abs(after)) >= away

    def brackets(self, ends: tuple[float, float], values: tuple[float, float], inner: Inner) -> list[Bracket]:
        """Return the parts of a step between whose ends the event may change sign; none if it does not."""
        (t_old, t_new), (before, after) = ends, values
        times = t_old + (t_new - t_old) * PARTS
        try:
            found = self._side(before, times, inner(times))
        except HerkError:  # there are no values there: what is seen at the ends has to do
            return []
        t, v = np.array([t_old, *times, t_new]), np.array([-abs(before), *found, -abs(after)])
        k = int(np.argmax(v > 0.0))
        if not v[k] > 0.0:
            past = past_between(
                t, v, lambda *near: (self._side(before, *near), NONE), inner, abs(t_new - t_old)
            )
            if past is None:
                return []
            k = int(np.searchsorted(np.abs(t - t_old), abs(past[0] - t_old)))
            t, v = np.insert(t, k, past[0]), np.insert(v, k, past[1])
        t, v = t.tolist(), (-v if before > 0.0 else v).tolist()
        return list(zip(t[:-1], t[1:], v[:-1], v[1:], strict=True))

    def _side(self, before: float, times: Array, states: Array) -> Array:
        """Return how far the event is on the other side than before."""
        found = np.array([self.value(*each) for each in zip(times.tolist(), states, strict=True)])
        return -found if before > 0.0 else found
