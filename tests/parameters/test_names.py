"""Derivatives are named as people write them: x' is the state dx."""

from __future__ import annotations

import numpy as np

import herk

# x'' = -w^2 x from x = 0, x' = 1: x = sin(w t) / w
SPRING = herk.Model.from_equations(
    "spring", ["x'' = -w**2*x"], parameters={"w": 2.0}, start={"x": 0, "x'": 1}, t_span=(0, 1)
)


def test_sweeps_sensitivities_and_data_know_derivatives_by_their_primes() -> None:
    found = herk.solve_many(SPRING, y0={"x'": [1.0, 3.0]}, t_eval=[1.0], rtol=1e-10)
    assert np.allclose(found["x"][:, 0], np.array([1, 3]) * np.sin(2) / 2, rtol=1e-7)
    again = herk.solve_many(SPRING, {"y0:x'": [1.0, 3.0]}, t_eval=[1.0], rtol=1e-10)
    assert np.array_equal(found.y, again.y)
    sol = herk.solve_dae(SPRING, t_eval=[1.0], sensitivities=["y0:x'"], rtol=1e-10)
    assert np.allclose(sol.dyd("y0:x'", "x'"), np.cos(2), rtol=1e-7)
    fitted = herk.fit(SPRING, {"t": [0.5, 1.0], "x'": np.cos(3 * np.array([0.5, 1.0]))}, {"w": 2.5})
    assert abs(fitted["w"] - 3.0) < 1e-5
    start = herk.fit(SPRING, {"t": [0.5, 1.0], "x": 3 * np.sin([1.0, 2.0]) / 2}, {"y0:x'": 2.0})
    assert abs(start["y0:dx"] - 3.0) < 1e-5
