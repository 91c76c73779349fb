"""Second opinions: the defect from formulas as written, and a run at a tenth of the tolerances."""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset


def test_the_defect_of_a_right_solution_follows_the_tolerance() -> None:
    found = [
        herk.solve_dae(testset.get("pendulum", t_end=1.0), rtol=tol, atol=tol, defect=True).defect
        for tol in (1e-5, 1e-8)
    ]
    assert found[0] < 1e-2
    assert found[1] < 0.1 * found[0]


def test_the_defect_finds_a_solver_that_ran_other_equations() -> None:
    model = testset.get("pendulum", t_end=1.0).model
    heavier = herk.solve_dae(
        model, parameters={"g": 1.01 * model.with_parameters().values[-1]}, dense_output=True
    )
    from herk.integrate.defect import largest_defect

    assert largest_defect(model, heavier) > 1e-3


def test_the_defect_of_callables_is_theirs() -> None:
    dae = herk.Dae(E=np.eye(1), f=lambda t, y: -y, n=1)
    sol = herk.solve_dae(dae, (0.0, 1.0), [1.0], rtol=1e-8, atol=1e-8, defect=True)
    assert 0 < sol.defect < 1e-4
    assert sol.sol is None


@pytest.mark.parametrize("name", ["pendulum", "cv_circuit", "akzo"])
def test_the_error_estimate_is_near_the_error(name) -> None:
    problem = testset.get(name)
    sol = herk.solve_dae(problem, method="dopri5", rtol=1e-6, atol=1e-6, error_estimate=True)
    wrong = np.abs(sol.y[:, -1] - problem.reference.y)
    assert (wrong <= 3 * sol.error_estimate + 1e-12).all()
    assert sol.error_estimate.max() <= 1e3 * max(wrong.max(), 1e-9)


def test_nothing_is_estimated_unless_it_is_asked_for() -> None:
    sol = herk.solve_dae(testset.get("academic"))
    assert sol.defect is None
    assert sol.error_estimate is None
