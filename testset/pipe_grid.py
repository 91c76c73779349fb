"""Water in a square grid of pipes between N x N nodes: index 2, any N.

Momentum in every pipe, mass in every node: flows are bound by the nodes, pressures follow from the derivative
of what is drawn there. One corner is a reservoir.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from herk.core import InputError, Problem, Reference
from herk.core.dae import Array
from herk.model.entries import t
from herk.model.model import Model

TAGS = ("index2", "hydraulic", "nonstiff", "scalable", "further")
SOURCE = (
    "The water tube system of the Test Set for IVP Solvers (CWI/Bari) without buffers, on a grid of any size;"
    " smooth friction and demands, chosen for this set"
)
LINEAR, ROUGH, BLUNT = 0.4, 1.5, 0.05  # friction 0.4 q + 1.5 q sqrt(q^2 + 0.05^2): laminar and turbulent
LARGEST_REFERENCE = 12


def pipes(N: int) -> list[tuple[int, int]]:
    """Return from where to where every pipe leads, nodes numbered row by row."""
    across = [(N * i + j, N * i + j + 1) for i in range(N) for j in range(N - 1)]
    down = [(N * i + j, N * i + j + N) for i in range(N - 1) for j in range(N)]
    return across + down


def demands(N: int) -> Array:
    """Return the amplitude of what every node but the reservoir draws: neighbours differ."""
    k = np.arange(1, N * N)
    return (1.0 + k % 3) / (N * N)


@cache
def reference(N: int, t_end: float) -> Reference:
    """Return the end of a run that shares nothing with ours: pressures eliminated by numbers, SciPy."""
    ends, amplitude = np.array(pipes(N)), demands(N)
    B = np.zeros((N * N, len(ends)))  # what flows into nodes
    B[ends[:, 1], np.arange(len(ends))] += 1.0
    B[ends[:, 0], np.arange(len(ends))] -= 1.0
    B = B[1:]

    def friction(q: Array) -> Array:
        return LINEAR * q + ROUGH * q * np.sqrt(q**2 + BLUNT**2)

    def pressures(time: float, q: Array) -> Array:
        # q' = -B^T p - friction and B q' = amplitude sin t give p.
        return np.asarray(np.linalg.solve(B @ B.T, -B @ friction(q) - amplitude * np.sin(time)))

    def rate(time: float, q: Array) -> Array:
        return np.asarray(-B.T @ pressures(time, q) - friction(q))

    run = solve_ivp(rate, (0.0, t_end), np.zeros(len(ends)), method="DOP853", rtol=1e-13, atol=1e-15)
    q = run.y[:, -1]
    how = "pressures eliminated by numbers, then SciPy's DOP853 at 1e-13"
    return Reference(t_end, np.concatenate([q, pressures(t_end, q)]), 10.0, how)


def problem(t_end: float = 3.0, N: int = 4) -> Problem:
    """Return the grid: flows of the pipes, pressures of the nodes but the reservoir, where the pressure is 0.

    Node k draws a_k (1 - cos t): nothing flows at the start, and no pressure is needed.
    """
    if not isinstance(N, int) or N < 2:
        raise InputError(f"pipe_grid has at least 2 nodes in each direction, not {N!r}.")
    ends, amplitude = pipes(N), demands(N)
    q = sp.symbols(f"q1:{len(ends) + 1}", real=True)
    p = (sp.S.Zero, *sp.symbols(f"p1:{N * N}", real=True))
    balance: list[list[sp.Expr]] = [[] for _ in p]
    momentum = []
    for flow, (a, b) in zip(q, ends, strict=True):
        friction = sp.Float(LINEAR) * flow + ROUGH * flow * sp.sqrt(flow**2 + sp.Float(BLUNT) ** 2)
        momentum.append(p[a] - p[b] - friction)
        balance[a].append(-flow)
        balance[b].append(flow)
    draw = [sp.Float(float(each)) * (1 - sp.cos(t)) for each in amplitude]
    mass = [sp.Add(*flows, -drawn) for flows, drawn in zip(balance[1:], draw, strict=True)]
    n = len(ends) + N * N - 1
    model = Model(
        "pipe_grid", [*q, *p[1:]], {(k, k): 1 for k in range(len(ends))}, [*momentum, *mass], t=t,
        t_span=(0.0, t_end), y0=(0.0,) * n,
    )  # fmt: skip
    return Problem(
        name="pipe_grid",
        title=f"Pipes between {N} x {N} nodes",
        t_span=model.t_span,
        y0=np.zeros(n),
        source=SOURCE,
        model=model,
        reference=reference(N, t_end) if N <= LARGEST_REFERENCE else None,
        groups={"flows": tuple(range(len(ends))), "pressures": tuple(range(len(ends), n))},
        tags=frozenset(TAGS),
    )
