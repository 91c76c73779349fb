"""An independent judge of sensitivities: SciPy's DOP853 on the underlying ODE, at p + 1e-30 i.

Nothing of herk's generated code or steppers takes part. The formulas E, f and g become NumPy functions of complex
arguments, y' is solved for from [E; g_y] y' = [f; -g_t], and dy/dp is the imaginary part of the end divided
by 1e-30: exact to rounding and the tolerance of DOP853, with no difference of nearby numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.linalg import qr

import herk
from herk.core.dae import Array

CHANGE = 1e-30
TOLERANCES = {"rtol": 1e-13, "atol": 1e-15}
KEPT = 20  # calls with the same choice of equations


class Judge:
    """Ends of solutions of a model as functions of complex parameters and start values."""

    def __init__(self, model: Any) -> None:
        """Write the formulas as functions of (t, y, p)."""
        self.model, self.calls, self.rows = model, 0, np.zeros(0, dtype=int)
        g, y = sp.Matrix(herk.regularize(model).constraints), sp.Matrix(model.states)
        of = [model.t, list(model.states), list(model.parameters)]
        g_y = g.jacobian(y)
        parts = [sp.Matrix(model.E), sp.Matrix(model.f), g_y, g.diff(model.t)]
        self.parts: Any = sp.lambdify(of, parts, "numpy", cse=True)
        self.constraints: Any = sp.lambdify(of, [g, g_y], "numpy", cse=True)

    def derivative(self, name: str, near: Array, unknown: list[int], bounce: Bounce | None = None) -> Array:
        """Return dy/dname at the end of the span; the components `unknown` of the start follow from the rest."""
        y, p = near.astype(complex), np.array(list(self.model.parameters.values()), dtype=complex)
        if name.startswith("y0:"):
            y[self.model.names.index(name[3:])] += 1j * CHANGE
        else:
            p[[each.name for each in self.model.parameters].index(name)] += 1j * CHANGE
        t, end = self.model.t_span
        y = self._consistent(y, p, unknown)
        while bounce is not None:
            t, y, met = self._met(t, y, p, bounce)
            if not met:
                break
            y = self._consistent(np.array(bounce.reset(t, y)), p, bounce.follow)
        return np.asarray(self._flow(t, y, end, p).imag / CHANGE)

    def _consistent(self, y: Array, p: Array, unknown: list[int]) -> Array:
        """Return y with the unknown components made consistent, by Newton's method."""
        y = y.copy()
        for _ in range(20):
            g, g_y = self.constraints(self.model.t_span[0], y, p)
            rows = _independent(g_y[:, unknown])[: len(unknown)]
            y[unknown] -= np.linalg.solve(g_y[np.ix_(rows, unknown)], g[rows, 0])
        assert np.abs(g).max() < 1e-12 * (1 + np.abs(g_y).max())
        return y

    def _rate(self, t: complex, y: Array, p: Array) -> Array:
        """Return y'; which of the equations it is solved from is seen to every few calls."""
        E, f, g_y, g_t = self.parts(t, y, p)
        matrix, right = np.vstack([E, g_y]), np.vstack([f, -g_t])[:, 0]
        if self.calls % KEPT == 0:
            self.rows = _independent(matrix)[: len(y)]
        self.calls += 1
        return np.linalg.solve(matrix[self.rows], right[self.rows])

    def _flow(self, t: complex, y: Array, end: complex, p: Array) -> Array:
        """Return y at another time, on the straight way there; times may be complex."""
        long = end - t
        return self._run(lambda s, y: long * self._rate(t + s * long, y, p), (0.0, 1.0), y).y[:, -1]

    def _met(self, t: complex, y: Array, p: Array, bounce: Bounce) -> tuple[complex, Array, bool]:
        """Return where the event happens, at a complex time, and whether it does."""

        def touched(s: float, y: Array) -> float:
            return float(bounce.distance(y).real)

        touched.terminal, touched.direction = True, -1  # type: ignore[attr-defined]
        since, end = complex(t), self.model.t_span[1]
        shift = 1j * since.imag
        run = self._run(
            lambda s, y: self._rate(s + shift, y, p), (since.real, end), y, touched
        )  # beside the real axis as far as its start
        if run.status != 1:
            return t, y, False
        t, y = run.t[-1] + shift, run.y[:, -1]
        for _ in range(3):
            later = t - bounce.distance(y) / bounce.distance(self._rate(t, y, p), slope=True)
            t, y = later, self._flow(t, y, later, p)
        return t, y, True

    def _run(self, rate: Any, span: Any, y: Array, event: Any = None) -> Any:
        self.calls = 0
        found = solve_ivp(rate, span, y, method="DOP853", events=event, **TOLERANCES)
        assert found.success
        return found


class Bounce:
    """An event: where a component falls to a value, a function of (t, y) resets y, and some components follow."""

    def __init__(self, component: int, value: float, reset: Callable[[Any, Any], Any], follow: list[int]):
        """Keep what is asked for."""
        self.component, self.value, self.reset, self.follow = component, value, reset, follow

    def distance(self, y: Array, *, slope: bool = False) -> Any:
        """Return how far it is, or of a rate how fast that changes."""
        return y[self.component] - (0.0 if slope else self.value)


def _independent(matrix: Array) -> Array:
    """Return the rows of a matrix, independent ones first."""
    tops = np.abs(matrix).max(axis=1, keepdims=True)
    return np.asarray(qr((matrix / np.where(tops > 0.0, tops, 1.0)).real.T, mode="r", pivoting=True)[1])
