"""A name may be written as a text, with primes, or be sympy's: all mean the same component or parameter."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import herk
from herk.core.names import among, as_name, as_state, as_varied, place

t = dynamicsymbols._t
x, theta = dynamicsymbols(r"x \theta_{1}")
w, mu = sp.symbols(r"w \mu")


@pytest.mark.parametrize(
    ("key", "name"),
    [("x'", "x'"), (x, "x"), (x.diff(t, 2), "x''"), (theta.diff(t), "theta_1'"), (mu, "mu"), (3, "3")],
)
def test_a_key_has_the_name_one_would_write(key: object, name: str) -> None:
    assert as_name(key) == name


def test_a_prime_stands_for_the_state_of_a_derivative_unless_a_state_has_that_name() -> None:
    assert as_state("x''", ["x", "dx", "ddx"]) == "ddx"
    assert as_state("dx", ["dx"]) == "dx"
    assert as_varied("y0:x'", ["x", "dx"]) == "y0:dx"
    assert place(x.diff(t), ["x", "dx"], "component") == 1
    assert among("y0:x'", ["g", "y0:dx"], "name") == "y0:dx"
    with pytest.raises(herk.InputError, match="There is no component named 'q'"):
        place("q", ["x"], "component")


def test_every_door_takes_sympys_names() -> None:
    """x'' = -w^2 x from x = 0, x' = 1: x = sin(w t) / w."""
    model = herk.Model.from_equations(
        "spring", [x.diff(t, 2) + w**2 * x], parameters={w: 2}, start={x: 0, x.diff(t): 1}, t_span=(0, 1)
    )
    tight = {"rtol": 1e-10, "atol": 1e-12}
    sol = herk.solve_dae(model, y0={x.diff(t): 3}, parameters={w: 2.5}, sensitivities=[w, "y0:x'"], **tight)
    assert np.allclose(sol[x], 3 * np.sin(2.5 * sol.t) / 2.5, atol=1e-8)
    assert np.array_equal(sol[x.diff(t)], sol["x'"])
    assert np.allclose(sol.dyd("y0:dx", x), np.sin(2.5 * sol.t) / 2.5, atol=1e-8)
    assert np.array_equal(sol.dyd(w), sol.dyd("w"))
    many = herk.solve_many(model, {w: [1.0, 2.0]}, {x.diff(t): [1.0, 3.0]}, t_eval=[1.0], **tight)
    assert np.allclose(many[x][:, 0], [np.sin(1), 1.5 * np.sin(2)], atol=1e-8)
    slope = herk.gradient(model, "x", [w, "y0:x'"], **tight)
    assert slope[w] == pytest.approx(np.cos(2) / 2 - np.sin(2) / 4, abs=1e-8)
    assert slope["y0:x'"] == pytest.approx(np.sin(2) / 2, abs=1e-8)
    times = np.array([0.5, 1.0])
    fit = herk.fit(model, {"t": times, x: np.sin(3 * times) / 3}, {w: 2.5}, sigma={x: 0.1})
    assert fit[w] == pytest.approx(3.0, abs=1e-5)
