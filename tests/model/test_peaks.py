"""Narrow peaks of the state are seen in the formulas, by measures that are smallest where the formulas peak."""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset
from herk.model import peaks as of_model
from herk.model.peaks import MOST, compiled


def fed(formula: str, **parameters: float) -> herk.Model:
    """Return x' = formula beside two other states."""
    rows = ["r", "-s", formula]
    return herk.Model(
        "fed", ["s", "r", "x"], np.eye(3).tolist(), rows, parameters=parameters, t_span=(0, 1), y0=[1, 0, 0]
    )


@pytest.mark.parametrize(
    "formula",
    [
        "exp(-((s - c)/w)**2)",
        "exp(-(s**2 - 2*c*s + c**2)/w**2)",
        "2**(-((s - c)/w)**2)",
        "((s - c)/w)**2*exp(-((s - c)/w)**2)",
        "sech((s - c)/w)",
        "1/cosh((s - c)/w)**2",
        "(1 + ((s - c)/w)**2)**(-2)",
        "1/(1 + ((s - c)/w)**2)",
        "cos((s - c)/w)**100",
        "(tanh((s - c)/w) - tanh((s - c)/w - 2))/2",
        "1/(1 + exp(-(s - c)/w)) - 1/(1 + exp(2 - (s - c)/w))",
        "1/(1 + exp(((s - c)/w)**2))",
        "r*exp(-((s - c)/w)**2)/(2 + r**2)",
        "erfc(((s - c)/w)**2)",
        "1 - tanh((s - c)/w)**2",
        "exp(-Abs(s - c)/w)",
        "exp(-sqrt((s - c)**2/w**2))",
        "exp(-(s - c)/w)/(1 + exp(-(s - c)/w))**2",
        "(1 - 1/(1 + exp((s - c)/w)))/(1 + exp((s - c)/w))",
        "r/(exp((s - c)/w) + exp((c - s)/w))",
        "1/(1e-9*exp((s - c)/w) + 1e-9*exp((c - s)/w))**2",
        "exp((s - c)/w - exp((s - c)/w))",
        "exp((s - c)/w)*exp(-exp((s - c)/w))",
    ],
)
def test_the_measure_of_a_peak_is_smallest_at_the_peak(formula: str) -> None:
    model = fed(formula, c=0.3, w=0.01)
    found = compiled(model.peaks, model.t, model.states, tuple(model.parameters))
    s = np.linspace(0.0, 0.6, 60_001)
    measures = found.at(np.zeros(s.size), np.column_stack([s, 0 * s, 0 * s]), np.array(model.values))[0]
    assert np.abs(s[measures.argmin(axis=0)] - 0.3).min() < 1e-5


@pytest.mark.parametrize(
    "formula",
    [
        "exp((s - r)/c)",
        "exp(-((t - c)/0.01)**2)",
        "exp(t*c)*s",
        "tanh(s/c)",
        "tanh(s/c) + tanh(r/c)",
        "s**3/c",
        "1/sqrt(s**2 + r**2)",
        "1/(1 + exp(s/c))",
        "exp(s/c)/(1 + exp(s/c))",
        "1/(c + exp(-s))**3",
        "s/(1 - exp(-s/c))",
        "r*tanh(s/c)/(1 + exp(r))",
        "c",
    ],
)
def test_what_has_no_peak_of_the_state_is_not_followed(formula: str) -> None:
    assert fed(formula, c=0.3).peaks == ()


def test_models_of_the_test_set_are_not_burdened() -> None:
    # circuits with exponential diodes and mechanisms with springs have none
    for name in (
        "pendulum",
        "akzo",
        "transistor_amplifier",
        "nand_gate",
        "andrews",
        "car_axis",
        "charge_pump",
    ):
        assert testset.get(name).model.peaks == (), name


def test_a_model_with_very_many_is_left_alone() -> None:
    many = " + ".join(f"exp(-((s - {k})/w)**2)" for k in range(MOST + 1))
    few = " + ".join(f"exp(-((s - {k})/w)**2)" for k in range(MOST))
    assert fed(many, w=0.1).peaks == ()
    assert len(fed(few, w=0.1).peaks) == MOST


def test_of_large_models_peaks_are_found_too() -> None:
    n = 101
    states = [f"y{i}" for i in range(n)]
    E = {(i, i): 1 for i in range(n)}
    rows = [
        "exp(-((y1 - 5)/0.01)**2)",
        "sech((y2 - 5)/0.01)",
        "tanh(y3/0.01) - tanh(y3/0.01 - 3)",
        *(f"1/(1 + y{i}**2)" for i in range(3, n)),
    ]
    model = herk.Model("large", states, E, rows, t_span=(0, 1), y0=[0] * n)
    found = [symbol.name for peak in model.peaks for symbol in peak.measure.free_symbols]
    assert sorted(found) == sorted(["y1", "y2", "y3", "y3", *states[3:]])


def test_powers_of_parameters_are_known_at_run_time() -> None:
    model = fed("(1 + (s/w)**2)**(-p)", w=0.1, p=3.0)
    found = compiled(model.peaks, model.t, model.states, tuple(model.parameters))
    assert found.at(np.zeros(1), np.zeros((1, 3)), np.array(model.values))[1].tolist() == [3.0]
    assert of_model.peaks(model.symbolic()) == model.peaks
