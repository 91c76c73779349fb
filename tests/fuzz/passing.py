"""An event of a member: one unknown at a level. The truth says when it is passed, and what is no passing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.fuzz.member import Array, Member, pick, rng_of

FINE = 20_000  # looks at the truth
CLOSE = 4.0 / FINE  # of the span: how closely it is looked at
CLEAR = 3.0  # times what is forgiven of the unknown: errors do not lead to the other side of the level


@dataclass(frozen=True)
class Level:
    """An event function that is zero where an unknown is at a level."""

    component: int
    value: float

    def __call__(self, t: float, y: Array) -> float:
        """Return how far above the level it is."""
        return float(y[self.component] - self.value)


def level(member: Member) -> Level | None:
    """Return an event that the solution passes, None where times of events are moved by the member's nature."""
    if member.ends_at is not None or member.corners or member.singular_at or member.moved:
        return None
    rng = rng_of("passing", member.seed)
    component = int(rng.integers(len(member.states)))
    path = member.truth(np.linspace(*member.t_span, 401))[component]
    if not np.isfinite(path).all() or np.ptp(path) <= member.atol[component]:
        return None
    share = pick(
        rng, (0.5, 0.1, 0.9, 0.99, rng.uniform())
    )  # near a turning point it is passed there and back
    return Level(component, float(path.min() + share * np.ptp(path)))


def fault(member: Member, event: Level, found: Array, allowed: float) -> tuple[str, float] | None:
    """Return what is wrong with the times that a run found, and where; `allowed`: what is forgiven of the unknown."""
    t = np.linspace(*member.t_span, FINE + 1)
    v, beside = member.truth(t)[event.component] - event.value, CLOSE * abs(t[-1] - t[0])
    clear = np.flatnonzero(np.abs(v) > CLEAR * allowed)
    for k in np.flatnonzero(v[clear[:-1]] * v[clear[1:]] < 0.0):
        low, high = sorted(t[clear[k : k + 2]].tolist())
        if not ((found >= low - beside) & (found <= high + beside)).any():
            return f"the event {member.states[event.component]} = {event.value:.6g} was not noted", low
    for time in found:
        around = np.clip(time + beside * np.linspace(-1, 1, 9), *sorted(member.t_span))
        near = member.truth(around)[event.component] - event.value
        if near.min() > CLEAR * allowed or near.max() < -CLEAR * allowed:
            return f"{member.states[event.component]} = {event.value:.6g} was noted where it is not", float(
                time
            )
    return None
