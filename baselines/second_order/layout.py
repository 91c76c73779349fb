"""Where the unknowns of a method stand in z and z' of F(t, z, z') = 0.

For second-order systems and for first-order ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from baselines.prepared import Implicit
from baselines.reached import JACOBIAN, RESIDUAL, CalledBack, forget, raised, reached
from baselines.second_order.stages import Stages, allocate
from herk.core import Problem
from herk.core.dae import Array
from herk.jit.native import Native
from herk.model.forms.forms import rates


@dataclass(frozen=True, eq=False)
class Layout:
    """The slots of z (side 0) and z' (side 1): unknown `source`, differentiated `derivative` times.

    A derivative of -1 does not occur. A second-order system (q = 2) has the unknowns x = (p, lam), and z =
    (p, p', lam) in some order; a first-order one (q = 1) has x = z. `rows` are the equations used,
    `variable_index` the index of each component of z.
    """

    q: int
    source: Array
    derivative: Array
    rows: Array
    variable_index: Array

    def split(self, z: Array, zp: Array, zpp: Array) -> Array:
        """Return x, x', x'' as rows, from z and its derivatives."""
        x = np.zeros((3, len(self.rows)))
        for row, values in enumerate((z, zp, zpp)):
            lowest = self.derivative[0] == 0
            x[row, self.source[0, lowest]] = values[lowest]
        return x


def second_order_layout(form: Any) -> Layout:
    """Return the slots of M p'' = force, 0 = g; rows p' = v are not needed, they hold by construction."""
    source, derivative = np.full((2, form.n), 0), np.full((2, form.n), -1)
    for i, (p, v) in enumerate(zip(form.positions, form.velocities, strict=True)):
        source[:, [p, v]] = i
        derivative[:, p], derivative[:, v] = (0, 1), (1, 2)
    for i, lam in enumerate(form.multipliers):
        source[:, lam], derivative[0, lam] = len(form.positions) + i, 0
    return Layout(
        2, source, derivative, np.array([*form.dynamic, *form.constraints]), np.array(form.variable_index)
    )


def first_order_layout(form: Any) -> Layout:
    """Return the slots of F(t, z, z') = 0."""
    places = np.arange(form.n)
    return Layout(
        1,
        np.array([places, places]),
        np.array([0 * places, 0 * places + 1]),
        places,
        np.array(form.variable_index),
    )


@dataclass(frozen=True, eq=False)
class Ready(Implicit):
    """A form with its layout, and the second derivatives of the start."""

    layout: Layout
    curvature: Array

    @cached_property
    def functions(self) -> list[Native | CalledBack]:
        """Return residual and Jacobian as compiled steps reach them."""
        return [reached(self.residual, RESIDUAL), reached(self.jacobian, JACOBIAN)]

    def stages(self, count: int, limit: float) -> Stages:
        """Return the stage equations of a method with so many stages."""
        layout, n = self.layout, self.form.n
        own = allocate(n, len(layout.rows), count, layout.q)
        own.source[:], own.derivative[:] = layout.source.ravel(), layout.derivative.ravel()
        own.rows[:], own.variable_index[:], own.limit = layout.rows, layout.variable_index, limit
        own.at_residual, own.at_jacobian = (each.entry for each in self.functions)
        forget(self.functions, n)
        return own

    def check(self) -> None:
        """Raise what a function raised in compiled steps."""
        error = raised(self.functions)
        if error is not None:
            raise error

    @property
    def initial(self) -> Array:
        """Return x, x', x'' at the start as rows."""
        return self.layout.split(*self.start, self.curvature)


def ready(problem: Problem, form: str) -> Ready:
    """Return a form of the problem, derived and compiled."""
    own: Any = problem.form(form)
    layout = second_order_layout(own) if form == "second_order" else first_order_layout(own)
    start = own.start()
    return Ready(
        own, problem.t_span, start, own.to_model_states, layout, curvature(own, problem.t_span[0], *start)
    )


def curvature(form: Any, t: float, z: Array, zp: Array) -> Array:
    """Return z'' at the start: differences of z' along the tangent, extrapolated.

    The constraints are missed by an even power only.
    """
    source = form.model.form("overdetermined")

    def quotient(step: float) -> Array:
        return (rates(source, t + step, z + step * zp) - rates(source, t - step, z - step * zp)) / (2 * step)

    step = 1e-3 / (1.0 + float(np.abs(zp).max() / (1.0 + np.abs(z).max())))
    return (64 * quotient(step / 4) - 20 * quotient(step / 2) + quotient(step)) / 45
