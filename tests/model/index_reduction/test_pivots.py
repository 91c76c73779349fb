"""What is solved does not depend on the order of rows and unknowns.

Also where entries vanish at the start.
"""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from herk.model.index_reduction.regularize import Regularization, regularize
from herk.model.model import Model


def leading(n: int, *diagonal: object) -> sp.Matrix:
    return sp.diag(*(sp.sympify(d) for d in diagonal), *[0] * (n - len(diagonal)))


def driven() -> Model:
    """The multiplier mu acts on x by a lever that is zero at the start; 0 = y - 1 makes it vanish."""
    f = ["w + x*mu", "y*mu", "lam - x", "x - sin(t)", "y - 1"]
    return Model(
        "driven", ["x", "y", "w", "mu", "lam"], leading(5, 1, 1, 1), f, t_span=(0, 1), y0=[0, 1, 1, 0, 0]
    )


def body() -> Model:
    """A body that may only turn about its third axis, by quaternions, at identity."""
    f = [
        *("(-q1*w1 - q2*w2 - q3*w3)/2 + q0*mu", "(q0*w1 + q2*w3 - q3*w2)/2 + q1*mu"),
        *("(q0*w2 + q3*w1 - q1*w3)/2 + q2*mu", "(q0*w3 + q1*w2 - q2*w1)/2 + q3*mu"),
        *("(I2 - I3)*w2*w3 + a", "(I3 - I1)*w1*w3 + b", "(I1 - I2)*w1*w2 + 1"),
        *("q0**2 + q1**2 + q2**2 + q3**2 - 1", "q1*q3 - q0*q2", "q2*q3 + q0*q1"),
    ]
    states = ["q0", "q1", "q2", "q3", "w1", "w2", "w3", "mu", "a", "b"]
    E = leading(10, 1, 1, 1, 1, "I1", "I2", "I3")
    values = {"I1": 1.0, "I2": 2.0, "I3": 3.0}
    return Model("body", states, E, f, parameters=values, t_span=(0, 1), y0=[1, 0, 0, 0, 0, 0, 1, 0, 0, 0])


def crane() -> Model:
    """Trolley and winch move so that the load follows x = t**5, z = 2.

    The rope hangs straight at the start.
    """
    f = [
        *("vx", "vz", "vs", "vl", "-lam*(x - s)", "-lam*z + m*g", "F + lam*(x - s)", "U + lam*l"),
        *("x - t**5", "z - 2", "(x - s)**2 + z**2 - l**2"),
    ]
    states = ["x", "z", "s", "l", "vx", "vz", "vs", "vl", "lam", "F", "U"]
    values = {"m": 10.0, "g": 9.81, "M": 5.0, "J": 2.0}
    E = leading(11, 1, 1, 1, 1, "m", "m", "M", "J")
    # lam = m g / z, U = -lam l, and no force on the trolley: the fourth derivative of t**5 vanishes at 0.
    y0 = [0, 2, 0, 2, 0, 0, 0, 0, 49.05, 0, -98.1]
    return Model("crane", states, E, f, parameters=values, t_span=(0, 1), y0=y0)


def permuted(model: Model, rows: list[int], columns: list[int]) -> Model:
    E, f = model.E.extract(rows, columns), [model.f[i] for i in rows]
    states, y0 = [model.states[j] for j in columns], [model.y0[j] for j in columns]
    return Model(model.name, states, E, f, parameters=model.parameters, t_span=model.t_span, y0=y0)


def holds_at_start(found: Regularization) -> None:
    """Check that the constraints are finite and zero at the start, and that they and E determine y' there."""
    model = found.model
    values = (
        dict(model.parameters) | dict(zip(model.states, model.y0, strict=True)) | {model.t: model.t_span[0]}
    )
    g = sp.Matrix(found.constraints)
    numbers = np.array(g.subs(values), dtype=float)
    assert np.max(np.abs(numbers)) < 1e-12
    stacked = np.array(sp.Matrix([model.E, g.jacobian(sp.Matrix(model.states))]).subs(values), dtype=float)
    assert np.linalg.svd(stacked, compute_uv=False)[-1] > 1e-3


CASES = {driven: (2, 2, 1), body: (3, 3, 2), crane: (3, 3, 3, 1, 1)}


@pytest.mark.parametrize("make", CASES)
def test_every_order_of_the_constraints_gives_constraints_that_are_regular_at_the_start(make) -> None:
    model = make()
    last = [i for i in range(model.n) if not any(model.E[i, :])]
    for order in permutations(last):
        found = regularize(permuted(model, [*range(model.n - len(last)), *order], list(range(model.n))))
        assert tuple(len(level) for level in found.levels) == CASES[make]
        assert not found.notes
        holds_at_start(found)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.sampled_from([driven, body]), st.randoms(use_true_random=False))
def test_any_order_of_rows_and_unknowns_gives_the_same_levels_and_a_regular_start(make, source) -> None:
    model = make()
    rows, columns = list(range(model.n)), list(range(model.n))
    source.shuffle(rows)
    source.shuffle(columns)
    found = regularize(permuted(model, rows, columns))
    assert tuple(len(level) for level in found.levels) == CASES[make]
    holds_at_start(found)


def test_a_row_of_e_that_vanishes_at_the_start_is_not_divided_by() -> None:
    # x = t and y = 1 + t make x y' = x; the second row has a good pivot, the first one a zero, in either
    # order.
    E = [["x", "y", 0], ["y", "x", 0], ["x + y", "x + y", 0]]
    f = ["x + y", "x + y", "2*x + 2*y + z"]
    for order in permutations(range(3)):
        model = Model(
            "zero", ["x", "y", "z"], [E[i] for i in order], [f[i] for i in order], t_span=(0, 1), y0=[0, 1, 0]
        )
        found = regularize(model)
        assert (found.index, found.notes) == (1, ())
        assert found.constraints in ([model.states[2]], [-model.states[2]])


def test_combinations_without_division_are_preferred_where_they_are_not_longer() -> None:
    # z z' = sin x: the derivative of 0 = x + z - 2 reads 0 = u + sin(x)/z, or u z + sin x, as short, without
    # a pole.
    E = [[1, 0, 0], [0, "z", 0], [0, 0, 0]]
    model = Model("divided", ["x", "z", "u"], E, ["u", "sin(x)", "x + z - 2"], t_span=(0, 1), y0=[1, 1, None])
    x, z, u = model.states
    hidden = regularize(model).levels[1][0]
    assert sp.expand(hidden - (u * z + sp.sin(x))) == 0


def test_branches_far_from_the_start_are_kept_in_any_order_of_the_rows() -> None:
    """With q = u + w^2, w = max(u - 1/2, 0) and u = t the current is I = -1 - 2 w w'.

    Of which the start sees -1.
    """
    q, u, w, current, t = sp.symbols("q u w I t", real=True)
    states = (q, u, w, current)
    channel = sp.Piecewise((u - sp.Rational(1, 2), u > sp.Rational(1, 2)), (0, True))
    f = [-current, u - t, w - channel, q - u - w**2]
    for order in permutations(range(1, 4)):
        rows = [f[0], *(f[i] for i in order)]
        found = regularize(
            Model("branches", states, sp.diag(1, 0, 0, 0), rows, t_span=(0, 2), y0=(0, 0, 0, -1))
        )
        assert ([len(level) for level in found.levels], found.notes) == ([3, 1], ())
        for at, values in ((0, (0, 0, 0, -1)), (1, (sp.Rational(5, 4), 1, sp.Rational(1, 2), -2))):
            assert found.levels[1][0].subs({t: at, **dict(zip(states, values, strict=True))}) == 0


def turned(rate: sp.Expr, phase: sp.Expr, seed: int) -> Model:
    """x' = -x, 0 = z - x, u = z': the rows of x and z turn into each other, so no row is ever the constraint."""
    source = random.Random(seed)
    angle = rate * sp.Symbol("t", real=True) + phase
    c, s = sp.cos(angle), sp.sin(angle)
    x, z, u = sp.symbols("x z u", real=True)
    E = sp.Matrix([[c, 0, 0], [s, 0, 0], [0, 1, 0]])
    f = sp.Matrix([-c * x - s * (z - x), -s * x + c * (z - x), u])
    rows, columns = source.sample(range(3), 3), source.sample(range(3), 3)
    y0 = [(1.0, 1.0, -1.0)[j] for j in columns]
    states = [(x, z, u)[j] for j in columns]
    return Model("turned", states, E.extract(rows, columns), f.extract(rows, [0]), t_span=(0, 6), y0=y0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rate", [1, sp.Rational(7, 10), sp.Rational(-5, 2)])
def test_constraints_of_rows_that_turn_have_no_pole_and_no_zero_on_the_way(rate: sp.Expr, seed: int) -> None:
    model = turned(sp.sympify(rate), sp.Rational(seed, 5), seed)
    found = regularize(model)
    x, z, u = sp.symbols("x z u", real=True)
    exact = {x: sp.exp(-model.t), z: sp.exp(-model.t), u: -sp.exp(-model.t)}
    assert found.index == 2
    # z - x and u + x, times factors that never vanish.
    for constraint, unknown in zip(found.constraints, (z, u), strict=True):
        slope = sp.lambdify(model.t, constraint.diff(unknown))
        sizes = [abs(slope(time)) for time in np.linspace(0, 6, 400)]
        assert max(sizes) < 20 * min(sizes)
        value = sp.lambdify(model.t, constraint.xreplace(exact))
        assert max(abs(value(time)) for time in np.linspace(0, 6, 50)) < 1e-12 * max(sizes)
