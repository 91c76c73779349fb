"""Andrews' mechanism, 27 unknowns with the accelerations among them.

Regularised in time, right on the published end point.
"""

from __future__ import annotations

import time

import mpmath
import pytest
import sympy as sp

from herk.model.index_reduction.regularize import regularize
from herk.model.model import Model

# Data of the Test Set (Hairer & Wanner II, VII.7).
VALUES = {
    "m1": 0.04325,
    "m2": 0.00365,
    "m3": 0.02373,
    "m4": 0.00706,
    "m5": 0.07050,
    "m6": 0.00706,
    "m7": 0.05498,
    "I1": 2.194e-6,
    "I2": 4.410e-7,
    "I3": 5.255e-6,
    "I4": 5.667e-7,
    "I5": 1.169e-5,
    "I6": 5.667e-7,
    "I7": 1.912e-5,
    "xa": -0.06934,
    "ya": -0.00227,
    "xb": -0.03635,
    "yb": 0.03273,
    "xc": 0.014,
    "yc": 0.072,
    "c0": 4530,
    "l0": 0.07785,
    "mom": 0.033,
    "d": 0.028,
    "da": 0.0115,
    "e": 0.02,
    "ea": 0.01421,
    "rr": 0.007,
    "ra": 0.00092,
    "ss": 0.035,
    "sa": 0.01874,
    "sb": 0.01043,
    "sc": 0.018,
    "sd": 0.02,
    "ta": 0.02308,
    "tb": 0.00916,
    "u": 0.04,
    "ua": 0.01228,
    "ub": 0.00449,
    "zf": 0.02,
    "zt": 0.04,
    "fa": 0.01421,
}
START = [
    -0.0617138900142764496,
    0,
    0.455279819163070380,
    0.222668390165885885,
    0.487364979543842550,
    -0.222668390165885885,
    1.23054744454982119,
]
FORCES_AT_START = [
    14222.4439199541138,
    -10666.8329399655854,
    0,
    0,
    0,
    0,
    0,
    98.5668703962410896,
    -6.12268834425566265,
    0,
    0,
    0,
    0,
]
END = [
    "1.581077119515370709712e1",
    "-1.575637105841183946973e1",
    "4.082224011964580485828e-2",
    "-5.347301163420795937702e-1",
    "5.244099658799540693717e-1",
    "5.347301163420795937702e-1",
    "1.048080741041937873069",
    "1.139920302259106064198e3",
    "-1.424379295177540073196e3",
    "1.103291191061859374533e1",
    "1.929337410503204083163e1",
    "5.735699148295024538177e-1",
    "-1.929337410503204083163e1",
    "3.231791492491308749907e-1",
    "-2.463176312287463447005e4",
    "5.185031963646423153375e4",
    "3.241026007075786058119e5",
    "5.667494220009953264933e5",
    "1.674363541834544460964e4",
    "-5.667494220009953264933e5",
    "9.826507801544162688491e3",
    "1.991753481045386281862e2",
    "-2.975530997497176332442e1",
    "2.306654361162215112862e1",
    "3.145272527577113707538e1",
    "2.264249478639437857771e1",
    "1.161739235261125590680e1",
]


def mass_matrix(p, th, ph, om) -> sp.Matrix:
    x, z = p.e - p.ea, p.zf - p.fa
    M = sp.zeros(7, 7)
    M[0, 0] = p.m1 * p.ra**2 + p.m2 * (p.rr**2 - 2 * p.da * p.rr * sp.cos(th) + p.da**2) + p.I1 + p.I2
    M[1, 0] = M[0, 1] = p.m2 * (p.da**2 - p.da * p.rr * sp.cos(th)) + p.I2
    M[1, 1] = p.m2 * p.da**2 + p.I2
    M[2, 2] = p.m3 * (p.sa**2 + p.sb**2) + p.I3
    M[3, 3] = p.m4 * x**2 + p.I4
    M[4, 3] = M[3, 4] = p.m4 * (x**2 + p.zt * x * sp.sin(ph)) + p.I4
    M[4, 4] = p.m4 * (p.zt**2 + 2 * p.zt * x * sp.sin(ph) + x**2) + p.m5 * (p.ta**2 + p.tb**2) + p.I4 + p.I5
    M[5, 5] = p.m6 * z**2 + p.I6
    M[6, 5] = M[5, 6] = p.m6 * (z**2 - p.u * z * sp.sin(om)) + p.I6
    M[6, 6] = p.m6 * (z**2 - 2 * p.u * z * sp.sin(om) + p.u**2) + p.m7 * (p.ua**2 + p.ub**2) + p.I6 + p.I7
    return M


def forces(p, q, v) -> sp.Matrix:
    _, th, ga, ph, _, om, _ = q
    be_, th_, _, ph_, de_, om_, ep_ = v
    x, z = p.e - p.ea, p.zf - p.fa
    xd, yd = p.sd * sp.cos(ga) + p.sc * sp.sin(ga) + p.xb, p.sd * sp.sin(ga) - p.sc * sp.cos(ga) + p.yb
    length = sp.sqrt((xd - p.xc) ** 2 + (yd - p.yc) ** 2)
    pull = -p.c0 * (length - p.l0) / length
    turn = (xd - p.xc) * (p.sc * sp.cos(ga) - p.sd * sp.sin(ga)) + (yd - p.yc) * (
        p.sd * sp.cos(ga) + p.sc * sp.sin(ga)
    )
    first = p.mom - p.m2 * p.da * p.rr * th_ * (th_ + 2 * be_) * sp.sin(th)
    second = p.m2 * p.da * p.rr * be_**2 * sp.sin(th)
    fourth, fifth = (
        p.m4 * p.zt * x * de_**2 * sp.cos(ph),
        -p.m4 * p.zt * x * ph_ * (ph_ + 2 * de_) * sp.cos(ph),
    )
    return sp.Matrix(
        [
            first,
            second,
            pull * turn,
            fourth,
            fifth,
            -p.m6 * p.u * z * ep_**2 * sp.cos(om),
            p.m6 * p.u * z * om_ * (om_ + 2 * ep_) * sp.cos(om),
        ]
    )


def loops(p, q) -> sp.Matrix:
    be, th, ga, ph, de, om, ep = q
    a, b = p.rr * sp.cos(be) - p.d * sp.cos(be + th), p.rr * sp.sin(be) - p.d * sp.sin(be + th)
    return sp.Matrix(
        [
            a - p.ss * sp.sin(ga) - p.xb,
            b + p.ss * sp.cos(ga) - p.yb,
            a - p.e * sp.sin(ph + de) - p.zt * sp.cos(de) - p.xa,
            b + p.e * sp.cos(ph + de) - p.zt * sp.sin(de) - p.ya,
            a - p.zf * sp.cos(om + ep) - p.u * sp.sin(ep) - p.xa,
            b - p.zf * sp.sin(om + ep) + p.u * sp.cos(ep) - p.ya,
        ]
    )


def andrews() -> Model:
    parameters = {name: sp.Symbol(name, real=True) for name in VALUES}
    p = type("Data", (), parameters)
    q, v, w, lam = (
        sp.symbols(f"{name}1:{k}", real=True) for name, k in (("q", 8), ("v", 8), ("w", 8), ("lam", 7))
    )
    g = loops(p, q)
    balance = (
        mass_matrix(p, q[1], q[3], q[5]) * sp.Matrix(w) - forces(p, q, v) + g.jacobian(q).T * sp.Matrix(lam)
    )
    E = sp.diag(sp.eye(14), sp.zeros(13))
    y0 = [*START, *[0] * 7, *FORCES_AT_START]
    return Model(
        "andrews", [*q, *v, *w, *lam], E, [*v, *w, *balance, *g], parameters=VALUES, t_span=(0, 0.03), y0=y0
    )


@pytest.mark.slow
def test_andrews_is_regularised_within_a_minute_and_holds_on_the_published_end_point() -> None:
    model = andrews()
    began = time.perf_counter()
    found = regularize(model)
    assert time.perf_counter() - began < 60.0
    assert (found.index, [len(level) for level in found.levels]) == (3, [13, 6, 6])
    assert not found.notes
    with mpmath.workdps(40):
        point = {p: sp.Float(v, 40) for p, v in model.parameters.items()}
        point |= {s: sp.Float(value, 40) for s, value in zip(model.states, END, strict=True)}
        for constraint in found.constraints:
            terms = [
                float(sp.N(term.xreplace(point), 40)) for term in sp.Add.make_args(sp.expand(constraint))
            ]
            assert abs(float(sp.N(constraint.xreplace(point), 40))) < 1e-10 * max(map(abs, terms)), constraint
