"""Parameters at run time: one analysis and one code for all values, and never the wrong constraints."""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset
from herk.core import InputError
from herk.jit.native import Native


def pendulum(**values: float) -> herk.Model:
    return herk.Model(
        "pendulum",
        ["x", "y", "v", "w", "lam"],
        [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, "m", 0, 0], [0, 0, 0, "m", 0], [0] * 5],
        ["v", "w", "-2*x*lam", "-2*y*lam - m*g", "x**2 + y**2 - l**2"],
        parameters={"m": 1.0, "l": 1.0, "g": 9.81} | values,
        t_span=(0, 1),
        y0=[1, 0, 0, 0, None],
    )


def test_other_values_compile_nothing_and_give_what_a_model_with_them_gives():
    model = pendulum()
    herk.solve_dae(model)
    before = Native.compilations
    for length in (0.7, 1.3, 2.0):
        start = [length, 0, 0, 0, None]
        sol = herk.solve_dae(model, parameters={"l": length, "g": 5.0}, y0=start)
        assert np.abs(sol.y[0] ** 2 + sol.y[1] ** 2 - length**2).max() < 1e-14
        own = herk.solve_dae(pendulum(l=length, g=5.0).with_start(start))
        assert np.array_equal(own.y, sol.y)
    assert Native.compilations == before


def test_values_reach_problems_forms_and_formulas():
    problem = testset.get("pendulum")
    sol = herk.solve_dae(problem, (0.0, 0.5), parameters={"g": 0.0})
    np.testing.assert_allclose(sol.y[:, -1], [-1, 0, 0, 0, 0], atol=1e-12)  # nothing pulls
    heavy = pendulum().with_parameters(m=3.0)
    np.testing.assert_allclose(np.diag(heavy.form("index1").E), [1, 1, 3, 3, 0])
    assert not heavy.form("ode").generated.equations().f.free_symbols - set(heavy.states)


def test_a_value_at_which_the_structure_changes_is_analysed_for_itself():
    # With k = 0 the row k x' = z - y is the constraint 0 = z - y, and what was index 1 is index 2.
    def model(k: float) -> herk.Model:
        return herk.Model(
            "k",
            ["x", "y", "z"],
            [["k", 0, 0], [0, 1, 0], [0, 0, 0]],
            ["z - y", "-y", "x - z"],
            parameters={"k": k},
            t_span=(0, 1),
            y0=[None, 1, None] if k == 0 else [2, 1, 2],
        )

    general = herk.solve_dae(model(1.0), rtol=1e-9)
    assert general.success
    assert general.y[1, -1] == pytest.approx(np.exp(-1), rel=1e-7)
    special = herk.solve_dae(model(0.0), rtol=1e-9)
    np.testing.assert_allclose(special.y[:, -1], np.exp(-1), rtol=1e-7)
    again = herk.solve_dae(model(1.0), parameters={"k": 0.0}, y0=[1, 1, 1], rtol=1e-9)
    np.testing.assert_allclose(again.y[:, -1], np.exp(-1), rtol=1e-7)


def test_wrong_parameters_are_refused_in_a_sentence():
    with pytest.raises(InputError, match=r"Did you mean 'l'|Known"):
        herk.solve_dae(pendulum(), parameters={"length": 1.0})
    with pytest.raises(InputError, match="mapping"):
        herk.solve_dae(pendulum(), parameters=[1.0])
    with pytest.raises(InputError, match="finite"):
        herk.solve_dae(pendulum(), parameters={"l": np.nan})
    with pytest.raises(InputError, match="callables keep their values"):
        herk.solve_dae(herk.Dae(E=np.eye(1), f=lambda t, y: -y, n=1), (0, 1), [1.0], parameters={"l": 1.0})
