"""Section 3, the body on the unit circle (62): Figures 2 to 7, errors against the polar form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.integrate import solve_ivp

import testset
from baselines.second_order.layout import Ready, ready
from baselines.second_order.march import March, Steps, bdf, march
from baselines.second_order.tables import METHODS
from herk.core.dae import Array
from herk.reproductions.second_order.track import Jumps, changes

STEP, END = 1e-3, 0.1
NAMES = ("y1", "y2", "y1'", "y2'", "λ")

# The paper does not print its variable steps: ours are doubled and halved every third step, as many times up
# as down.
PATTERN = (0, 0, 0, 1, 1, 1, 0, 0, 0, -1, -1, -1)


@dataclass(frozen=True)
class Curve:
    """One run: points z (times x components) and their errors."""

    figure: int
    method: str
    second_order: bool
    t: Array
    z: Array
    errors: Array

    @property
    def largest(self) -> Array:
        """Return the largest error of every component."""
        return np.asarray(self.errors.max(axis=0))


@cache
def system(form: str) -> Ready:
    """Return (62) as second_order, or (64) as index3, compiled."""
    return ready(testset.get("unit_circle", t_end=END), form)


def parts(phi: Array, omega: Array) -> tuple[Array, ...]:
    """Return y, y' and the force without multiplier on the circle y = (sin phi, cos phi)."""
    y1, y2 = np.sin(phi), np.cos(phi)
    v1, v2 = omega * y2, -omega * y1
    return y1, y2, v1, v2, -y1 - 2 * y1 * v1 * v2, -v1 + 2 * y1 * v2**2


def reference(t: Array) -> Array:
    """Return the solution from the polar form phi'' = tau . F; lambda from the radial part of the force."""

    def rate(_: float, y: Array) -> list[float]:
        y1, y2, _, _, f1, f2 = parts(*y)
        return [y[1], y2 * f1 - y1 * f2]

    run = solve_ivp(
        rate,
        (0.0, float(t[-1])),
        (0.0, 1.0),
        method="DOP853",
        rtol=1e-13,
        atol=1e-15,
        max_step=2e-3,
        t_eval=t,
    )
    y1, y2, v1, v2, f1, f2 = parts(*run.y)
    return np.array([y1, y2, v1, v2, (y1 * f1 + y2 * f2 + v1**2 + v2**2) / 2]).T


def constant_grid() -> Array:
    """Return the times of Figures 2, 4 and 6."""
    return STEP * np.arange(round(END / STEP) + 1)


def variable_grid() -> Array:
    """Return the times of Figures 3, 5 and 7, the last step cut at the end."""
    steps = STEP * 2.0 ** np.resize(PATTERN, 2 * round(END / STEP))
    times = np.concatenate([[0.0], np.cumsum(steps)])
    return np.append(times[times < END - 1e-9], END)


def rising_orders(count: int) -> Array:
    """Return the orders of Figure 2.

    Three steps of order 1, as the text says, then one more in each step up to 4.
    """
    return np.clip(np.arange(count) - 1, 1, 4)


def every_curve() -> list[Curve]:
    """Run everything: for each figure the method for second-order systems and its twin.

    For first-order ones.
    """
    made: list[Curve] = []
    constant, variable = constant_grid(), variable_grid()
    orders = {2: rising_orders(len(constant) - 1), 3: np.minimum(np.arange(1, len(variable)), 2)}
    for figure, grid in ((2, constant), (3, variable)):
        for second in (True, False):
            run = bdf(system("second_order"), grid, orders[figure], modified=second)
            made.append(curve(figure, "BDF", second, run))
    for figure, name, label in ((4, "radau", "Radau IIA"), (6, "glm", "general linear")):
        for shift, grid in enumerate((constant, variable)):
            for second in (True, False):
                key = name if second else f"{name}_first"
                run = march(system("second_order" if second else "index3"), METHODS[key], grid)
                made.append(curve(figure + shift, label, second, run))
    return made


def curve(figure: int, method: str, second: bool, run: March) -> Curve:
    """Return a run with its errors."""
    assert not run.wrong
    return Curve(figure, method, second, run.t, run.z, np.abs(run.z - reference(run.t)))


def pair(curves: list[Curve], figure: int) -> tuple[Curve, Curve]:
    """Return the runs of a figure: second order, first order."""
    second, first = (
        next(c for c in curves if c.figure == figure and c.second_order is kind) for kind in (True, False)
    )
    return second, first


def jumps(curves: list[Curve], figure: int) -> Jumps:
    """Return the errors of lambda in Figure 2 or 3."""
    second, first = pair(curves, figure)
    orders = rising_orders(len(second.t) - 1) if figure == 2 else np.minimum(np.arange(1, len(second.t)), 2)
    marks = changes(np.diff(second.t), orders)
    return Jumps(f"Figure {figure}", second.t[1:], first.errors[1:, -1], second.errors[1:, -1], marks)


def one_iteration(second: bool) -> float:
    """Return the largest error of lambda if Newton's iteration starts from zero and stops after one step.

    As a loose tolerance lets it.
    """
    grid, made = constant_grid(), system("second_order" if second else "index3")
    steps = Steps(made, METHODS["radau" if second else "radau_first"], STEP)
    points = []
    for n in range(len(grid) - 1):
        steps.K[:] = 0.0
        points.append(steps.along(grid[n : n + 2], limit=1e9)[0])
    return float(np.abs(np.array(points)[:, -1] - reference(grid)[1:, -1]).max())
