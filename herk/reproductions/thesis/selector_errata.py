"""What is wrong in Section 4.2.4, the problem with changing selectors: its orders and an entry of (4.4)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from herk.reproductions.published import Erratum
from herk.reproductions.thesis import experiments, printed
from herk.reproductions.thesis.equations import selector_jac
from herk.reproductions.thesis.systems import QUARTER, SELECTOR, SETTINGS_423, selector_exact


def found() -> list[Erratum]:
    """Measure orders with clean selectors at the end of the symmetric interval, over it.

    And at the end of another one.
    """
    made = []
    for letter, wrong, right in (("a", 2.0, 1.0), ("c", 4.0, 3.0)):
        settings = replace(SETTINGS_423, method=printed.METHODS[letter], Jopt=1)
        clean = experiments.orders(SELECTOR, settings, experiments.STEPS_SELECTOR)
        noisy = experiments.orders(SELECTOR, replace(settings, Jopt=0), experiments.STEPS_SELECTOR)
        lopsided = experiments.orders(SELECTOR, settings, experiments.STEPS_SELECTOR, tf=0.325 * math.pi)
        evidence = (
            f"exact Jacobian: order {clean.order:.2f} at t_f, {clean.order_of_largest:.2f} over the interval,"
            f" {lopsided.order:.2f} at the end of [pi/8, 0.325 pi]; changes of the selectors for the three"
            f" steps: {clean.changes} exact, {noisy.changes} with delta = 1e-15"
        )
        near = (
            abs(clean.order - wrong) < 0.1
            and abs(clean.order_of_largest - right) < 0.1
            and abs(lopsided.order - right) < 0.1
        )
        holds = near and clean.changes == (1, 1, 1) and noisy.changes[-1] > 10
        made.append(
            Erratum(
                f"Section 4.2.4, method ({letter})",
                f"p = {printed.ORDERS_SELECTOR[letter]} shows order {right:g}, one selector change",
                "the interval is symmetric: odd orders cancel at t_f, noise hides it",
                evidence,
                holds,
            )
        )
    return [*made, _entry()]


def _entry() -> Erratum:
    """Evaluate the derivative of the second constraint by y on the solution.

    As the program has it (doubled).
    """
    times = np.linspace(*QUARTER, 9)
    values = []
    for t in times:
        out = np.empty(6)
        selector_jac(float(t), selector_exact(float(t)), np.zeros(1), out)
        values.append(out[4] / 2)
    largest, printed_one = float(np.abs(values).max()), float(np.abs(np.sin(times) - np.cos(times)).max())
    evidence = (
        f"on the solution the derivative is at most {largest:.0e}, sin t - cos t is up to {printed_one:.2f}"
    )
    return Erratum(
        "Equation (4.4), entry (2,2)", "sin t - cos t", "0", evidence, largest < 1e-15 and printed_one > 0.1
    )
