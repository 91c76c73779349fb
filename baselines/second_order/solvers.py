"""The methods as solvers of the bench.

BDF with error control, Runge-Kutta and general linear methods with fixed steps.

Tolerances of BDF: the RMS of the local error over (atol + rtol |z|), estimated as DASSL does, is kept below 1
for positions and velocities, and for other unknowns only where they are of index 1; the paper leaves the
choice of step and order open. Output times are served by polynomials through six neighbouring steps. Fixed
steps are those asked for, the last one shortened. Problems of index above 3 are refused, as the methods are
made for index 3. Counters are those of the kernel: an evaluation of F in each stage and iteration of Newton's
method, each with its Jacobian. Gauss is no solver here: on index 3 its multipliers grow as h^-2 (study
`second_order`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baselines.adapter import Points, Rival, Watch, finished, note, tolerances
from baselines.second_order import multistep, stages
from baselines.second_order.layout import Ready, ready
from baselines.second_order.march import History, Steps, history
from baselines.second_order.tables import METHODS
from herk.core import InputError, Problem, Reason, Settings, Solution, nearest
from herk.core.dae import Array

CHUNK = 256  # steps between two looks at the clock
MAX_STEPS = 10_000_000
MOST_INDEX = 3
FIRST = 4  # steps before BDF begins
REASONS = {
    stages.SINGULAR: (Reason.SINGULAR, "The matrix of Newton's method is singular."),
    stages.DIVERGED: (Reason.NEWTON, "Newton's method does not converge; a smaller step may help."),
    stages.UNDERFLOW: (
        Reason.STEP_UNDERFLOW,
        "The step size fell to the spacing of numbers; the tolerance may be below rounding.",
    ),
}


@dataclass(frozen=True)
class SecondOrder(Rival):
    """What all of them share: the form, and how far its index may go."""

    module, package = "herk", "herk"

    def supports(self, problem: Problem, form: str) -> tuple[bool, str]:
        """Add the index to what every rival asks for."""
        supported, reason = super().supports(problem, form)
        index = problem.form(form).index if supported else 0
        if index > MOST_INDEX:
            return (
                False,
                (
                    f"{self.name} is for index up to {MOST_INDEX}; problem {problem.name!r} has index {index}"
                    " in this form"
                ),
            )
        return supported, reason

    def prepare(self, problem: Problem, form: str) -> Ready:
        """Return the form; a few steps compile what is not compiled yet."""
        made = ready(problem, form)
        t0, t1 = problem.t_span
        self.solve(
            made,
            Settings(
                rtol=1e-3,
                atol=1e-3,
                step=None if self.adaptive else abs(t1 - t0) / 4,
                options={"max_steps": 2 * FIRST},
            ),
        )
        return made

    def limits(self, settings: Settings) -> tuple[int, int]:
        """Return the most steps and the highest order, which are the only options."""
        options = {"max_steps": MAX_STEPS, "max_order": self.order, **self.options, **settings.options}
        for name in options:
            if name not in ("max_steps", "max_order"):
                raise nearest(name, ("max_steps", "max_order"), f"option of {self.name}")
        if not 1 <= options["max_order"] <= self.order:
            raise InputError(
                f"max_order of {self.name} must be between 1 and {self.order}, not {options['max_order']!r}."
            )
        return int(options["max_steps"]), int(options["max_order"])

    def solve(self, prepared: Ready, settings: Settings) -> Solution:
        """Solve; whatever happens, the points reached are returned with a reason."""
        watch, points = Watch(settings.time_limit), Points([prepared.t_span[0]], [prepared.start[0]])
        if self.adaptive != (settings.step is None):
            why = (
                "chooses its steps itself; settings.step is for methods with fixed steps"
                if self.adaptive
                else "needs settings.step"
            )
            points.stop(Reason.UNSUPPORTED, f"{self.name} {why}.")
            return finished(prepared, points, watch)
        try:
            self.integrate(prepared, settings, watch, points)
        except Exception as error:  # noqa: BLE001 - functions of the user may fail in any way
            note(points, error)
        if settings.t_eval is not None:
            deliver(points, np.asarray(settings.t_eval, dtype=float))
        return finished(prepared, points, watch)


@dataclass(frozen=True)
class Bdf(SecondOrder):
    """BDF of variable step and order, modified for second-order systems or not."""

    modified: bool = True

    def integrate(self, prepared: Ready, settings: Settings, watch: Watch, points: Points) -> None:
        """Step through the span."""
        most_steps, most = self.limits(settings)
        high = np.array([j in prepared.form.multipliers for j in range(prepared.form.n)])
        atol = np.where(
            high & (prepared.layout.variable_index > 1), -1.0, tolerances(prepared, settings.atol)
        )
        step = first_step(prepared, settings.rtol, atol)
        steps, t, z, memory = first_points(prepared, step, most, self.modified)
        keep(points, t, z)
        past, wrong = memory.past, steps.linear.wrong
        past.h, past.end, past.rtol, past.atol[:] = step, prepared.t_span[1], settings.rtol, atol
        past.order, past.known, past.since, past.nfev = min(FIRST, most), FIRST + 1, 1, steps.linear.nfev
        while points.t[-1] != past.end and not wrong:
            watch.check()
            if points.nstep >= most_steps:
                return points.stop(Reason.MAX_STEPS, f"{points.nstep} steps were not enough.")
            many = min(CHUNK, most_steps - points.nstep)
            out_t, out_z = np.empty(many), np.empty((many, prepared.form.n))
            past.bind("out_t", out_t)
            past.bind("out_z", out_z)
            wrong = multistep.PROGRAM[multistep.bdf_run].call(past.address)
            prepared.check()
            keep(points, out_t[: past.made], out_z[: past.made])
            watch.nfev = watch.njev = points.nlu = past.nfev
            points.nreject = past.nreject
        return points.stop(*REASONS[wrong]) if wrong else None


@dataclass(frozen=True)
class FixedStep(SecondOrder):
    """A Runge-Kutta or general linear method."""

    method: str = ""

    def integrate(self, prepared: Ready, settings: Settings, watch: Watch, points: Points) -> None:
        """Step through the span."""
        t0, t1 = prepared.t_span
        most, _ = self.limits(settings)
        assert settings.step is not None
        count = int(np.ceil(abs(t1 - t0) / settings.step * (1 - 1e-12)))
        grid = t0 + np.sign(t1 - t0) * settings.step * np.arange(min(count, most) + 1)
        if count <= most:
            grid[-1] = t1
        steps = Steps(prepared, METHODS[self.method], float(grid[1] - grid[0]))
        for first in range(0, len(grid) - 1, CHUNK):
            watch.check()
            part = grid[first : first + CHUNK + 1]
            z = steps.along(part)
            keep(points, part[1 : 1 + len(z)], z)
            watch.nfev = watch.njev = steps.linear.nfev
            points.nlu = watch.nfev // steps.stages.s
            if steps.linear.wrong:
                return points.stop(*REASONS[steps.linear.wrong])
        return points.stop(Reason.MAX_STEPS, f"{most} steps were not enough.") if count > most else None


def keep(points: Points, t: Array, z: Array) -> None:
    """Keep points reached."""
    points.t.extend(t.tolist())
    points.z.extend(z)
    points.nstep += len(t)


def first_step(prepared: Ready, rtol: float, atol: Array) -> float:
    """Return the step with which (12) of order 2 makes a tenth of the error allowed.

    At most a thousandth of the span.

    Velocities are differences over h: with steps for which their rounding is a tenth of the error allowed, no
    estimate is possible.
    """
    (t0, t1), (z, _), counted = prepared.t_span, prepared.start, atol >= 0
    allowed = (rtol * np.abs(z) + atol)[counted]
    size = float(np.sqrt(np.mean((prepared.curvature[counted] / allowed) ** 2)))
    least = float(30 * np.finfo(float).eps * np.abs(z[counted]).max() / allowed.min())
    wanted = float(np.sqrt(0.3 / size)) if size > 0 else np.inf
    return float(np.sign(t1 - t0)) * min(1e-3 * abs(t1 - t0), max(wanted, least))


def first_points(prepared: Ready, h: float, most: int, modified: bool) -> tuple[Steps, Array, Array, History]:
    """Make the first steps by the general linear method, which needs no past.

    Return it, its points, and the past of BDF with them.
    """
    steps, grid = Steps(prepared, METHODS["glm"], h), prepared.t_span[0] + h * np.arange(FIRST + 1)
    memory = history(prepared, max(2 * most + 3, FIRST + 2), most, modified=modified)
    points = np.vstack([prepared.start[0], steps.along(grid)])
    memory.remember(grid[: len(points)], points, 1)
    return steps, grid[1 : len(points)], points[1:], memory


def deliver(points: Points, wanted: Array) -> None:
    """Replace the points by those at the wanted times, as far as the run came.

    Polynomials through six neighbouring points.
    """
    t, z = np.array(points.t), np.array(points.z)
    sign = 1.0 if len(t) < 2 or t[-1] > t[0] else -1.0
    wanted = wanted[(wanted * sign <= t[-1] * sign) & (wanted * sign >= t[0] * sign)]
    width = min(6, len(t))
    first = np.clip(np.searchsorted(sign * t, sign * wanted) - width // 2, 0, len(t) - width)
    nodes = t[first[:, None] + np.arange(width)]
    values = np.zeros((len(wanted), z.shape[1]))
    for i in range(width):
        others = np.delete(nodes, i, axis=1)
        weight = np.prod((wanted[:, None] - others) / (nodes[:, i : i + 1] - others), axis=1)
        values += weight[:, None] * z[first + i]
    points.t, points.z = wanted.tolist(), list(values)


def _fixed(name: str, method: str) -> FixedStep:
    tags = frozenset({"implicit", "fixed-step"})
    return FixedStep(
        name, "second_order", ("second_order",), METHODS[method].order, False, tags, method=method
    )


def _bdf(name: str, *, modified: bool) -> Bdf:
    tags = frozenset({"implicit", "stiff", "multistep"})
    return Bdf(name, "second_order", ("second_order",), 5, True, tags, modified=modified)


SOLVERS = (
    _bdf("bdf_second_order", modified=True),
    _bdf("bdf_first_order", modified=False),
    _fixed("rk_second_order_radau", "radau"),
    _fixed("glm_second_order", "glm"),
)
