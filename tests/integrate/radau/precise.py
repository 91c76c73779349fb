"""Radau's own steps in 50-digit numbers: interpreted source, unrounded nodes and matrices."""

from __future__ import annotations

from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import sympy as sp

from herk.integrate import loop
from herk.integrate.options import request
from herk.integrate.prepared import OPTIONS
from herk.integrate.steppers.radau import newton, settle, stepper
from herk.integrate.steppers.radau.ready import ready
from herk.integrate.steps import FINISHED
from herk.jit.by_address import stand_in
from herk.model.evaluate import linearise
from tests.integrate.extended import DIGITS, NAMES, Precise, converted, in_place, number, numbers

TIGHT = 1e-34


@cache
def nodes(s: int) -> list[Any]:
    """Return the zeros of the (s-1)-th derivative of x^(s-1) (x - 1)^s."""
    x = sp.symbols("x")
    polynomial = sp.Poly(sp.diff(x ** (s - 1) * (x - 1) ** s, x, s - 1), x)
    with mp.workdps(DIGITS + 5):
        return sorted(mp.mpf(str(root)) for root in polynomial.nroots(n=DIGITS + 5, maxsteps=200))


@cache
def inverse(s: int) -> Any:
    """Return A^-1 of collocation: sum_j a_ij c_j^k = c_i^(k+1) / (k + 1)."""
    with mp.workdps(DIGITS + 5):
        c = nodes(s)
        powers = mp.matrix([[node**k for k in range(s)] for node in c])
        integrals = mp.matrix([[node ** (k + 1) / (k + 1) for k in range(s)] for node in c])
        return powers * mp.inverse(integrals)


def unrounded(own: Any) -> None:
    """Put nodes and A^-1 before rounding in the place of the rounded ones: the basis is for Newton alone.

    Its rounding makes the residuals of a stage appear a little in others, which the iteration removes.
    """
    s = own.s
    own.nodes[:] = numbers(nodes(s))
    own.inverse[:] = numbers([inverse(s)[i, j] for i in range(s) for j in range(s)])


def solve(problem: Precise, method: str, count: int, t_end: str, monkeypatch: Any) -> tuple[Any, np.ndarray]:
    """Make `count` fixed steps to t_end; return times and points (times x unknowns).

    The constraints must not depend on time.
    """
    for module, name in (
        (settle, "ROUNDING"),
        (settle, "NEARLY"),
        (newton, "STALLED"),
        (newton, "IN_THE_BASIS"),
    ):
        monkeypatch.setattr(module, name, TIGHT)
    t0, t1 = number(problem.t_span[0]), number(t_end)
    y0 = [number(value) for value in problem.exact(mp.mpf(problem.t_span[0]))]
    start = np.array([float(value) for value in y0])
    options = OPTIONS | {"step": float(t1 - t0) / count, "consistent": "trust"}
    extra = {"generate": False, "selection": "complete"}
    asked = request(problem.dae, (float(t0), float(t1)), start, method, options, extra)
    machine = ready(asked, start, linearise(asked.dae, asked.t0, start))
    own, state = machine.state.plain(converted), machine.loop.plain(converted)
    unrounded(own)
    own.rtol = number(TIGHT)
    own.atol[:] = numbers([TIGHT] * len(y0))
    own.y[:] = y0
    own.at_f, own.at_g, own.at_jac_g = (stand_in(in_place(getattr(problem, name))) for name in NAMES)
    own.at_g_t = stand_in(in_place(lambda t, y: [number(0)] * problem.m))
    state.own, state.y = own.address, own.y
    state.begin, state.try_step, state.accept = map(
        stand_in, (stepper.begin, stepper.try_step, stepper.accept)
    )
    state.t, state.t_start, state.t_end, state.h = t0, t0, t1, (t1 - t0) / count
    times, points = np.empty(count, dtype=object), np.empty((count, len(y0)), dtype=object)
    status = loop.advance(state, times, points.reshape(-1), np.zeros(count, dtype=np.int64))
    assert status == FINISHED, f"the run ended with {status}"
    return times, points
