"""Figures 3, 5 and 7 under error control: the tolerances of the paper, whose estimate is not printed.

Ours is step doubling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from baselines.second_order.march import Steps, bdf
from baselines.second_order.tables import METHODS
from herk.core.dae import Array
from herk.reproductions.published import Origin, Row, Verdict
from herk.reproductions.second_order.circle import END, STEP, reference, system

RTOL = 1e-4
ATOL = np.array([1e-4, 1e-4, 1e-4, 1e-4, 1e-2])  # y1, y2, y1', y2', lambda, as printed
SAFETY, LEAST_FACTOR, MOST_FACTOR = 0.9, 0.2, 2.0
LEAST_STEP, MOST_STEPS = 1e-8, 400
BETTER, ALIKE = 10.0, 2.0  # factors between errors of lambda that count as failing, and as almost the same

# One trial: from the state after the accepted steps, the point after a step of h, that after two of h/2, and
# the state to go on with.
Trial = Callable[[float], tuple[Array, Array, Callable[[], None]]]


@dataclass(frozen=True)
class Controlled:
    """A run under error control: accepted times, points, and whether the end was reached.

    Lambda may be left out of the test.
    """

    figure: int
    method: str
    second_order: bool
    whole: bool
    t: Array
    z: Array
    ended: bool

    @property
    def error(self) -> float:
        """Return the largest error of lambda at the points accepted; there may be none."""
        if len(self.t) < 2:
            return float("nan")
        return float(np.abs(self.z - reference(self.t))[1:, -1].max(initial=0.0))

    @property
    def changes(self) -> int:
        """Return how often the step changed."""
        return int((np.abs(np.diff(np.diff(self.t))) > 1e-12).sum())


def multistep(second: bool) -> Trial:
    """Return trials of BDF: order 1 in the first step, then 2.

    The grid is run anew in every trial, which takes microseconds.
    """
    made, times = system("second_order"), [0.0]

    def last(grid: list[float]) -> Array:
        orders = np.minimum(np.arange(1, len(grid)), 2)
        run = bdf(made, np.array(grid), orders, modified=second)
        return run.z[-1] if not run.wrong else np.full(made.form.n, np.nan)

    def trial(h: float) -> tuple[Array, Array, Callable[[], None]]:
        t = times[-1]
        return last([*times, t + h]), last([*times, t + h / 2, t + h]), lambda: times.append(t + h)

    return trial


def onestep(name: str, second: bool) -> Trial:
    """Return trials of a Runge-Kutta or general linear method."""
    state = [
        Steps(
            system("second_order" if second else "index3"), METHODS[name if second else f"{name}_first"], STEP
        )
    ]
    time = [0.0]

    def along(steps: Steps, h: float, count: int) -> Array:
        points = steps.along(time[0] + h / count * np.arange(count + 1))
        return points[-1] if len(points) == count else np.full(len(ATOL), np.nan)

    def trial(h: float) -> tuple[Array, Array, Callable[[], None]]:
        whole, halves = state[0].copy(), state[0].copy()
        coarse, fine = along(whole, h, 1), along(halves, h, 2)

        def go_on() -> None:
            state[0], time[0] = whole, time[0] + h

        return coarse, fine, go_on

    return trial


def control(trial: Trial, order: int, whole: bool) -> tuple[Array, Array, bool]:
    """Integrate to the end; return times, points.

    And whether it was reached with steps above the least one.
    """
    weights = slice(None) if whole else slice(0, 4)
    t, h, times, points = 0.0, STEP, [0.0], [system("second_order").start[0]]
    for _ in range(MOST_STEPS):
        if END - t < 1e-12:
            return np.array(times), np.array(points), True
        h = min(h, END - t)
        coarse, fine, go_on = trial(h)
        scale = (ATOL + RTOL * np.abs(coarse))[weights]
        error = float(np.max(np.abs(coarse - fine)[weights] / scale)) / (2**order - 1)
        if error <= 1:
            go_on()
            t += h
            times.append(t)
            points.append(coarse)
        factor = SAFETY * max(error, 1e-10) ** (-1 / (order + 1)) if np.isfinite(error) else 0.0
        h *= min(MOST_FACTOR, max(LEAST_FACTOR, factor))
        if h < LEAST_STEP:
            break
    return np.array(times), np.array(points), False


def every_run() -> list[Controlled]:
    """Run all methods with lambda in the error test and without."""
    cases: list[tuple[int, str, int, Callable[[bool], Trial]]] = [
        (3, "BDF", 2, multistep),
        (5, "Radau IIA", 3, lambda second: onestep("radau", second)),
        (7, "general linear", 2, lambda second: onestep("glm", second)),
    ]
    return [
        Controlled(figure, label, second, whole, *control(trials(second), order, whole))
        for figure, label, order, trials in cases
        for second in (True, False)
        for whole in (True, False)
    ]


def rows(runs: list[Controlled]) -> list[Row]:
    """Compare with what the text says about the figures with variable steps."""
    found = {(each.figure, each.second_order, each.whole): each for each in runs}
    made = []
    for figure, said in (
        (3, "first order fails in λ, modified BDF does not"),
        (5, "almost the same"),
        (7, "second order better"),
    ):
        for whole in (True, False):
            second, first = found[figure, True, whole], found[figure, False, whole]
            test = "in" if whole else "not in"
            case = f"system (62), {second.method}, error control, λ {test} the test"
            numbers = f"{_told(second)} against {_told(first)}"
            verdict = Verdict.SAME if _as_said(figure, second, first) else Verdict.LOST
            steps = (
                f"{len(second.t) - 1} and {len(first.t) - 1} steps, {second.changes} and {first.changes}"
                " changes"
            )
            why = f"tolerances as printed, estimate by step doubling; {steps}"
            made.append(
                Row(
                    f"Figure {figure}",
                    case,
                    "largest error of λ",
                    said,
                    numbers,
                    verdict,
                    why,
                    origin=Origin.SAID,
                )
            )
    return made


def _told(run: Controlled) -> str:
    return (
        f"{run.error:.1e}"
        if run.ended
        else "no step is accepted"
        if len(run.t) < 2
        else f"stops at t = {run.t[-1]:.3g}"
    )


def _as_said(figure: int, second: Controlled, first: Controlled) -> bool:
    """Tell whether the runs show what is said: a first-order run that cannot go on fails, too."""
    if not second.ended:
        return False
    if figure == 3:
        return not first.ended or first.error >= BETTER * second.error
    if not first.ended:
        return False
    ratio = first.error / second.error
    return 1 / ALIKE <= ratio <= ALIKE if figure == 5 else ratio > 1
