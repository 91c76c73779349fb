"""Stage code of a large mechanism.

Andrews' squeezer, 27 unknowns, against the start values the literature prints with 30 digits.
"""

from __future__ import annotations

import time

import numpy as np
import pytest
import sympy as sp
from sympy import cos, sin

from herk.codegen.block_form import constraint_blocks
from herk.codegen.equations import Equations
from herk.codegen.scope import PYTHON, SHARED
from herk.codegen.stage import stage_source
from herk.jit.native import build

NUMBERS = """m1=.04325 m2=.00365 m3=.02373 m4=.00706 m5=.07050 m6=.00706 m7=.05498 I1=2.194e-6 I2=4.410e-7 I3=5.255e-6 I4=5.667e-7
I5=1.169e-5 I6=5.667e-7 I7=1.912e-5 xa=-.06934 ya=-.00227 xb=-.03635 yb=.03273 xc=.014 yc=.072 c0=4530 l0=.07785 mom=.033
d=.028 da=.0115 e=.02 ea=.01421 rr=.007 ra=.00092 ss=.035 sa=.01874 sb=.01043 sc=.018 sd=.02 ta=.02308 tb=.00916
u=.04 ua=.01228 ub=.00449 zf=.02 zt=.04 fa=.01421"""
Q0 = [
    -0.0617138900142764496358948458001,
    0.0,
    0.455279819163070380255912382449,
    0.222668390165885884674473185609,
    0.487364979543842550225598953530,
    -0.222668390165885884674473185609,
    1.23054744454982119249735015568,
]
W0 = [14222.4439199541138705911625887, -10666.8329399655854029433719415, 0, 0, 0, 0, 0]
L0 = [98.5668703962410896057654982170, -6.12268834425566265503114393122, 0, 0, 0, 0]
START = np.array([*Q0, *[0.0] * 7, *W0, *L0])


def andrews() -> Equations:
    """Accelerations are algebraic unknowns: 0 = M w - f + G^T lambda.

    Then position, velocity and acceleration constraints.
    """
    p = {key: sp.Rational(value) for key, value in (item.split("=") for item in NUMBERS.split())}
    q, v, w = (sp.symbols(" ".join(f"{name}{i}" for i in range(7)), real=True) for name in "qvw")
    lam = sp.symbols(" ".join(f"l{i}" for i in range(6)), real=True)
    g = sp.Matrix(positions(p, *q))
    G = g.jacobian(q)
    velocity = G * sp.Matrix(v)
    acceleration = G * sp.Matrix(w) + velocity.jacobian(q) * sp.Matrix(v)
    forces = mass(p, q) * sp.Matrix(w) - sp.Matrix(force(p, q, v)) + G.T * sp.Matrix(lam)
    matrix = sp.ImmutableDenseMatrix
    f = matrix([*v, *w, *forces, *g])
    return Equations(
        sp.Symbol("t"),
        (*q, *v, *w, *lam),
        matrix(sp.diag(*[1] * 14, *[0] * 13)),
        f,
        matrix([*g, *velocity, *forces, *acceleration]),
    )


def positions(p, beta, theta, gamma, phi, delta, omega, epsilon):
    a = p["rr"] * cos(beta) - p["d"] * cos(beta + theta)
    b = p["rr"] * sin(beta) - p["d"] * sin(beta + theta)
    return [
        a - p["ss"] * sin(gamma) - p["xb"],
        b + p["ss"] * cos(gamma) - p["yb"],
        a - p["e"] * sin(phi + delta) - p["zt"] * cos(delta) - p["xa"],
        b + p["e"] * cos(phi + delta) - p["zt"] * sin(delta) - p["ya"],
        a - p["zf"] * cos(omega + epsilon) - p["u"] * sin(epsilon) - p["xa"],
        b - p["zf"] * sin(omega + epsilon) + p["u"] * cos(epsilon) - p["ya"],
    ]


def mass(p, q):
    _, theta, _, phi, _, omega, _ = q
    x, z, zt, u, da, rr = p["e"] - p["ea"], p["zf"] - p["fa"], p["zt"], p["u"], p["da"], p["rr"]
    M = sp.zeros(7)
    M[0, 0] = (
        p["m1"] * p["ra"] ** 2 + p["m2"] * (rr**2 - 2 * da * rr * cos(theta) + da**2) + p["I1"] + p["I2"]
    )
    M[1, 0] = M[0, 1] = p["m2"] * (da**2 - da * rr * cos(theta)) + p["I2"]
    M[1, 1] = p["m2"] * da**2 + p["I2"]
    M[2, 2] = p["m3"] * (p["sa"] ** 2 + p["sb"] ** 2) + p["I3"]
    M[3, 3] = p["m4"] * x**2 + p["I4"]
    M[4, 3] = M[3, 4] = p["m4"] * (x**2 + zt * x * sin(phi)) + p["I4"]
    M[4, 4] = (
        p["m4"] * (zt**2 + 2 * zt * x * sin(phi) + x**2)
        + p["m5"] * (p["ta"] ** 2 + p["tb"] ** 2)
        + p["I4"]
        + p["I5"]
    )
    M[5, 5] = p["m6"] * z**2 + p["I6"]
    M[6, 5] = M[5, 6] = p["m6"] * (z**2 - u * z * sin(omega)) + p["I6"]
    M[6, 6] = (
        p["m6"] * (z**2 - 2 * u * z * sin(omega) + u**2)
        + p["m7"] * (p["ua"] ** 2 + p["ub"] ** 2)
        + p["I6"]
        + p["I7"]
    )
    return M


def force(p, q, v):
    _, theta, gamma, phi, _, omega, _ = q
    db, dt, _, dp, dd, do, de = v
    x, z, zt, u, sc, sd = p["e"] - p["ea"], p["zf"] - p["fa"], p["zt"], p["u"], p["sc"], p["sd"]
    dx = sd * cos(gamma) + sc * sin(gamma) + p["xb"] - p["xc"]
    dy = sd * sin(gamma) - sc * cos(gamma) + p["yb"] - p["yc"]
    length = sp.sqrt(dx**2 + dy**2)
    pull = -p["c0"] * (length - p["l0"]) / length
    m2, m4, m6, da, rr = p["m2"], p["m4"], p["m6"], p["da"], p["rr"]
    return [
        p["mom"] - m2 * da * rr * dt * (dt + 2 * db) * sin(theta),
        m2 * da * rr * db**2 * sin(theta),
        pull * dx * (sc * cos(gamma) - sd * sin(gamma)) + pull * dy * (sd * cos(gamma) + sc * sin(gamma)),
        m4 * zt * x * dd**2 * cos(phi),
        -m4 * zt * x * dp * (dp + 2 * dd) * cos(phi),
        -m6 * u * z * de**2 * cos(omega),
        m6 * u * z * do * (do + 2 * de) * cos(omega),
    ]


@pytest.fixture(scope="module")
def stage():
    """Return the stage with the first angle and its velocity as differential components.

    And the time generation took.
    """
    begin = time.process_time()
    source = stage_source(andrews(), [*range(1, 7), *range(8, 27)], False)
    made = build(source.text, ("complete", "rate"), {}, SHARED, PYTHON)
    return source, made, time.process_time() - begin


def test_the_stage_reproduces_the_printed_start(stage):
    source, module, _ = stage
    y = START.copy()
    y[1:7] += [0.01, 0.02, -0.01, 0.01, 0.02, -0.02]
    y[8:] = 1e9
    pivots = np.zeros(source.pivots)
    iterations = module["complete"](0.0, y, 1e-9, np.ones(54), pivots, np.zeros(source.work), np.zeros(1))
    assert iterations > 0
    np.testing.assert_allclose(y[:7], START[:7], atol=1e-13)
    np.testing.assert_allclose(y[7:14], 0.0, atol=1e-12)
    np.testing.assert_allclose(y[14:21], START[14:21], rtol=1e-10, atol=1e-6)
    np.testing.assert_allclose(y[21:], START[21:], rtol=1e-10, atol=1e-9)
    assert (pivots != 0).all()


def test_the_rate_is_velocity_and_acceleration(stage):
    source, module, _ = stage
    out = np.zeros(2 + source.predicted)
    assert module["rate"](0.0, START, out, np.ones(2 * START.size), np.zeros(source.work), np.zeros(1)) == 0
    assert out[:2].tolist() == [0.0, W0[0]]


def test_positions_couple_in_small_blocks_and_code_comes_within_seconds(stage):
    source, _, spent = stage
    sizes = [len(block.rows) for block in constraint_blocks(andrews(), source.algebraic)]
    assert sorted(sizes) == [
        2,
        2,
        2,
        2,
        2,
        2,
        13,
    ]  # three closed loops, twice; accelerations with multipliers
    assert source.work == 13 * 13 + 2 * 13
    assert source.guessed == (1, 2, 3, 4, 5, 6)
    assert spent < 30
