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
from baselines.second_order import kernels
from baselines.second_order.layout import Ready, ready
from baselines.second_order.march import LIMIT, Steps, history, remember
from baselines.second_order.tables import METHODS
from herk.core import InputError, Problem, Reason, Settings, Solution, nearest
from herk.core.dae import Array

CHUNK = 256  # steps between two looks at the clock
MAX_STEPS = 10_000_000
MOST_INDEX = 3
FIRST = 4  # steps before BDF begins
REASONS = {
    kernels.SINGULAR: (Reason.SINGULAR, "The matrix of Newton's method is singular."),
    kernels.DIVERGED: (Reason.NEWTON, "Newton's method does not converge; a smaller step may help."),
    kernels.UNDERFLOW: (
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
        layout, end = prepared.layout, prepared.t_span[1]
        most_steps, most = self.limits(settings)
        high = np.array([j in prepared.form.multipliers for j in range(prepared.form.n)]) & (
            layout.levels > 1
        )
        atol = np.where(high, -1.0, tolerances(prepared, settings.atol))
        steps, t, z, memory = first_points(prepared, first_step(prepared, settings.rtol, atol), most)
        keep(points, t, z)
        wrong, h, counts = int(steps.counts[1]), steps.before, np.array([steps.counts[0], 0])
        state = np.array([min(FIRST, most), FIRST + 1, 1])
        while points.t[-1] != end and not wrong:
            watch.check()
            if points.nstep >= most_steps:
                return points.stop(Reason.MAX_STEPS, f"{points.nstep} steps were not enough.")
            many = min(CHUNK, most_steps - points.nstep)
            out_t, out_z = np.empty(many), np.empty((many, prepared.form.n))
            made, h, wrong = kernels.bdf_run(
                prepared.functions,
                layout.arrays,
                layout.q,
                self.modified,
                LIMIT,
                memory,
                state,
                h,
                end,
                (settings.rtol, atol),
                out_t,
                out_z,
                counts,
            )
            keep(points, out_t[:made], out_z[:made])
            watch.nfev, watch.njev, points.nlu, points.nreject = (
                int(counts[0]),
                int(counts[0]),
                int(counts[0]),
                int(counts[1]),
            )
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
            watch.nfev = watch.njev = int(steps.counts[0])
            points.nlu = watch.nfev // len(steps.method[0])
            if steps.counts[1]:
                return points.stop(*REASONS[int(steps.counts[1])])
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


def first_points(prepared: Ready, h: float, most: int) -> tuple[Steps, Array, Array, tuple[Array, ...]]:
    """Make the first steps by the general linear method, which needs no past.

    Return it, its points, and the memory of BDF with them.
    """
    steps, grid = Steps(prepared, METHODS["glm"], h), prepared.t_span[0] + h * np.arange(FIRST + 1)
    memory = history(prepared.layout, max(2 * most + 3, FIRST + 2), most)
    points = np.vstack([prepared.start[0], steps.along(grid)])
    remember(memory, prepared.layout, grid[: len(points)], points, 1)
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
