"""Stokes flow in a box on a staggered grid of N x N cells by the method of lines: index 2, stiff, any N.

Velocities stand on the sides of cells, pressures in their middles. Div u = 0 holds in every cell; the last
one follows from the others, and its place is taken by p = 0 there. Forces are chosen so that the
semi-discrete equations have an exact solution, a vortex that breathes.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import sympy as sp

from herk.core import InputError, Problem, Reference
from herk.core.dae import Array
from herk.model.entries import t
from herk.model.model import Model

TAGS = ("index2", "flow", "linear", "stiff", "exact", "scalable", "further")
SOURCE = (
    "F. H. Harlow, J. E. Welch, Physics of Fluids 8 (1965), marker-and-cell grid; manufactured solution,"
    " chosen for this set"
)


class Grid:
    """Where unknowns stand: u on inner vertical sides, v on inner horizontal ones, p in cells."""

    def __init__(self, N: int) -> None:
        """Number the unknowns."""
        self.N, self.h = N, 1.0 / N
        self.u = np.full((N + 1, N), -1)
        self.v = np.full((N, N + 1), -1)
        self.u[1:N, :] = np.arange((N - 1) * N).reshape(N - 1, N)
        self.v[:, 1:N] = (N - 1) * N + np.arange((N - 1) * N).reshape(N, N - 1)
        self.p = 2 * (N - 1) * N + np.arange(N * N).reshape(N, N)
        self.n = 2 * (N - 1) * N + N * N

    def viscous(self) -> list[tuple[int, int, int]]:
        """Return (row, column, factor) of h^2 times Laplace's operator; walls at half a cell reflect."""
        found = []
        for places, walls in ((self.u, 1), (self.v, 0)):  # direction in which a wall lies half a cell away
            for i, j in np.argwhere(places >= 0):
                centre = -4
                for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                    a, b = i + di, j + dj
                    inside = 0 <= a < places.shape[0] and 0 <= b < places.shape[1]
                    if inside and places[a, b] >= 0:
                        found.append((places[i, j], places[a, b], 1))
                    elif not inside and (dj if walls else di):
                        centre -= 1  # the mirrored velocity beyond the wall is its negative
                found.append((places[i, j], places[i, j], centre))
        return found

    def gradient(self) -> list[tuple[int, int, int]]:
        """Return (velocity, pressure, sign) of h times the gradient; its transpose is -h div."""
        found = []
        for i, j in np.argwhere(self.u >= 0):
            found += [(self.u[i, j], self.p[i, j], 1), (self.u[i, j], self.p[i - 1, j], -1)]
        for i, j in np.argwhere(self.v >= 0):
            found += [(self.v[i, j], self.p[i, j], 1), (self.v[i, j], self.p[i, j - 1], -1)]
        return found

    def vortex(self) -> Array:
        """Return velocities of the stream function sin^2(pi x) sin^2(pi y) at corners, and a pressure."""
        x = np.linspace(0.0, 1.0, self.N + 1)
        psi = np.outer(np.sin(np.pi * x) ** 2, np.sin(np.pi * x) ** 2)
        y, middle = np.zeros(self.n), (x[1:] + x[:-1]) / 2
        y[self.u[1:-1]] = (np.diff(psi, axis=1) / self.h)[1:-1]
        y[self.v[:, 1:-1]] = (-np.diff(psi, axis=0) / self.h)[:, 1:-1]
        pressure = np.cos(np.pi * middle)[:, None] * np.cos(np.pi * middle)
        y[self.p] = pressure - pressure[-1, -1]
        return y


def forces(grid: Grid, shape: Array, nu: float) -> tuple[Array, Array]:
    """Return nu times Laplace of the vortex, and the gradient of its pressure."""
    drag, push = np.zeros(grid.n), np.zeros(grid.n)
    for row, column, factor in grid.viscous():
        drag[row] += nu * factor * shape[column] / grid.h**2
    for row, column, sign in grid.gradient():
        push[row] += sign * shape[column] / grid.h
    return drag, push


def exact(time: float, shape: Array, inner: int) -> Array:
    """Return the vortex times 1 + sin(t)/2, its pressure times cos t."""
    y = shape * (1 + math.sin(time) / 2)
    y[inner:] = shape[inner:] * math.cos(time)
    return y


def problem(t_end: float = 1.0, N: int = 4, nu: float = 1.0) -> Problem:
    """Return the flow in the unit square: u' = nu Laplace u - grad p + force, 0 = div u."""
    if not isinstance(N, int) or N < 2:
        raise InputError(f"stokes has at least 2 cells in each direction, not {N!r}.")
    grid = Grid(N)
    inner, shape = 2 * (N - 1) * N, grid.vortex()
    names = [f"u{k}" for k in range(inner)] + [f"p{k}" for k in range(N * N)]
    y, viscosity = sp.symbols(names, real=True), sp.Symbol("nu", real=True)
    drag, push = forces(grid, shape, 1.0)
    swell, beat, wave = 1 + sp.sin(t) / 2, sp.cos(t) / 2, sp.cos(t)
    rows: list[list[sp.Expr]] = [[] for _ in range(grid.n)]
    for row, column, factor in grid.viscous():
        rows[row].append(viscosity * factor * N**2 * y[column])
    for row, column, sign in grid.gradient():
        rows[row].append(-sign * N * y[column])
        rows[column].append(sign * N * y[row])  # minus div, the transpose of the gradient
    for k in range(inner):
        rows[k].append(float(shape[k]) * beat - viscosity * float(drag[k]) * swell + float(push[k]) * wave)
    rows[-1] = [y[-1]]
    start = exact(0.0, shape, inner)
    model = Model(
        "stokes", y, {(k, k): 1 for k in range(inner)}, [sp.Add(*row) for row in rows], t=t,
        parameters={viscosity: nu}, t_span=(0.0, t_end), y0=tuple(start),
    )  # fmt: skip
    solution = partial(exact, shape=shape, inner=inner)
    return Problem(
        name="stokes",
        title=f"Stokes flow on {N} x {N} cells",
        t_span=model.t_span,
        y0=start,
        source=SOURCE,
        model=model,
        reference=Reference(t_end, solution(t_end), 13.0, "manufactured solution", solution),
        groups={"velocities": tuple(range(inner)), "pressures": tuple(range(inner, grid.n))},
        tags=frozenset(TAGS),
    )
