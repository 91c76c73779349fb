"""Starts far from the constraints: exponentials, high powers and logarithms lead there, wrong ones do not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import herk
from herk.circuit.mna import THERMAL
from herk.model.step_length import length

FAR = {
    "exp(40*z) + z = 100": brentq(lambda z: np.exp(40 * z) + z - 100, 0, 1, xtol=1e-15),
    "sinh(50*z) + z = 2000": brentq(lambda z: np.sinh(50 * z) + z - 2000, 0, 1, xtol=1e-15),
    "exp(z) = 1e20": 20 * np.log(10),
    "log(z) = -30": np.exp(-30.0),
    "z**5 = 1e-6": 1e-6**0.2,
    "z**7 = 1000": 1000 ** (1 / 7),
    "z**99 = 1e8": 1e8 ** (1 / 99),
}


@pytest.mark.parametrize("equation", FAR)
def test_a_start_behind_a_steep_function_is_found(equation: str) -> None:
    model = herk.Model.from_equations("far", ["x' = -x", equation], start={"x": 1}, t_span=(0, 1))
    assert herk.consistent_start(model)[1] == pytest.approx(FAR[equation], rel=1e-12)


@pytest.mark.parametrize("volts", [-5.0, 1.0, 5.0, 50.0])
@pytest.mark.parametrize("diodes", [1, 2, 5])
def test_diodes_behind_a_resistor_without_a_capacitor_have_their_voltage(volts: float, diodes: int) -> None:
    chain = [f"D{k} d{k} {'0' if k == diodes else f'd{k + 1}'}" for k in range(1, diodes + 1)]
    model = herk.circuit.model(f"V1 a 0 {volts}\nR1 a d1 1k\n" + "\n".join(chain), t_span=(0, 1e-3))
    start = dict(zip(model.names, herk.consistent_start(model), strict=True))

    def missing(v: float) -> float:
        return float((volts - diodes * v) / 1e3 - 1e-14 * np.expm1(v / THERMAL))

    wanted = brentq(missing, min(volts, 0.0) - 1e-9, 1.0, xtol=1e-16)
    assert start["v_d1"] == pytest.approx(diodes * wanted, rel=1e-9)


def test_a_start_that_is_five_volts_beside_a_diode_is_projected() -> None:
    circuit = herk.circuit.model("V1 a 0 5\nR1 a d 1k\nD1 d 0", t_span=(0, 1e-3), start={"v_d": 5})
    sol = herk.solve_dae(circuit, consistent="project")
    wanted = brentq(lambda v: (5 - v) / 1e3 - 1e-14 * np.expm1(v / THERMAL), 0, 1, xtol=1e-16)
    assert sol.y[circuit.names.index("v_d"), -1] == pytest.approx(wanted, rel=1e-9)


def test_no_start_is_accepted_where_its_limits_overflow() -> None:
    """At z = 17.6 the slope of exp(40 z) times z is above all doubles: each residual was small beside it."""
    equations = ["x' = -x", "exp(40*z) + z = 100"]
    model = herk.Model.from_equations("far", equations, start={"x": 1, "z": 17.64}, t_span=(0, 1))
    with pytest.raises(herk.InputError, match="y0 is inconsistent"):
        herk.solve_dae(model)


def test_a_step_is_as_long_as_the_equation_is_linear() -> None:
    assert length(lambda share: abs(1 - share)) == 1.0
    assert length(lambda share: abs(np.exp(16 - share) - 1)) == 16.0  # one e-fold for each step
    assert length(lambda share: abs(np.exp(min(share * 1e3, 700)) - 1e3)) == 2.0**-8
    assert length(lambda share: 1.0 + share) == 0.0
