"""The experiments behind Figures 3 to 9: orders, and half a period of the pendulum."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

import testset
from herk.core.dae import Array
from herk.integrate.solve import solve_dae
from herk.reproductions.published import Modern, Origin, Row, Verdict
from herk.reproductions.thesis import printed
from herk.reproductions.thesis.equations import PRINTED_G
from herk.reproductions.thesis.systems import (
    ACADEMIC,
    PENDULUM,
    SELECTOR,
    SETTINGS_43_FIRST,
    SETTINGS_43_ORDER,
    SETTINGS_423,
    System,
)
from herk.thesis import METHODS, Outcome, Settings, integrate

STEPS_ACADEMIC = (1 / 10, 1 / 100, 1 / 1000)
STEPS_SELECTOR = (math.pi / 40, math.pi / 400, math.pi / 4000)
STEPS_PENDULUM = (1 / 100, 1 / 300, 1 / 600, 1 / 1000)
NOISE = tuple(0.8 + k / 100 for k in range(41))  # of delta: what differs between these runs is rounding


@dataclass(frozen=True)
class Orders:
    """Errors for several steps, at the end and the largest over the interval.

    With the slopes fitted to them in log-log scale.
    """

    steps: tuple[float, ...]
    at_end: tuple[float, ...]
    largest: tuple[float, ...]
    changes: tuple[int, ...]

    @property
    def order(self) -> float:
        """Return the fitted order at the end."""
        return slope(self.steps, self.at_end)

    @property
    def order_of_largest(self) -> float:
        """Return the fitted order of the largest error."""
        return slope(self.steps, self.largest)


def slope(h: Sequence[float], errors: Sequence[float]) -> float:
    """Fit log error = p log h + c by least squares and return p."""
    return float(np.polyfit(np.log(h), np.log(errors), 1)[0])


def run(system: System, settings: Settings, tf: float | None = None) -> Outcome:
    """Run the program on a system over its span."""
    return integrate(
        system.dae, system.t_span[0], system.t_span[1] if tf is None else tf, system.x0, settings
    )


def errors(system: System, outcome: Outcome) -> Array:
    """Return the 2-norm of the error at every point."""
    assert system.exact is not None
    return np.asarray(np.linalg.norm(outcome.X - system.exact(outcome.T), axis=0))


def orders(system: System, settings: Settings, steps: Sequence[float], tf: float | None = None) -> Orders:
    """Measure the order of a method with constant steps."""
    at_end, largest, changes = [], [], []
    end = system.t_span[1] if tf is None else tf
    for h in steps:
        outcome = run(system, replace(settings, h0=h), tf)
        assert system.exact is not None
        at_end.append(float(np.linalg.norm(outcome.X[:, -1] - system.exact(end))))
        largest.append(float(errors(system, outcome).max()) if system is not PENDULUM else at_end[-1])
        changes.append(len(outcome.selections) - 1)
    return Orders(tuple(steps), tuple(at_end), tuple(largest), tuple(changes))


def modern_order(name: str, method: int, steps: Sequence[float], **changes: float) -> Modern:
    """Measure the order of the same method in the modern mode.

    Error, steps and time are those of the smallest step.
    """
    problem = testset.get(name, **changes)
    assert problem.reference is not None
    found, count, seconds = [], 0, 0.0
    for h in (steps[0], *steps):  # the first is a warm-up
        start = time.process_time()
        sol = solve_dae(problem, method=METHODS[method], step=h)
        seconds = time.process_time() - start
        found.append(float(np.linalg.norm(sol.y[:, -1] - problem.reference.y)))
        count = sol.nstep
    return Modern(f"{METHODS[method]}, order {slope(steps, found[1:]):.4f}", found[-1], count, 1e3 * seconds)


def figure3() -> tuple[list[Row], dict[str, Orders]]:
    """Return the orders of methods (a) to (d) on the academic example."""
    found = {
        letter: orders(ACADEMIC, replace(SETTINGS_423, method=printed.METHODS[letter]), STEPS_ACADEMIC)
        for letter in "abcd"
    }
    rows = []
    for letter, value in printed.ORDERS_ACADEMIC.items():
        ours = found[letter].order
        same = f"{ours:.4f}" == f"{value:.4f}"
        why = "" if same else f"the last error, {found[letter].at_end[-1]:.1e}, is rounding"
        word = Verdict.SAME if same else Verdict.ROUNDING if abs(ours - value) < 0.01 else Verdict.LOST
        rows.append(
            Row(
                "Figure 3",
                f"({letter})",
                "order",
                value,
                ours,
                word,
                why,
                modern_order("academic", printed.METHODS[letter], STEPS_ACADEMIC),
                origin=Origin.PRINTED,
            )
        )
    return rows, found


def noise_band(method: int) -> tuple[float, float]:
    """Return the smallest and the largest order of a method on the selector example over the runs.

    Of NOISE.
    """
    found = [
        orders(
            SELECTOR, replace(SETTINGS_423, method=method, delta=SETTINGS_423.delta * k), STEPS_SELECTOR
        ).order
        for k in NOISE
    ]
    return min(found), max(found)


def order_verdict(value: float, ours: float, band: tuple[float, float]) -> Verdict:
    """Judge a printed order: the same in all digits, or within what rounding alone makes of ours, or lost."""
    if f"{ours:.4f}" == f"{value:.4f}":
        return Verdict.SAME
    return Verdict.ROUNDING if band[0] <= value <= band[1] else Verdict.LOST


def figure4() -> tuple[list[Row], dict[str, Orders], dict[str, Orders]]:
    """Return the orders of (a) to (d) on the selector example.

    With difference quotients and with the exact Jacobian.
    """
    noisy = {
        k: orders(SELECTOR, replace(SETTINGS_423, method=printed.METHODS[k]), STEPS_SELECTOR) for k in "abcd"
    }
    exact = {
        k: orders(SELECTOR, replace(SETTINGS_423, method=printed.METHODS[k], Jopt=1), STEPS_SELECTOR)
        for k in "abcd"
    }
    rows = []
    for letter, value in printed.ORDERS_SELECTOR.items():
        ours, clean, band = noisy[letter].order, exact[letter], noise_band(printed.METHODS[letter])
        why = (
            f"noise chooses the selectors ({noisy[letter].changes[-1]} changes): {band[0]:.2f} to"
            f" {band[1]:.2f} in {len(NOISE)} runs with delta changed by up to 20 %; with the exact Jacobian"
            f" there is {clean.changes[-1]} change, the order is {clean.order:.2f} at t_f and"
            f" {clean.order_of_largest:.2f} over the interval"
        )
        word = order_verdict(value, ours, band)
        rows.append(
            Row(
                "Figure 4",
                f"({letter})",
                "order",
                value,
                ours,
                word,
                why,
                modern_order("selector_change", printed.METHODS[letter], STEPS_SELECTOR),
                origin=Origin.PRINTED,
            )
        )
    return rows, noisy, exact


def figure9() -> tuple[list[Row], Orders]:
    """Return the order of (c) on the pendulum over one period."""
    found = orders(PENDULUM, SETTINGS_43_ORDER, STEPS_PENDULUM, tf=2.0)
    word = Verdict.SAME if f"{found.order:.4f}" == f"{printed.ORDER_PENDULUM:.4f}" else Verdict.LOST
    today = modern_order("pendulum", 3, STEPS_PENDULUM, t_end=2.0, g=PRINTED_G)
    return [
        Row(
            "Figure 9",
            "(c)",
            "order",
            printed.ORDER_PENDULUM,
            found.order,
            word,
            "",
            today,
            origin=Origin.PRINTED,
        )
    ], found


def end_points() -> tuple[list[Row], dict[tuple[str, int], Outcome]]:
    """Return the end positions of Figures 5 to 8, where the pendulum should be at (1, 0)."""
    rows, runs = [], {}
    for (letter, count), value in printed.END_POINTS.items():
        outcome = runs[letter, count] = run(
            PENDULUM, replace(SETTINGS_43_FIRST, method=printed.METHODS[letter], h0=1 / count), 1.0
        )
        x, y = outcome.X[:2, -1]
        ours = (
            f"({x + 0.0:.4f}, {y + 0.0:.4f})"
            if not outcome.failure
            else f"Newton abort at t = {outcome.t_failed:.1f}"
        )
        same = (
            bool(outcome.failure)
            if value is None
            else np.abs(outcome.X[:2, -1] - value).max() < 1e-4 and not outcome.failure
        )
        shown = "no convergence" if value is None else f"({value[0]:.4f}, {value[1]:.4f})"
        part = f"Figure {'abcd'.index(letter) + 5}"
        why = "a picture in the thesis; the value is that of the original program"
        word = Verdict.SAME if same else Verdict.LOST
        rows.append(
            Row(
                part,
                f"({letter}), h = 1/{count}",
                "(x, y) at t = 1",
                shown,
                ours,
                word,
                why,
                origin=Origin.PROGRAM,
            )
        )
    return rows, runs
