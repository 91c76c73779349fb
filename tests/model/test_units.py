"""Analysis does not depend on units.

Problems of the test set in random ones have the same index and levels.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import herk
import testset
from herk.linalg.balance import rank
from herk.model.index_reduction.regularize import regularize
from herk.model.index_reduction.scales import scales
from herk.model.model import Model

DECADES = 12
# Too large for formulas without structure, or without a model.
OTHERS = {n for tag in ("large", "callables", "contradictory") for n in testset.names(tag)}
PROBLEMS = [n for n in testset.names() if n not in OTHERS]
LARGE = ("andrews", "slider_crank")  # minutes in random units
STIFF = {*testset.names("stiff"), *testset.names("discontinuous")}
SOLVED = [name for name in PROBLEMS if name not in (*LARGE, *STIFF)]


def in_units(model: Model, seed: int) -> tuple[Model, list[sp.Integer]]:
    """Return the model with unknowns, rows and time in units of their own, and the units of the unknowns."""
    source = random.Random(seed)
    unit = lambda: sp.Integer(10) ** source.randint(-DECADES, DECADES)
    units, heights, clock = [unit() for _ in model.states], [unit() for _ in model.states], unit()
    new = {s: u * s for s, u in zip(model.states, units, strict=True)} | {model.t: clock * model.t}
    E = [
        [heights[i] * model.E[i, j].xreplace(new) * units[j] / clock for j in range(model.n)]
        for i in range(model.n)
    ]
    f = [heights[i] * model.f[i].xreplace(new) for i in range(model.n)]
    y0 = [None if v is None else float(sp.Rational(v) / u) for v, u in zip(model.y0, units, strict=True)]
    span = tuple(float(sp.Rational(v) / clock) for v in model.t_span)
    return Model(
        model.name, model.states, E, f, t=model.t, parameters=model.parameters, t_span=span, y0=y0
    ), units


def marked(name: str, seed: int) -> object:
    """Return a case of the test below; large models are for long runs."""
    return pytest.param(name, seed, marks=[pytest.mark.slow] if name in LARGE else [])


@pytest.mark.parametrize(
    ("name", "seed"), [marked(name, seed) for name in PROBLEMS for seed in range(1 if name in LARGE else 2)]
)
def test_index_and_levels_are_the_same_in_any_units(name: str, seed: int) -> None:
    model = testset.get(name).model
    here, there = regularize(model), regularize(in_units(model, seed)[0])
    assert [len(level) for level in there.levels] == [len(level) for level in here.levels]
    assert there.notes == here.notes


@pytest.mark.parametrize("name", SOLVED)
def test_a_problem_in_any_units_is_solved_to_the_same_digits(name: str) -> None:
    problem = testset.get(name)
    t0, t1 = problem.t_span
    model = problem.model.with_start(list(problem.y0)).with_span(t0 + 0.2 * (t1 - t0), t0)
    other, units = in_units(model, 5)
    scale, share = np.array(units, dtype=float), np.linspace(0.0, 1.0, 41)
    here = solved(model, share, np.ones(model.n))
    there = solved(other, share, scale) * scale[:, None]
    size = np.abs(here).max(axis=1, keepdims=True) + 1e-3
    assert (np.abs(there - here) <= 1e-4 * size).all()


def solved(model: Model, share: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return the solution at shares of the span, with absolute tolerances in these units."""
    t0, t1 = model.t_span
    times = t0 + share * (t1 - t0)
    times[-1] = t1
    sol = herk.solve_dae(model, method="dopri5", rtol=1e-7, atol=1e-8 / units, t_eval=times)
    assert sol.success, sol.message
    return np.asarray(sol.y)


@pytest.mark.parametrize("name", ["pendulum", "wind_pendulum", "spring_chain"])
def test_sizes_of_the_unknowns_change_with_their_units_alone(name: str) -> None:
    model = testset.get(name).model
    other, units = in_units(model, 1)
    for here, there, unit in zip(scales(model).y, scales(other).y, units, strict=True):
        assert there * float(unit) == pytest.approx(here, rel=1e-3)


@pytest.mark.parametrize("almost", [6.123e-17, -1.2e-16, 1e-30])
def test_a_start_value_that_is_zero_but_for_rounding_counts_as_zero(almost: float) -> None:
    model = testset.get("pendulum").model
    there = model.with_start([almost, -1.0, 1.0, 0.0, None])
    here = model.with_start([0.0, -1.0, 1.0, 0.0, None])
    np.testing.assert_allclose(scales(there).y, scales(here).y, rtol=1e-6)
    assert [len(level) for level in regularize(there).levels] == [1, 1, 1]
    assert regularize(there).notes == regularize(here).notes


@pytest.mark.parametrize("values", [{"l": 1e-6}, {"m": 1e-12}, {"l": 1e9, "m": 1e11}, {"g": 1e-10}], ids=str)
def test_a_pendulum_of_any_length_and_mass_has_index_three(values: dict[str, float]) -> None:
    f = ["v", "w", "-2*x*lam", "-2*y*lam - m*g", "x**2 + y**2 - l**2"]
    data = {"m": 1.0, "l": 1.0, "g": 9.81} | values
    y0 = [data["l"], 0, 0, 0, None]
    E = sp.diag(1, 1, sp.Symbol("m"), sp.Symbol("m"), 0)
    found = regularize(
        Model("pendulum", ["x", "y", "v", "w", "lam"], E, f, parameters=data, t_span=(0, 10), y0=y0)
    )
    assert (found.index, [len(level) for level in found.levels], found.notes) == (3, [1, 1, 1], ())


@pytest.mark.parametrize("method", ["dopri5", "radau5", "auto"])
def test_a_pendulum_of_any_length_mass_and_gravity_swings_from_any_angle(method: str) -> None:
    """Unknowns that are zero at the start may be of any size: the guess at it decides nothing."""
    rows = ["m*x'' = -2*x*lam", "m*y'' = -2*y*lam - m*g", "0 = x**2 + y**2 - l**2"]
    chance = random.Random(5)
    for angle in (0.0, 0.5 * np.pi, np.pi, 2.3, 4.1):
        length, m, g = (10 ** chance.uniform(-decades, decades) for decades in (12, 12, 6))
        rate = chance.choice((0.0, 0.7))
        x, y = (length * np.round(value, 15) for value in (np.cos(angle), np.sin(angle)))
        v = rate * np.sqrt(g / length)
        start = {"x": x, "y": y, "x'": -v * y, "y'": v * x}
        sizes = {"x": length, "y": length, "lam": m * g / length}
        model = Model.from_equations(
            "pendulum",
            rows,
            parameters={"m": m, "l": length, "g": g},
            start=start,
            t_span=(0, 3 * np.sqrt(length / g)),
        )
        atol = [1e-8 * sizes.get(name, np.sqrt(length * g)) for name in model.names]
        sol = herk.solve_dae(model, method=method, rtol=1e-8, atol=atol)
        assert sol.success
        in_angle = solve_ivp(
            lambda t, q: [q[1], -np.cos(q[0])], (0, 3), [angle, rate], rtol=1e-12, atol=1e-12
        )
        end = in_angle.y[0, -1]
        assert sol["x"][-1] / length == pytest.approx(np.cos(end), abs=1e-5)
        assert sol["y"][-1] / length == pytest.approx(np.sin(end), abs=1e-5)


def test_an_entry_that_is_zero_by_an_identity_has_no_rank() -> None:
    # x' = z and x = sin t: index 2, whatever is written in place of zero.
    for zero in ("sin(t)**2 + cos(t)**2 - 1", "sin(x)**2 + cos(x)**2 - 1", "cosh(t)**2 - sinh(t)**2 - 1"):
        model = Model(
            "zero", ["x", "z"], [[1, 0], [0, zero]], ["z", "x - sin(t)"], t_span=(0, 1), y0=[0, None]
        )
        found = regularize(model)
        assert (found.index, [len(level) for level in found.levels]) == (2, [1, 1])


def test_the_rank_of_a_matrix_of_doubles_does_not_depend_on_units() -> None:
    source = np.random.default_rng(7)
    for _ in range(20):
        matrix = source.normal(size=(6, 3)) @ source.normal(size=(3, 5))
        scaled = matrix * 10.0 ** source.integers(-40, 40, (6, 1)) * 10.0 ** source.integers(-40, 40, 5)
        assert rank(matrix) == rank(scaled) == 3
        noise = 1e-17 * source.normal(size=(7, 4)) * source.integers(0, 2, (7, 4))
        regular = np.vstack(
            [np.diag([1.0, 2.0, 3.0, 4.0]), source.normal(size=(3, 4)) * source.integers(0, 2, (3, 4))]
        )
        units = 10.0 ** source.integers(-12, 12, (7, 1)) * 10.0 ** source.integers(-12, 12, 4)
        assert rank((regular + noise) * units) == 4
    assert rank(np.diag([1e-200, 1.0, 1e200])) == 3
    assert rank(np.zeros((3, 2))) == 0
    assert rank(np.array([[1e-12, 1.0], [1e-12, 1.0]])) == 1


def test_places_of_e_that_are_zero_by_an_identity_are_told() -> None:
    E = [[1, "t*(sin(t)**2 + cos(t)**2 - 1)"], [0, 0]]
    found = regularize(Model("told", ["x", "z"], E, ["z", "x - sin(t)"], t_span=(0, 1), y0=[0, None]))
    assert found.zeros == ((0, 1),)
    assert any("of z' is zero everywhere" in note for note in found.notes)
    assert found.model.form("overdetermined").algebraic == (1,)


def test_an_entry_that_is_zero_on_one_branch_only_is_not_taken_for_zero() -> None:
    E = [[1, 0], [0, "Piecewise((0, x < 5), (1, True))"]]
    found = regularize(Model("branch", ["x", "z"], E, ["1", "z - x"], t_span=(0, 1), y0=[0, 0]))
    assert (found.index, found.zeros) == (1, ())
