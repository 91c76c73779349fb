"""The systems of Chapter 4 with their starts, spans and solutions, and the settings printed beside them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from herk.core import Dae
from herk.core.dae import Array, StageSource
from herk.jit.native import Assembled, assembled
from herk.reproductions.thesis import equations as eq
from herk.thesis import Settings

Time = float | Array


@dataclass
class Written:
    """Functions written by hand in the language of compiled code, handed to solvers as generated ones are."""

    table: dict[str, Callable[..., None]]
    key: str = ""
    structure: Any = None

    @property
    def code(self) -> Written:
        """Return where the machine code is."""
        return self

    @cached_property
    def functions(self) -> dict[str, Assembled]:
        """Return the functions by name, (t, x, par, out), in machine code."""
        return assembled(self.table)

    def stage(self, algebraic: Any, *, scalar: bool) -> StageSource:
        """Refuse: there are no formulas to generate code from."""
        raise NotImplementedError


@dataclass(frozen=True)
class System:
    """A DAE with its start, its span and, where it is known, its solution."""

    name: str
    dae: Dae
    x0: tuple[float, ...]
    t_span: tuple[float, float]
    exact: Callable[[Time], Array] | None = None


def written(E: Array, f: Any, g: Any, m: int, names: str, jac: Any = eq.nothing) -> Dae:
    """Return the DAE of these functions (t, x, par, out)."""
    n = len(E)

    def plain(function: Any, size: int) -> Callable[[float, Array], Array]:
        def call(t: float, x: Array) -> Array:
            out = np.empty(size)
            function(float(t), np.asarray(x, dtype=float), np.zeros(1), out)
            return out

        return call

    table = {"E": eq.nothing, "f": f, "g": g, "jac_g": jac, "g_t": eq.nothing}
    return Dae(
        E=E, f=plain(f, n), g=plain(g, m), n=n, m=m, names=tuple(names.split()), generated=Written(table)
    )


def academic_exact(t: Time) -> Array:
    """Return (e^t, e^t)."""
    return np.array([np.exp(t), np.exp(t)])


def selector_exact(t: Time) -> Array:
    """Return solution (4.2)."""
    return np.array([np.sin(t), np.cos(t), np.ones_like(t)])


def pendulum_exact(t: Time) -> Array:
    """Return the start, as the thesis does.

    Exact for the g of a 2 s period and even t, not for the printed g.
    """
    if np.any(np.mod(t, 2.0)):
        raise ValueError(f"The pendulum is back only at even times, not at t = {t}.")
    return np.array([-1.0, 0.0, 0.0, 0.0, 0.0])


def chain_exact(t: Time) -> Array:
    """Return the solution of Section 4.5."""
    s, k = np.sin(t), np.cos(t)
    return np.array([-2 * s, s, -2 * s, -2 * k, k, -2 * k, 1.5 * s])


def circuit_exact(t: Time) -> Array:
    """Return the solution of Section 4.6."""
    s, k, decay = np.sin(100 * t), np.cos(100 * t), np.exp(-t / 2)
    e2 = (100 * k + 20000 * s - 100 * decay) / 40001
    return np.array([s - e2, e2, s, e2, (-2000100 * k - 50001 * s + 50 * decay) / 40001])


AKZO_END = (
    0.1150794920661702,
    0.0012038314715677,
    0.1611562887407974,
    0.0003656156421249,
    0.0170801088526440,
    0.0048735313103074,
)
PENDULUM_START = (-1.0, 0.0, 0.0, 0.0, 0.0)
WIND_START = (0.0, -2.0, 0.0, 0.0, 2 * eq.WIND_G / 4)
MECHANICAL = "x y v w lam"
QUARTER = (math.pi / 8, 3 * math.pi / 8)
_UNIT, _MASS_2 = np.diag([1.0, 1.0, 1.0, 1.0, 0.0]), np.diag([1.0, 1.0, 2.0, 2.0, 0.0])
_CIRCUIT = np.zeros((5, 5))
_CIRCUIT[:2, :2] = [[-1.0, 0.0], [1.0, -1.0]]

ACADEMIC = System(
    "academic",
    written(np.diag([1.0, 0.0]), eq.academic_f, eq.academic_g, 1, "x y"),
    (1.0, 1.0),
    (0.0, 1.0),
    academic_exact,
)
SELECTOR = System(
    "selector_change",
    written(np.diag([1.0, 1.0, 0.0]), eq.selector_f, eq.selector_g, 2, "x y z", eq.selector_jac),
    tuple(selector_exact(QUARTER[0])),
    QUARTER,
    selector_exact,
)
PENDULUM = System(
    "pendulum",
    written(_UNIT, eq.pendulum_f, eq.pendulum_g, 3, MECHANICAL),
    PENDULUM_START,
    (0.0, 20.0),
    pendulum_exact,
)
DRIFTING = System(
    "pendulum_drifting",
    written(_UNIT, eq.pendulum_f, eq.drifting_g, 1, MECHANICAL),
    PENDULUM_START,
    (0.0, 20.0),
    pendulum_exact,
)
WIND_PRINTED = System(
    "wind_pendulum_printed",
    written(_MASS_2, eq.wind_f, eq.wind_g_printed, 3, MECHANICAL),
    WIND_START,
    (0.0, 50.0),
)
WIND_CORRECTED = System(
    "wind_pendulum", written(_MASS_2, eq.wind_f, eq.wind_g_corrected, 3, MECHANICAL),
    (0.0, -2.0, 0.0, 0.03, 2 * eq.WIND_G / 4), (0.0, 50.0),
)  # fmt: skip
CHAIN = System(
    "spring_chain", written(np.diag([1.0] * 6 + [0.0]), eq.chain_f, eq.chain_g, 5, "p1 p2 p3 v1 v2 v3 F"),
    (0.0, 0.0, 0.0, -2.0, 1.0, -2.0, 0.0), (0.0, 400.0), chain_exact,
)  # fmt: skip
CIRCUIT = System(
    "cv_circuit",
    written(_CIRCUIT, eq.circuit_f, eq.circuit_g, 4, "q1 q2 e1 e2 iV"),
    (0.0, 0.0, 0.0, 0.0, -50.0),
    (0.0, 1.0),
    circuit_exact,
)
AKZO = System(
    "akzo", written(np.diag([1.0] * 5 + [0.0]), eq.akzo_f, eq.akzo_g, 1, "y1 y2 y3 y4 y5 y6"),
    (0.444, 0.00123, 0.0, 0.007, 0.0, 0.444 * 0.007 * 115.83), (0.0, 180.0),
)  # fmt: skip

# The settings printed in the sections named; only what is varied there is left open.
SETTINGS_423 = Settings(ssc=0, Estat=1, Nopt=0, Jopt=0, tol=1e-15, ptol=1e-15, delta=1e-15)
SETTINGS_43_FIRST = Settings(ssc=0, Estat=1, Nopt=0, Jopt=0, tol=1e-10, ptol=1e-15, delta=1e-13)
SETTINGS_43_ORDER = Settings(method=3, ssc=0, Estat=1, Nopt=0, Jopt=0, tol=1e-13, ptol=1e-15, delta=1e-14)
SETTINGS_43_TABLE = Settings(
    method=6, ssc=1, Estat=1, Nopt=1, Jopt=0, h0=1 / 100, tol=1e-13, ptol=1e-15, delta=1e-14
)
SETTINGS_44 = Settings(
    method=3, ssc=0, Estat=1, Nopt=0, Jopt=0, h0=1 / 50, tol=1e-10, ptol=1e-15, delta=1e-12
)
SETTINGS_45 = Settings(
    method=4,
    ssc=1,
    Estat=1,
    Nopt=0,
    Jopt=0,
    h0=1 / 1000,
    eps0=1e-7,
    beta=0.8,
    tol=1e-7,
    ptol=1e-15,
    delta=1e-14,
)
SETTINGS_46 = Settings(
    method=4,
    ssc=1,
    Estat=1,
    Nopt=1,
    Jopt=0,
    h0=1 / 1000,
    eps0=1e-10,
    beta=0.9,
    tol=1e-10,
    ptol=1e-15,
    delta=1e-13,
)
SETTINGS_47 = Settings(
    method=6,
    ssc=1,
    Estat=1,
    Nopt=1,
    Jopt=0,
    h0=1 / 100,
    eps0=1e-7,
    beta=0.78,
    tol=1e-7,
    ptol=1e-15,
    delta=1e-14,
)
