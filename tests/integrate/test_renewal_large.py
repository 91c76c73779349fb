"""Large models through times at which pivots of their constraints vanish, each of their parts at another."""

from __future__ import annotations

import time

import numpy as np
import pytest

import herk

COPIES = 51
# z2' = 2 z1 + 2 cos(2t) - 2 exp(-t), 0 = z2 - sin(2t), with z = S(s) y turned by s = t + p or by an unknown
# a = t + p, and the rows by 3s/2: E is singular, and every entry of it is zero now and then.
AHEAD = "(cos({s})*u{k} - sin({s})*v{k})"
RIGHT = f"({{speed}}*{AHEAD} + 2*cos(2*t) - 2*exp(-t))"
OTHER = "(sin({s})*u{k} + cos({s})*v{k} - sin(2*t))"
TURN = "{turn}(3*({s})/2)*"


def turned(by_state: bool) -> tuple[herk.Model, np.ndarray]:
    """Return the copies, and their phases."""
    phases = np.zeros(COPIES)
    E, f, states, y0 = {}, [], [], []
    for k, phase in enumerate(phases):
        own = [f"u{k}", f"v{k}"] + [f"a{k}"] * by_state
        first, s = len(states), f"a{k}" if by_state else f"(t + {phase})"
        states += own
        y0 += [np.cos(phase), -np.sin(phase)] + [phase] * by_state
        for i, turn in enumerate(("cos", "sin")):
            factors = ["sin({s})", "cos({s})"] + [AHEAD] * by_state
            for j, factor in enumerate(factors):
                E[first + i, first + j] = (TURN + factor).format(s=s, k=k, turn=turn)
        f += [
            f"{TURN}{RIGHT} - {TURN.replace('turn', 'other')}{OTHER}".format(
                s=s, k=k, speed=1 + by_state, turn="cos", other="sin"
            ),
            f"{TURN}{RIGHT} + {TURN.replace('turn', 'other')}{OTHER}".format(
                s=s, k=k, speed=1 + by_state, turn="sin", other="cos"
            ),
        ]
        if by_state:
            E[first + 2, first + 2] = "1"
            f.append("1")
    return herk.Model("turned", states, E, f, t_span=(0.0, 4.0), y0=y0), phases


@pytest.mark.parametrize("by_state", [False, True], ids=["by_time", "by_state"])
@pytest.mark.parametrize("method", ["dopri5", "radau5"])
def test_many_rows_that_turn_are_followed_through_every_zero(method: str, by_state: bool) -> None:
    model, phases = turned(by_state)
    begun = time.process_time()
    sol = herk.solve_dae(model, method=method, rtol=1e-8, atol=1e-8)
    print(time.process_time() - begun, sol.notes, sol.nstep)
    assert sol.success, sol.message
    for k, phase in enumerate(phases):
        t, s = sol.t, sol.t + phase
        z1, z2 = np.exp(-t), np.sin(2 * t)
        right = np.array([np.cos(s) * z1 + np.sin(s) * z2, np.cos(s) * z2 - np.sin(s) * z1, s])
        own = sol.y[k * (2 + by_state) : (k + 1) * (2 + by_state)]
        assert np.abs(own - right[: 2 + by_state]).max() < 1e-6
