"""Theorem 2.1: observed orders of projected Runge-Kutta methods (2.5)-(2.7).

With constant steps on the pendulum (4.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from baselines.irk.families import Implicit, tableau
from baselines.irk.hessenberg import System, march
from herk.core.dae import Array
from testset.pendulum_unit import exact

COMPONENTS = {"u": (0, 1), "v": (2, 3), "lambda": (4,)}
T_END = 1.0
METHODS = (
    ("radau_iia", 2),
    ("radau_iia", 3),
    ("radau_iia", 4),
    ("radau_ia", 3),
    ("radau_ia", 4),
    ("lobatto_iiic", 3),
    ("lobatto_iiic", 4),
    ("gauss", 2),
    ("gauss", 3),
)
# By stages; chosen after a first look, so that orders have settled and errors stay above the 1e-15 of the
# exact solution.
STEPS = {2: (40, 80, 160), 3: (20, 40, 80), 4: (5, 10, 20)}


@dataclass(frozen=True)
class Observed:
    """Largest errors over the interval for each number of steps, of one component of one method."""

    method: Implicit
    component: str
    projected: bool
    steps: tuple[int, ...]
    errors: tuple[float, ...]
    residual: float  # largest |g| and |Dg f| over all runs

    @property
    def order(self) -> float:
        """Return the order between the two finest runs."""
        if not all(0 < e < np.inf for e in self.errors[-2:]):
            return float("nan")
        return float(np.log(self.errors[-2] / self.errors[-1]) / np.log(self.steps[-1] / self.steps[-2]))

    @property
    def covered(self) -> bool:
        """Tell whether (B1)-(B3) hold: A regular, |R(inf)| < 1, p >= q + 1, q >= 2."""
        m = self.method
        return (
            not m.explicit_first
            and abs(m.at_infinity) < 1 - 1e-9
            and m.order >= m.stage_order + 1
            and m.stage_order >= 2
        )

    @property
    def claimed(self) -> int:
        """Return the order of Theorem 2.1 and its remark: u: q, or q + 1 if p >= q + 2; v: q.

        Lambda: q - 1.
        """
        q = self.method.stage_order
        return {"u": q + (self.method.order >= q + 2), "v": q, "lambda": q - 1}[self.component]

    @property
    def undamped(self) -> int:
        """Return the order to expect with projection where |R(inf)| = 1: u and v q.

        Lambda q - 1 for R(inf) = -1, q - 2 for +1.
        """
        q = self.method.stage_order
        return {"u": q, "v": q, "lambda": q - 1 if self.method.at_infinity < 0 else q - 2}[self.component]


def pendulum() -> System:
    """Return (4.1) as the fixed-step methods want it, from (1, 0) at rest."""

    def right(u1, u2, v1, v2, lam):  # type: ignore[no-untyped-def] # plain arithmetic, on decimals and symbols alike
        return [v1, v2, -2 * u1 * lam, -1 - 2 * u2 * lam, u1 * u1 + u2 * u2 - 1]

    start, slope = (tuple(map(Decimal, values)) for values in ((1, 0, 0, 0, 0), (0, 0, 0, -1, 0)))
    return System(
        name="pendulum_unit", index=3, groups=COMPONENTS, right=right, start=start, slope=slope, m=1
    )


def project(z: Array) -> Array:
    """Apply (2.7) to a point of the pendulum.

    U along f_v k_lam = -2u, v along k_lam = -2u, both at the unprojected point.
    """
    u, v = z[:2], z[2:4]
    mu = Decimal(0)
    for _ in range(20):  # |u - 2 mu u|^2 = 1
        moved = u * (1 - 2 * mu)
        change = (moved @ moved - 1) / (-4 * (moved @ u))
        mu -= change
        if abs(change) < Decimal("1e-45"):
            break
    moved = u * (1 - 2 * mu)
    return np.concatenate([moved, v - u * ((moved @ v) / (moved @ u)), z[4:]])


def observe(family: str, stages: int, projected: bool) -> Iterator[Observed]:
    """Yield the errors of u, v and lambda; a run that breaks down has infinite errors."""
    method, system, steps = tableau(family, stages), pendulum(), STEPS[stages]
    errors, residual = np.full((len(steps), 5), np.inf), 0.0
    for row, count in zip(errors, steps, strict=True):
        z = march(system, method, T_END, count, project if projected else None).astype(float)
        if len(z) <= count:
            continue
        truth = np.array([exact(t) for t in np.linspace(0.0, T_END, count + 1)])
        row[:] = np.abs(z - truth).max(axis=0)
        u, v = z[:, :2], z[:, 2:4]
        residual = max(
            residual, float(np.abs((u * u).sum(axis=1) - 1).max()), float(np.abs((u * v).sum(axis=1)).max())
        )
    for component, places in COMPONENTS.items():
        yield Observed(method, component, projected, steps, tuple(errors[:, places].max(axis=1)), residual)


def every_order(quick: bool = False) -> list[Observed]:
    """Return the observed orders with and without projection.

    If time is short, only those of the methods with three stages.
    """
    chosen = [each for each in METHODS if not quick or each[1] == 3]
    return [
        found
        for family, stages in chosen
        for projected in (False, True)
        for found in observe(family, stages, projected)
    ]
