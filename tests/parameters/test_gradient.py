"""Derivatives of numbers computed from a solution, against exact ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import herk

# x = x0 exp(-k t), z = x^2
DECAY = herk.Model(
    "decay",
    ["x", "z"],
    [[1, 0], [0, 0]],
    ["-k*x", "z - x**2"],
    parameters={"k": 0.7},
    t_span=(0, 2),
    y0=[1.5, None],
)
TIGHT = {"rtol": 1e-11, "atol": 1e-13}


def test_the_last_value_of_a_component_has_the_exact_derivatives() -> None:
    found = herk.gradient(DECAY, "z", ["k", "y0:x"], **TIGHT)
    z = 1.5**2 * np.exp(-2.8)
    assert found.value == pytest.approx(z, rel=1e-9)
    assert found["k"] == pytest.approx(-4 * z, rel=1e-8)
    assert found["y0:x"] == pytest.approx(2 * z / 1.5, rel=1e-8)
    assert found.array.tolist() == [found["k"], found["y0:x"]]


def test_any_function_of_the_solution_is_differentiated() -> None:
    times = np.linspace(0, 2, 11)
    found = herk.gradient(
        DECAY, lambda sol: np.sum(np.sin(sol["x"])), "k", t_eval=times, parameters={"k": 0.5}, **TIGHT
    )
    x = 1.5 * np.exp(-0.5 * times)
    assert found["k"] == pytest.approx(-np.sum(np.cos(x) * times * x), rel=1e-8)


@pytest.mark.parametrize(
    "kink", [lambda sol: np.abs(sol["x"] - 1).sum(), lambda sol: float(np.max(-sol["x"].real))]
)
def test_functions_that_are_not_analytic_are_differentiated_by_real_steps(kink: Any) -> None:
    times = np.array([0.5, 1.8])
    x = 1.5 * np.exp(-0.7 * times)
    found = herk.gradient(DECAY, kink, ["k"], t_eval=times, **TIGHT)
    both = np.sign(x - 1) @ (-times * x)
    expected = both if found.value > 0 else times[1] * x[1]
    assert found["k"] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"names": ["kk"]}, "Did you mean 'k'"),
        ({"names": 3}, "must be names of parameters"),
        ({"names": ["y0:q"]}, "no unknown named"),
        ({"names": ["y0:z"]}, "is computed, not given"),
        ({"scalar": 3}, "scalar must be a function"),
        ({"scalar": "q"}, "no component"),
        ({"scalar": lambda sol: sol.y}, "must return a finite number"),
        ({"system": 3}, "gradient takes a herk.Model"),
        ({"dense_output": True}, "gradient does not take"),
        ({"max_steps": 2}, "no solution to differentiate"),
    ],
)
def test_wrong_input_gets_a_sentence(change: dict[str, Any], words: str) -> None:
    given = {"system": DECAY, "scalar": "x", "names": ["k"]} | change
    with pytest.raises(herk.InputError, match=words):
        herk.gradient(**given)


def test_an_unknown_derivative_is_named() -> None:
    with pytest.raises(herk.InputError, match="no derivative named"):
        herk.gradient(DECAY, "x", ["k"])["q"]
