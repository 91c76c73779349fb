"""Sensitivities against differences of runs with far smaller errors: index 1 to 5, both steppers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import herk
import testset
from herk.core.dae import Array
from tests.integrate.sensitivity.differences import extrapolated

# problem -> end of the span, start, step of the differences for every name, what the reference is run with
STIFF = {"method": "radau5", "rtol": 1e-12}
CASES: dict[str, tuple[float, Any, dict[str, float], dict[str, Any]]] = {
    "pendulum": (2.0, [0.6, -0.8, 0, 0, None], {"l": 1e-3, "g": 1e-2, "m": 1e-3, "y0:x": 1e-3}, {}),
    "wind_pendulum": (5.0, None, {"m": 2e-3, "g": 1e-2, "l0": 2e-3, "wind": 1e-3}, {}),
    "spring_chain": (10.0, None, {"m": 1e-3, "c": 2e-4}, {}),
    "cv_circuit": (0.1, None, {"omega": 5e-2}, {}),
    "akzo": (180.0, None, {"k1": 2e-2, "k2": 3e-4, "K": 3e-2, "klA": 3e-3}, STIFF),
    "car_axis": (1.0, None, {"L0": 5e-6, "r": 1e-6, "omega": 1e-4, "K": 5e-9}, {}),
    "slider_crank": (1e-3, None, {"y0:q1": 1e-5, "y0:v4": 1e-2}, {"rtol": 1e-12}),
}


def model_of(problem: str) -> Any:
    """Return the model over the span and from the start of the case."""
    t_end, y0, _, _ = CASES[problem]
    model = testset.get(problem).model.with_span(t_end)
    return model if y0 is None else model.with_start(y0)


@cache
def reference(problem: str, name: str) -> Array:
    """Return the sensitivity at the end of the span."""
    _, _, steps, options = CASES[problem]
    return extrapolated(
        model_of(problem), name, steps[name], tuple(steps), atol=atol(problem, 1e-15), **options
    )


def atol(problem: str, size: float) -> Any:
    """Return tolerances in the units of the unknowns."""
    found = testset.get(problem)
    return found.atol(size) if found.sizes else size


@pytest.mark.parametrize("method", ["dopri5", "radau5"])
@pytest.mark.parametrize("problem", CASES)
def test_sensitivities_agree_with_extrapolated_differences(problem: str, method: str) -> None:
    model, names = model_of(problem), list(CASES[problem][2])
    rtol = 1e-10 if problem == "slider_crank" else 1e-11  # its rounding is larger
    how = {"method": method, "rtol": rtol, "atol": atol(problem, 1e-13), "consistent": "project"}
    sol = herk.solve_dae(model, sensitivities=names, t_eval=[model.t_span[1]], **how)
    assert sol.success
    for name in names:
        expected = reference(problem, name)
        assert np.abs(sol.dyd(name)[:, -1] - expected).max() < 1e-8 * np.abs(expected).max(), name
