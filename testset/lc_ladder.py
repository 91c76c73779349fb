"""Ladder of N sections, coil and resistor in series, capacitor to ground, driven at both ends: index 2.

A capacitor in parallel with each source closes a loop with it: the current of the source follows from the
derivative of its voltage.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import scipy.linalg
import sympy as sp

from herk.core import InputError, Problem, Reference
from herk.core.dae import Array
from herk.model.entries import t
from herk.model.model import Model

TAGS = ("index2", "circuit", "linear", "nonstiff", "oscillatory", "exact", "scalable", "further")
SOURCE = "Line of lumped sections as in every textbook on transmission lines; data chosen for this set"
LARGEST_EXACT = 400  # sections; the exponential of a larger matrix takes longer than the solvers


def flow(N: int, resistance: float) -> Array:
    """Return A of z' = A z + drive for the inner voltages e1 ... e(N-1) and the currents j1 ... jN."""
    A = np.zeros((2 * N - 1, 2 * N - 1))
    for k in range(N):
        if k > 0:
            A[k - 1, N - 1 + k], A[N - 1 + k, k - 1] = -N, N  # C = L = 1/N
        if k < N - 1:
            A[k, N - 1 + k], A[N - 1 + k, k] = N, -N
        A[N - 1 + k, N - 1 + k] = -resistance
    return A


def exact(time: float, N: int, omega: float, resistance: float) -> Array:
    """Return the solution from rest: the stationary oscillation and what decays."""
    A, drive = flow(N, resistance), np.zeros(2 * N - 1, dtype=complex)
    drive[N - 1] += N  # sin(omega t) at the left end
    drive[2 * N - 2] += N / 2  # -sin(omega t)/2 at the right end
    swing = np.linalg.solve(1j * omega * np.eye(len(A)) - A, drive)
    z = (swing * np.exp(1j * omega * time)).imag - scipy.linalg.expm(A * time) @ swing.imag
    left, right = math.sin(omega * time), -math.sin(omega * time) / 2
    rate = omega * math.cos(omega * time) / N
    sources = (rate + z[N - 1], -rate / 2 - z[2 * N - 2])
    return np.array([left, *z[: N - 1], right, *z[N - 1 :], *sources])


def problem(t_end: float = 2.0, N: int = 8, omega: float = 3.0, resistance: float = 0.5) -> Problem:
    """Return the ladder: voltages e0 ... eN, currents j1 ... jN of the coils, currents of the two sources.

    Inductance, capacity and resistance of the whole line are 1, 1 and `resistance`.
    """
    if not isinstance(N, int) or N < 2:
        raise InputError(f"lc_ladder has at least 2 sections, not {N!r}.")
    e, j = sp.symbols(f"e0:{N + 1}", real=True), sp.symbols(f"j1:{N + 1}", real=True)
    left, right, speed, loss = sp.symbols("iL iR omega R", real=True)
    inflow = [left, *j]
    outflow = [*j, -right]
    f = [
        *(inflow[k] - outflow[k] for k in range(N + 1)),
        *(e[k] - e[k + 1] - loss * j[k] / N for k in range(N)),
        e[0] - sp.sin(speed * t),
        e[N] + sp.sin(speed * t) / 2,
    ]
    start = np.zeros(2 * N + 3)
    start[-2:] = omega / N, -omega / (2 * N)
    model = Model(
        "lc_ladder", [*e, *j, left, right], {(k, k): sp.Rational(1, N) for k in range(2 * N + 1)}, f, t=t,
        parameters={speed: omega, loss: resistance}, t_span=(0.0, t_end), y0=tuple(start),
    )  # fmt: skip
    solution = partial(exact, N=N, omega=omega, resistance=resistance)
    known = (
        Reference(t_end, solution(t_end), 12.0, "matrix exponential", solution)
        if N <= LARGEST_EXACT
        else None
    )
    return Problem(
        name="lc_ladder",
        title=f"Ladder of {N} sections with a source at both ends",
        t_span=model.t_span,
        y0=start,
        source=SOURCE,
        model=model,
        reference=known,
        groups={
            "voltages": tuple(range(N + 1)),
            "currents": tuple(range(N + 1, 2 * N + 1)),
            "sources": (2 * N + 1, 2 * N + 2),
        },
        tags=frozenset(TAGS),
    )
