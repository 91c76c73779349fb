"""Large models through times at which pivots of their constraints vanish."""

from __future__ import annotations

import numpy as np
import pytest

import herk
import herk.core.dae

PHASES = (0.0,)  # of copies; code for many takes a minute to write
# z2' = 2 z1 + 2 cos(2t) - 2 exp(-t), 0 = z2 - sin(2t), with z = S(s) (u, v) turned by s = t + phase, or by an
# unknown a = s, and the rows by 3s/2: E is singular, and every entry of it is zero now and then.
AHEAD = "(cos({s})*u{k} - sin({s})*v{k})"
RIGHT = f"({{speed}}*{AHEAD} + 2*cos(2*t) - 2*exp(-t))"
OTHER = "(sin({s})*u{k} + cos({s})*v{k} - sin(2*t))"


def turned(*, by_state: bool) -> herk.Model:
    """Return copies that turn with phases of their own."""
    E, f, states, y0 = {}, [], [], []
    for k, phase in enumerate(PHASES):
        s, first = f"a{k}" if by_state else f"(t + {phase})", len(states)
        factors, known = ["sin({s})", "cos({s})"], {"s": s, "k": k, "speed": 1 + by_state}
        states += [f"u{k}", f"v{k}"]
        y0 += [np.cos(phase), -np.sin(phase)]
        f += [f"cos(3*{{s}}/2)*{RIGHT} - sin(3*{{s}}/2)*{OTHER}".format(**known)]
        f += [f"sin(3*{{s}}/2)*{RIGHT} + cos(3*{{s}}/2)*{OTHER}".format(**known)]
        if by_state:
            factors, states, y0, f = [*factors, AHEAD], [*states, f"a{k}"], [*y0, phase], [*f, "1"]
            E[first + 2, first + 2] = "1"
        for i, turn in enumerate(("cos", "sin")):
            for j, factor in enumerate(factors):
                E[first + i, first + j] = f"{turn}(3*{{s}}/2)*{factor}".format(**known)
    return herk.Model("turned_copies", states, E, f, t_span=(0.0, 4.0), y0=y0)


@pytest.fixture(autouse=True)
def _as_if_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(herk.core.dae, "LARGE", 0)


@pytest.mark.parametrize("by_state", [False, True], ids=["by_time", "by_state"])
@pytest.mark.parametrize("method", ["dopri5", "radau5"])
def test_rows_that_turn_are_followed_through_every_zero_of_e(method: str, by_state: bool) -> None:
    sol = herk.solve_dae(turned(by_state=by_state), method=method, rtol=1e-8, atol=1e-8)
    assert sol.success, sol.message
    t, size = sol.t, 2 + by_state
    for k, phase in enumerate(PHASES):
        s, z1, z2 = t + phase, np.exp(-t), np.sin(2 * t)
        right = np.array([np.cos(s) * z1 + np.sin(s) * z2, np.cos(s) * z2 - np.sin(s) * z1, s])[:size]
        assert np.abs(sol.y[size * k : size * (k + 1)] - right).max() < 1e-6


def test_a_pole_counts_although_rows_are_as_regular_as_ever() -> None:
    """Row 1 minus row 2 times tan(3t/2) is infinite at pi/3; in units of its size it is the same."""
    from herk.integrate import renewal

    form = turned(by_state=False).form("overdetermined")
    t, y = np.array([0.0, 1.0, np.pi / 3 - 1e-9]), np.ones((3, 2))
    assert renewal.may_divide(form)
    assert 0.0 < renewal.left(form, t, y) < 1e-8
    assert renewal.left(form, t[:2], y[:2]) > 1e-3
    assert renewal.left(form, np.array([0.0, 1.0, 1.1]), y) == 0.0
