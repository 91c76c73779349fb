"""One call for every DAE: stiff ones too are reached to eight digits without naming a method."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import herk
import testset
from herk.integrate import work
from herk.model.model import Model

# rtol, atol, digits: all that the reference has, eight at most; below the last number errors count absolutely
REFERENCES = {
    "akzo": (1e-10, 1e-12, 8.0, 1e-4),
    "transistor_amplifier": (1e-10, 1e-10, 8.0, 1e-4),
    "robertson": (1e-10, 1e-14, 8.0, 1e-4),
    "nand_gate": (1e-11, 1e-11, 8.0, 1.0),
    "water_tube": (1e-11, 1e-11, 8.0, 1.0),
    "wheelset": (1e-13, 1e-15, 8.0, 1e-1),
}
# What calls of the wheelset cost, in operations, where nothing else runs. On a busy machine one of jac_g may be
# taken for ten times as dear; then dop853 makes the run, which reaches 7.4 digits at these tolerances.
QUIET = {"f": 1e4, "g": 1e4, "jac_g": 1e5}
SLOW = ("water_tube", "wheelset", "nand_gate")


def digits(found: np.ndarray, wanted: np.ndarray, floor: float) -> float:
    return float(-np.log10(np.max(np.abs(found - wanted) / np.maximum(np.abs(wanted), floor)) + 1e-16))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in REFERENCES]
)
def test_references_are_reached_without_naming_a_method(name: str, monkeypatch) -> None:
    problem = testset.get(name)
    if name == "wheelset":
        monkeypatch.setattr(work, "timed", lambda given, *_: QUIET.get(getattr(given, "__name__", ""), 0.0))
    rtol, atol, wanted, floor = REFERENCES[name]
    sol = herk.solve_dae(problem, rtol=rtol, atol=atol)
    assert sol.success, sol.message
    assert digits(sol.y[:, -1], problem.reference.y, floor) >= wanted
    assert sol.residual < 1e-9


def test_the_charge_pump_is_reached_across_its_breakpoints() -> None:
    problem = testset.get("charge_pump")
    sol = herk.solve_dae(problem, rtol=1e-8, atol=1e-16)
    assert sol.success, sol.message
    assert (np.abs(sol.y[:, -1] - problem.reference.y) <= 1e-8 * np.array(problem.sizes)).all()


def test_van_der_pol_as_a_dae_reaches_its_published_end() -> None:
    """1e-6 z' = (1 - y^2) z - y (IVP test set 2.4, problem VDPOL), y' = w, the constraint being w = z."""
    E = [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    f = ["w", "((1 - y**2)*z - y)/1e-6", "w - z"]
    model = Model("van_der_pol", ["y", "z", "w"], E, f, t_span=(0, 2), y0=(2, 0, 0))
    sol = herk.solve_dae(model, rtol=1e-11, atol=1e-12)
    assert sol.success, sol.message
    assert "radau5" in {use.method for use in sol.methods}
    assert sol.y[:2, -1] == pytest.approx([0.1706167732170483e1, -0.8928097010247975], rel=1e-8)
    assert sol.y[2] == pytest.approx(sol.y[1], rel=1e-14, abs=1e-14)


def test_a_pendulum_on_a_stiff_spring_agrees_with_the_method_of_others() -> None:
    """A spring of stiffness 1e8, its force an unknown; SciPy's DOP853 resolves every oscillation."""
    k, g = 1e8, 9.81
    length = "sqrt(x**2 + y**2)"
    f = ["u", "v", f"-F*x/{length}", f"-F*y/{length} - {g}", f"F - {k}*({length} - 1)"]
    start = (1.0, 0.0, 0.0, 0.0, 0.0)
    E = np.diag([1, 1, 1, 1, 0]).tolist()
    model = Model("spring", ["x", "y", "u", "v", "F"], E, f, t_span=(0, 0.1), y0=start)

    def rate(t, z):
        length = np.sqrt(z[0] * z[0] + z[1] * z[1])
        force = k * (length - 1.0) / length
        return [z[2], z[3], -force * z[0], -force * z[1] - g]

    other = solve_ivp(rate, (0, 0.1), start[:4], method="DOP853", rtol=1e-11, atol=1e-13)
    for method in ("auto", "radau5"):
        sol = herk.solve_dae(model, method=method, rtol=1e-10, atol=1e-10)
        assert sol.success, sol.message
        assert sol.y[:2, -1] == pytest.approx(other.y[:2, -1], rel=1e-8, abs=1e-9)


BRIDGE = {"i_s": 1e-9, "vt": 0.05, "c": 1e-4, "r": 1e3}


def diode_bridge() -> Model:
    """Return four diodes, a source of 10 V and 50 Hz behind 1 Ohm, 0.1 mF and 1 kOhm behind the bridge."""
    i_s, vt, c, r = BRIDGE.values()

    def diode(v: str) -> str:
        return f"{i_s}*(exp(({v})/{vt}) - 1)"

    f = [
        f"I - {diode('a - p')} + {diode('-a')}",
        f"-I - {diode('b - p')} + {diode('-b')}",
        f"{diode('a - p')} + {diode('b - p')} - p/{r}",
        "a - b + I - 10*sin(100*pi*t)",
    ]
    E = np.diag([0, 0, c, 0]).tolist()
    return Model("bridge", ["a", "b", "p", "I"], E, f, t_span=(0, 0.03), y0=(0, 0, 0, 0))


@cache
def charged() -> float:
    """Return p at the end from the equation reduced by hand.

    a and b are p/2 +- vt arsinh(u), u = I exp(p/(2 vt))/(2 Is), and 2 vt arsinh(u) + I = source.
    """
    i_s, vt, c, r = BRIDGE.values()

    def rate(t, state):
        p, source = state[0], 10 * np.sin(100 * np.pi * t)
        grown = np.exp(p / (2 * vt)) / (2 * i_s)
        most = abs(source) / (2 * vt) + 1.0
        w = brentq(lambda w: 2 * vt * w + np.sinh(w) / grown - source, -most, most, xtol=1e-14, rtol=1e-14)
        current = np.sinh(w) / grown
        through = 2 * i_s * (np.sqrt(np.exp(-p / vt) + (current / (2 * i_s)) ** 2) - 1)
        return [(through - p / r) / c]

    return float(solve_ivp(rate, (0, 0.03), [0.0], method="LSODA", rtol=1e-11, atol=1e-12).y[0, -1])


def test_a_diode_bridge_with_a_capacitor_agrees_with_its_reduced_equation() -> None:
    sol = herk.solve_dae(diode_bridge(), rtol=1e-10, atol=1e-12)
    assert sol.success, sol.message
    assert sol["p"][-1] == pytest.approx(charged(), rel=1e-8)
    assert sol.residual < 1e-12


@pytest.mark.parametrize("method", ["auto", "radau5"])
@pytest.mark.parametrize(("rtol", "atol"), [(1e-4, 1e-4), (1e-6, 1e-6), (1e-7, 1e-4), (1e-8, 1e-10)])
def test_blocked_diodes_of_a_bridge_stop_nothing_and_share_the_voltage(method, rtol, atol) -> None:
    """All four of them block: currents of 1e-44 A determine a and b, and a + b = p by symmetry."""
    sol = herk.solve_dae(diode_bridge(), method=method, rtol=rtol, atol=atol)
    assert sol.success, sol.message
    assert sol["p"][-1] == pytest.approx(charged(), abs=20 * (10 * rtol + atol))
    assert np.abs(sol["a"] + sol["b"] - sol["p"]).max() < 1e-4 * atol + 1e-12
    assert sol.nreject < sol.nstep  # where Newton failed before is not tried again at once
