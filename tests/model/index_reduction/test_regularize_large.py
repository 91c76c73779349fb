"""Analysis of what is large comes to an end: a loop of links in angles, a long chain of rods."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp

from herk.model.index_reduction.regularize import RegularizationError, regularize
from herk.model.index_reduction.writing import tidy
from herk.model.model import Model

LENGTHS, MASSES, GRAVITY, BASE = (1.0, 1.1, 1.2, 1.3), (1.0, 2.0, 3.0, 4.0), 9.81, 2.0
ANGLES = (1.2, 0.3, -0.09031523742830692, -2.0577678680637166)  # the loop is closed


def behind(i: int, j: int) -> float:
    """Return the masses, at the ends of the links, that both links i and j carry."""
    return sum(MASSES[max(i, j) :])


def loop() -> Model:
    """Four links with masses at their ends.

    The end of the last one is fixed at (BASE, 0) by the forces lx, ly.
    """
    k = len(LENGTHS)
    a, w = sp.symbols(f"a:{k}", real=True), sp.symbols(f"w:{k}", real=True)
    lx, ly = sp.symbols("lx ly", real=True)
    names = [sp.symbols(f"{letter}:{k}", real=True) for letter in "Lm"]
    L, m = names
    g, D = sp.symbols("g D", real=True)
    carried = [[sp.Add(*m[max(i, j) :]) * L[i] * L[j] for j in range(k)] for i in range(k)]
    M = sp.Matrix(k, k, lambda i, j: carried[i][j] * sp.cos(a[i] - a[j]))
    forces = [
        -sp.Add(*(carried[i][j] * sp.sin(a[i] - a[j]) * w[j] ** 2 for j in range(k)))
        - sp.Add(*m[i:]) * g * L[i] * sp.cos(a[i])
        + lx * L[i] * sp.sin(a[i])
        - ly * L[i] * sp.cos(a[i])
        for i in range(k)
    ]
    closed = [
        sp.Add(*(length * sp.cos(angle) for length, angle in zip(L, a, strict=True))) - D,
        sp.Add(*(length * sp.sin(angle) for length, angle in zip(L, a, strict=True))),
    ]
    values = dict(zip(L, LENGTHS, strict=True)) | dict(zip(m, MASSES, strict=True)) | {g: GRAVITY, D: BASE}
    y0 = [*ANGLES, *[0] * k, None, None]
    return Model(
        "loop",
        [*a, *w, lx, ly],
        sp.diag(sp.eye(k), M, 0, 0),
        [*w, *forces, *closed],
        parameters=values,
        t_span=(0, 1),
        y0=y0,
    )


def accelerations(y: np.ndarray) -> np.ndarray:
    """Return the second derivative of the closing conditions, by numbers alone."""
    k = len(LENGTHS)
    a, w, (lx, ly) = y[:k], y[k : 2 * k], y[2 * k :]
    L = np.array(LENGTHS)
    carried = np.array([[behind(i, j) * L[i] * L[j] for j in range(k)] for i in range(k)])
    apart = a[:, None] - a[None, :]
    weight = np.array([behind(i, i) for i in range(k)]) * GRAVITY * L * np.cos(a)
    G = np.array([-L * np.sin(a), L * np.cos(a)])
    right = -(carried * np.sin(apart)) @ w**2 - weight - G.T @ [lx, ly]
    return (
        G @ np.linalg.solve(carried * np.cos(apart), right) - np.array([L * np.cos(a), L * np.sin(a)]) @ w**2
    )


def test_a_loop_of_four_links_in_angles_is_analysed_in_seconds() -> None:
    began = time.process_time()
    found = regularize(loop())
    assert time.process_time() - began < 15.0
    assert (found.index, [len(level) for level in found.levels], found.notes) == (3, [2, 2, 2], ())
    model = found.model
    compute = sp.lambdify([model.states, list(model.parameters)], found.levels[2], cse=True)
    for y in np.random.default_rng(3).uniform(-1, 1, (3, model.n)):
        ours, wanted = np.array(compute(y, list(model.parameters.values()))), accelerations(y)
        np.testing.assert_allclose(ours, wanted, rtol=1e-9, atol=1e-9)


def test_formulas_may_be_left_as_they_come() -> None:
    model = rods(1)
    plain, short = regularize(model, simplify=False), regularize(model)
    assert [len(level) for level in plain.levels] == [len(level) for level in short.levels]
    for ours, theirs in zip(plain.constraints, short.constraints, strict=True):
        assert sp.simplify(ours - theirs) == 0


def rods(count: int) -> Model:
    """Masses joined by rods, hung up at the origin, horizontal at the start: 5 unknowns per rod."""
    joints = [("0", "0"), *((f"x{i}", f"y{i}") for i in range(count))]
    pairs = list(pairwise(joints))
    f = [f"{name}{i}" for i in range(count) for name in "uw"]
    for i in range(count):
        for c in range(2):
            above = f"-2*T{i}*({joints[i + 1][c]} - {joints[i][c]})"
            below = f" + 2*T{i + 1}*({joints[i + 2][c]} - {joints[i + 1][c]})" if i + 1 < count else ""
            f.append(above + below + (" - m*g" if c else ""))
    f += [f"({b[0]} - {a[0]})**2 + ({b[1]} - {a[1]})**2 - l**2" for a, b in pairs]
    states = [s for joint in joints[1:] for s in joint] + f[: 2 * count] + [f"T{i}" for i in range(count)]
    E = sp.diag(*[1] * (2 * count), *[sp.Symbol("m", real=True)] * (2 * count), *[0] * count)
    y0 = [float(v) for i in range(count) for v in (i + 1, 0)] + [0.0] * (2 * count) + [None] * count
    return Model("rods", states, E, f, parameters={"m": 0.5, "g": 9.81, "l": 1.0}, t_span=(0, 1), y0=y0)


@pytest.mark.parametrize(("count", "seconds"), [(1, 1.0), (10, 8.0)])
def test_a_chain_of_rods_is_analysed_in_seconds(count: int, seconds: float) -> None:
    model = rods(count)
    began = time.process_time()
    found = regularize(model)
    assert time.process_time() - began < seconds
    assert [len(level) for level in found.levels] == [count] * 3
    assert not found.notes


def test_an_expression_of_many_generators_is_not_cancelled_for_ever() -> None:
    names = sp.symbols("x:12", real=True)
    nested = sp.S.One
    for x, y in pairwise(names):
        nested = (sp.cos(x - y) + sp.sin(x) * nested) / (2 + sp.cos(y) * nested)
    began = time.process_time()
    tidy(nested)
    assert time.process_time() - began < 1.0


def test_an_analysis_ends_when_its_time_is_over() -> None:
    model = rods(8)
    began = time.monotonic()
    with pytest.raises(
        RegularizationError, match="analysis of model 'rods' did not end within the time allowed"
    ):
        regularize(model, time_limit=0.05)
    assert time.monotonic() - began < 3.0
    assert regularize(model).index == 3
