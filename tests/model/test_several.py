"""Start values left open for which several values fit: one is taken, and a note names it and another one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import herk

METHODS = ("auto", "dopri5", "radau5")


def lag(constraint: str, start: tuple[float | None, ...] = (0.0, None), **parameters: float) -> herk.Model:
    """Return x' = a - x, where a is what a constraint leaves."""
    given: dict[str, Any] = {"parameters": parameters, "t_span": (0, 1), "y0": start}
    return herk.Model("lag", ["x", "a"], [[1, 0], [0, 0]], ["a - x", constraint], **given)


@pytest.mark.parametrize("method", METHODS)
def test_a_note_names_the_unknown_the_value_taken_and_another_one(method: str) -> None:
    for _ in range(2):  # with a machine of its own, and with one in use again
        sol = herk.solve_dae(lag("a**2 - c", c=4.0), method=method)
        (note,) = sol.notes
        assert sol.y[1, 0] == pytest.approx(2.0)
        assert "a = 2 was taken, a = -2 fits as well" in note
        assert 'consistent="project"' in note


def test_the_value_that_fits_as_well_is_the_start_of_a_solution_and_choosing_it_ends_the_note() -> None:
    sol = herk.solve_dae(lag("a**2 - c", (0.0, -2.0), c=4.0))
    assert sol.notes == ()
    assert sol.y[:, -1] == pytest.approx([-2 * (1 - math.exp(-1)), -2.0], rel=1e-5)
    near = herk.solve_dae(lag("a**2 - c", (0.0, -1.5), c=4.0), consistent="project")
    assert near.notes == ()
    assert near.y[1, 0] == pytest.approx(-2.0)


def test_other_values_of_parameters_have_notes_of_their_own() -> None:
    prepared = herk.prepare(lag("a**2 - c", c=4.0))
    assert "a = 2 was taken" in prepared.solve().notes[0]
    assert "a = 3 was taken" in prepared.solve(parameters={"c": 9.0}).notes[0]
    assert prepared.solve(y0=[0.0, 2.0]).notes == ()
    assert "a = 3 was taken" in herk.solve_dae(lag("a**2 - c", c=9.0)).notes[0]


@pytest.mark.parametrize(
    "options", [{"dense_output": True}, {"breakpoints": [0.5]}, {"consistent": "project"}]
)
def test_the_note_is_there_however_the_run_is_made(options: dict[str, Any]) -> None:
    for _ in range(2):
        (note,) = herk.solve_dae(lag("a**2 - c", c=4.0), **options).notes
        assert "a = -2 fits as well" in note


@pytest.mark.parametrize(
    "constraint",
    ["a - 3", "exp(a) - 2", "a**3 + a - 10", "a**3 - 8", "a - x**2 - 1", "exp(40*a) + a - 2", "sinh(a) - 5"],
)
def test_where_one_value_alone_fits_there_is_no_note(constraint: str) -> None:
    assert herk.solve_dae(lag(constraint)).notes == ()


def test_a_pendulum_whose_side_is_left_open_says_so_and_one_with_open_forces_does_not() -> None:
    E = np.diag([1, 1, 1, 1, 0]).tolist()
    f = ["v", "w", "-x*k", "-y*k - 9.81", "x**2 + y**2 - 1"]
    names = ["x", "y", "v", "w", "k"]
    model = herk.Model("pendulum", names, E, f, t_span=(0, 1), y0=[None, -0.6, 0.3, None, None])
    (note,) = herk.solve_dae(model).notes
    assert "x = 0.8, w = 0.4 was taken, x = -0.8, w = -0.4 fits as well" in note
    assert herk.solve_dae(model.with_start([0.8, -0.6, 0.3, None, None])).notes == ()


def test_callables_have_the_note_too() -> None:
    dae = herk.Dae(
        E=lambda t, y: np.diag([1.0, 0.0]),
        f=lambda t, y: np.array([y[1] - y[0], 0.0]),
        g=lambda t, y: np.array([y[1] ** 2 - 4.0]),
        n=2,
        m=1,
    )
    (note,) = herk.solve_dae(dae, (0, 1), [0.0, None]).notes
    assert "2 was taken" in note
    assert "-2 fits as well" in note


def test_starts_that_are_completed_by_a_machine_in_use_name_what_was_taken() -> None:
    """a**2 + 3*a = c has the roots -1.5 +- sqrt(2.25 + c); from zero one of them is reached at once."""
    prepared = herk.prepare(lag("a**2 + 3*a - c", c=4.0))
    assert "a = 1 was taken, a = -4 fits as well" in prepared.solve().notes[0]
    assert "a = 2 was taken" in prepared.solve(parameters={"c": 10.0}).notes[0]
    given = herk.prepare(lag("a**2 + 3*a - c", (0.0, 1.0), c=4.0))
    assert given.solve().notes == ()
    assert "a = -4 fits as well" in given.solve(y0=[0.0, None]).notes[0]
