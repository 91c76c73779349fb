"""One run of the program of 2017: stretches of compiled steps, and the points they bring."""

from __future__ import annotations

import math

import numpy as np

from herk.core import Dae
from herk.core.dae import Array
from herk.integrate.callables import NAMES, Bound
from herk.model.evaluate import call
from herk.thesis import layout
from herk.thesis.layout import Herkosidae, allocate
from herk.thesis.loop import PROGRAM, advance
from herk.thesis.outcome import REASONS, Outcome
from herk.thesis.settings import Settings
from herk.thesis.solvers import solver

COUNTERS = ("rejected", "updates", "solves", "reluctant", "ill", "beyond")
CHUNK = 65536  # accepted steps between two looks at the keyboard


class Run:
    """The state of one run and the points it collects."""

    def __init__(
        self, dae: Dae, functions: Bound, t0: float, tf: float, x: Array, settings: Settings
    ) -> None:
        """Make the first step possible."""
        tableau, values = settings.tableau, getattr(dae.generated, "parameters", np.zeros(1))
        self.dae, self.functions = dae, functions  # alive as long as their addresses are in use
        self.own = own = allocate(dae.n, dae.m, tableau.stages, values.size)
        own.parameters[:], own.start[:], own.order = values, x, tableau.order
        own.weights[:], own.nodes[:] = np.vstack([tableau.A, tableau.b]).ravel(), np.append(tableau.c, 1.0)
        at_e, own.at_f, own.at_g, own.at_jac_g = (each.entry for each in functions.natives[:4])
        self.solver = None if settings.Jopt == 1 else solver(functions.natives[2], dae.n, dae.m)
        own.at_solver = self.solver.entry if self.solver else 0
        if callable(dae.E):
            own.at_e = at_e
        else:
            own.e[:] = np.ravel(dae.E)
        _set(own, settings, t0, tf, callable(dae.E))
        self.points = [(x[None, :], np.array([t0]), np.array([settings.h0]))]
        self.changes: list[tuple[int, tuple[int, ...]]] = []  # of the selection: step, components

    def go(self) -> Outcome:
        """Advance stretch by stretch, so that a run can be interrupted."""
        own, size, state, taken = self.own, 256, layout.FULL, 0
        while state == layout.FULL:
            points, times, widths = np.empty((size, own.n)), np.empty(size), np.empty(size)
            rows, components = np.empty(size, np.int64), np.empty((size, max(own.m, 1)), np.int64)
            for name, array in zip(LENT, (points, times, widths, rows, components), strict=True):
                own.bind(name, array)
            state = PROGRAM[advance].call(own.address)
            self._raise()
            count = own.accepted
            self.points.append((points[:count], times[:count], widths[:count]))
            for row, chosen in zip(rows[: own.changes], components, strict=False):
                self.changes.append((taken + int(row), tuple(sorted(chosen[: own.m].tolist()))))
            taken, size = taken + count, min(4 * size, CHUNK)
        return self._outcome(state)

    def _raise(self) -> None:
        """Raise what a callable raised; one that is compiled is called again in Python, to name the place."""
        error, dae = self.functions.error, self.dae
        if error is None:
            return
        for t, y in self.functions.places:
            for name in NAMES:
                function = getattr(dae, name)
                if callable(function):
                    call(name, getattr(function, "py_func", function), t, y)
        raise error

    def _outcome(self, state: int) -> Outcome:
        own, failure = self.own, min(state, 0)
        X, T, H = (np.concatenate(parts) for parts in zip(*self.points, strict=True))
        t_failed = own.t_failed if state in (layout.NEWTON, layout.IRREDUCIBLE) else own.t
        words = f"At t = {t_failed:.6g} {REASONS[failure].format(tol=own.tol)}." if failure else ""
        counts = {name: getattr(own, name) for name in COUNTERS}
        ends = {"failure": failure, "message": words, "t_failed": t_failed}
        return Outcome(X=X.T, T=T, H=H, selections=self._selections(T), **ends, **counts)  # type: ignore[arg-type]

    def _selections(self, T: Array) -> list[tuple[float, tuple[int, ...]]]:
        """Return where other components became algebraic; pivots in another order are no change."""
        found: list[tuple[float, tuple[int, ...]]] = []
        for step, components in self.changes or [(0, ())][: len(T) - 1]:
            if not found or found[-1][1] != components:
                found.append((float(T[step]), components))
        return found


LENT = ("points", "times", "widths", "change_rows", "change_components")


def _set(own: Herkosidae, settings: Settings, t0: float, tf: float, varying: bool) -> None:
    """Write the parameters of the program into its state."""
    tol = min(settings.tol, settings.eps0) if settings.adaptive else settings.tol
    own.t, own.t_start, own.t_end, own.h = t0, t0, tf, settings.h0
    own.delta, own.tol, own.ptol = settings.delta, tol, settings.ptol
    own.eps0, own.beta = settings.eps0, settings.beta
    own.limit = 100 * max(tol, settings.eps0 if settings.adaptive else tol)
    own.steps = math.floor((tf - t0) / settings.h0 + 0.5)
    own.adaptive, own.given_jacobian = settings.adaptive, settings.Jopt == 1
    own.constant_e, own.simplified = settings.Estat == 1 or not varying, settings.Nopt == 1
    own.max_norm, own.keep_fine = settings.max_norm, settings.keep_fine
