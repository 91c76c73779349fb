"""Events by SciPy's rules: sign changes between accepted points, located on the dense output, some of them terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from herk.core.dae import Array
from herk.method.dense import DenseOutput

Event = Callable[[float, Array], float]


@dataclass
class Watch:
    """Follows event functions along a run and remembers when they were zero."""

    events: Sequence[Event]
    t: list[list[float]] = field(default_factory=list)
    y: list[list[Array]] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def start(self, t: float, y: Array) -> None:
        """Evaluate the events at the start."""
        self.t, self.y = [[] for _ in self.events], [[] for _ in self.events]
        self.values = [float(event(t, y)) for event in self.events]

    def step(self, dense: DenseOutput) -> tuple[float, Array] | None:
        """Look for events in the one step of `dense`; return time and state of a terminal one, if it ends the run."""
        t_old, t_new = dense.t
        now = [float(event(t_new, dense.y[1])) for event in self.events]
        active = [i for i, event in enumerate(self.events) if crosses(self.values[i], now[i], getattr(event, "direction", 0))]
        self.values = now
        found = sorted(((locate(self.events[i], dense), i) for i in active), key=lambda pair: abs(pair[0] - t_old))
        for t, i in found:
            if self.t[i] and self.t[i][-1] == t:  # a zero right at an accepted point is seen from both sides
                continue
            y = dense(t)
            self.t[i].append(t)
            self.y[i].append(y)
            terminal = getattr(self.events[i], "terminal", None) or 0
            if terminal and len(self.t[i]) >= int(terminal):
                return t, y
        return None

    def results(self) -> tuple[list[Array], list[Array]]:
        """Return times and states (events x n) of every event function."""
        return [np.array(t) for t in self.t], [np.array(y) for y in self.y]


def crosses(before: float, after: float, direction: float) -> bool:
    """Tell whether an event function changes sign in the wanted direction."""
    up, down = before <= 0 <= after, before >= 0 >= after
    if before == after == 0:
        return False
    return up if direction > 0 else down if direction < 0 else up or down


def locate(event: Event, dense: DenseOutput) -> float:
    """Return the zero of the event inside the step, to rounding (Brent's method)."""
    from scipy.optimize import brentq

    t_old, t_new = (float(t) for t in dense.t)
    ends = float(event(t_old, dense.y[0])), float(event(t_new, dense.y[1]))
    if ends[0] == 0.0 or ends[1] == 0.0:
        return t_old if ends[0] == 0.0 else t_new
    eps = float(np.finfo(float).eps)
    return float(brentq(lambda t: float(event(t, dense(t))), t_old, t_new, xtol=4 * eps, rtol=4 * eps))
