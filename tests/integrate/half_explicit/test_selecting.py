"""Selections on the way: what is computed from what does not hang on units, and enlarges no error."""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset
from herk.integrate import kept
from tests.fuzz import mechanisms
from tests.fuzz.member import Array, Member
from tests.fuzz.units import in_units

PERIODS = 2.4
UNITS = (2, 4, 9, 16, 22, 25)
DECADES = 2  # with more, entries are negligible beside others, and nobody compares them


def pendulum() -> Member:
    """Return the pendulum of the test set in usual units, with its exact solution."""
    problem = testset.get("pendulum")
    model, exact = problem.model, problem.reference.exact
    values = {name: float(value) for name, value in model.parameters.items()}
    t_end = 2.0 * PERIODS

    def truth(times: Array) -> Array:
        return np.array([exact(float(t)) for t in times]).T

    entries = [[str(model.E[i, j].subs(values)) for j in range(model.n)] for i in range(model.n)]
    sizes = np.abs(truth(np.linspace(0.0, t_end, 101))).max(axis=1)
    return Member(
        family="pendulum",
        kind="",
        seed=0,
        states=tuple(model.names),
        E=tuple(map(tuple, entries)),
        f=tuple(str(row.subs(values)) for row in model.f),
        t_span=(0.0, t_end),
        y0=tuple(float(y) for y in problem.y0),
        sizes=tuple(map(float, sizes)),
        truth=truth,
        method="bs32",
        rtol=1e-5,
    )


def largest_error(member: Member) -> float:
    """Return the largest error at accepted points in tolerances."""
    sol = herk.solve_dae(member.model(), method=member.method, rtol=member.rtol, atol=member.atol)
    assert sol.success, sol.message
    return float((np.abs(sol.y - member.truth(sol.t)) / member.atol[:, None]).max())


@pytest.mark.parametrize("seed", UNITS)
def test_errors_in_random_units_are_those_in_usual_ones(seed: int) -> None:
    # Positions may be computed from velocities, but not until these nearly vanish, which enlarges errors.
    member = pendulum()
    assert largest_error(in_units(member, np.random.default_rng(seed), DECADES)) < 10 * largest_error(member)


@pytest.mark.parametrize("method", ["dop853", "tsit5"])
def test_a_selection_that_was_waited_for_is_made_once_and_leads_to_the_same_steps(method: str) -> None:
    """Asked for after rejections, it was looked at again when it had come, which made its pivots seem poor."""
    member = mechanisms.make(22000008)
    asked = {"method": method, "rtol": member.rtol, "atol": member.atol}
    kept._kept.clear()
    first, second = (herk.solve_dae(member.model(), **asked) for _ in range(2))
    assert len(first.selections) > 3
    assert np.array_equal(first.t, second.t)
    assert np.array_equal(first.y, second.y)


@pytest.mark.parametrize("unit", [1e-15, 1.0, 1e15])
def test_constraints_hold_in_any_unit_of_theirs_after_a_selection_that_changed_nothing(unit: float) -> None:
    """Elimination wrote over dg/dy, by which Newton's method tells what rounding is: it took nothing for it."""
    gravity = 9.81

    def f(t: float, z: Array) -> Array:
        return np.array([z[2], z[3], -2 * z[4] * z[0], -2 * z[4] * z[1] - gravity, 0.0])

    def g(t: float, z: Array) -> Array:
        length = z[0] ** 2 + z[1] ** 2
        speed = z[2] ** 2 + z[3] ** 2
        return unit * np.array(
            [length - 1, z[0] * z[2] + z[1] * z[3], speed - gravity * z[1] - 2 * z[4] * length]
        )

    dae = herk.Dae(E=np.diag([1.0, 1.0, 1.0, 1.0, 0.0]), f=f, g=g, n=5, m=3)
    sol = herk.solve_dae(dae, (0.0, 10.0), [1.0, 0.0, 0.0, 0.0, 0.0], rtol=1e-6, atol=1e-6)
    assert sol.success, sol.message
    worst = max(np.abs(g(t, y)).max() for t, y in zip(sol.t, sol.y.T, strict=True))
    assert worst < 1e-9 * unit
    energy = (sol.y[2] ** 2 + sol.y[3] ** 2) / 2 + gravity * sol.y[1]
    assert np.abs(energy).max() < 1e-3
