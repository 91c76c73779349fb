"""Orders measured with constant steps in decimals, beside the printed ones.

The rule, fixed before any order was measured: T = 1, h = 1/8, 1/16, ..., 1/128; error = largest error over
all mesh points and all components of a group; order = slope of the least-squares line of log error over log
h; it agrees with a printed order if it differs by at most 0.2. Every method runs on two problems. Decided
after a first look: the smaller slope counts, since an order is a promise for all problems (the pendulum does
better than theory in some rows); and where a run ends early, because Newton's method finds no solution of the
stage equations, the other problem counts and the row says so. No run is near rounding: 50 digits are carried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from baselines.irk.families import tableau
from baselines.irk.hessenberg import march
from herk.reproductions.lecture import printed, theory
from herk.reproductions.lecture.systems import OWN, PENDULUM, T_END, Case
from herk.reproductions.published import Origin, Row, Verdict

STEPS, QUICK_STEPS = (8, 16, 32, 64, 128), (8, 16, 32, 64)
AGREES = 0.2

Key = tuple[int, str, int]  # index, family, stages


@dataclass(frozen=True)
class Slopes:
    """Errors of one method on one problem over the step sizes; None where a run ended early."""

    steps: tuple[int, ...]
    errors: Mapping[str, tuple[float, ...]] | None

    def order(self, group: str) -> float | None:
        """Return the fitted order of a group."""
        if self.errors is None:
            return None
        return float(-np.polyfit(np.log(self.steps), np.log(self.errors[group]), 1)[0])


@dataclass(frozen=True)
class Measured:
    """One method on both problems."""

    own: Slopes
    pendulum: Slopes

    def order(self, group: str) -> float | None:
        """Return the smaller slope."""
        found = [slope for slope in (self.own.order(group), self.pendulum.order(group)) if slope is not None]
        return min(found, default=None)


def slopes(case: Case, family: str, stages: int, steps: Sequence[int]) -> Slopes:
    """Run one method on one problem with all step sizes."""
    method, found = tableau(family, stages), []
    for count in steps:
        points = march(case.system, method, T_END, count)
        if len(points) <= count:
            return Slopes(tuple(steps), None)
        found.append(case.errors(points))
    return Slopes(
        tuple(steps), {group: tuple(errors[group] for errors in found) for group in case.system.groups}
    )


def measure(quick: bool, say: Callable[[str], None]) -> dict[Key, Measured]:
    """Run every family, stage number and index on both problems."""
    steps, stage_counts, found = (
        QUICK_STEPS if quick else STEPS,
        printed.STAGES[:2] if quick else printed.STAGES,
        {},
    )
    for index in printed.COMPONENTS:
        say(f"orders, {'ODE' if index == 0 else f'index {index}'}")
        for family in printed.FAMILIES:
            for s in stage_counts:
                pair = (slopes(cases[index], family, s, steps) for cases in (OWN, PENDULUM))
                found[index, family, s] = Measured(*pair)
    return found


def rows(found: Mapping[Key, Measured]) -> list[Row]:
    """Return a row for every family, stage number, index and component."""
    result = []
    for (index, family, s), measured in found.items():
        part = "Orders, index 3" if index == 3 else "Orders, ODE and index 1 and 2"
        case = f"{'ODE' if index == 0 else f'index {index}'}, {printed.FAMILIES[family]}, n_s = {s}"
        for group in printed.COMPONENTS[index]:
            value = printed.order(family, s, index, group)
            expected, ours = theory.order(family, s, index, group), measured.order(group)
            why = "; ".join(
                filter(None, (_slopes_text(measured, group), theory.reason(family, s, index, group)))
            )
            shown = value if value is not None else f"not printed (expected {expected})"
            text = "no solution" if ours is None else f"{ours + 0.0:.2f}"
            origin = Origin.OURS if value is None else Origin.PRINTED
            result.append(
                Row(
                    part,
                    case,
                    f"order of {group}",
                    shown,
                    text,
                    _verdict(value, expected, ours),
                    why,
                    origin=origin,
                )
            )
    return result


def _verdict(value: int | None, expected: int, ours: float | None) -> Verdict:
    if ours is None or abs(ours - expected) > AGREES:
        return Verdict.LOST
    return Verdict.SAME if value in (None, expected) else Verdict.WRONG


def _slopes_text(measured: Measured, group: str) -> str:
    texts = (
        "breaks down" if slope is None else f"{slope + 0.0:.2f}"
        for slope in (measured.own.order(group), measured.pendulum.order(group))
    )
    return "own system {}, pendulum {}".format(*texts)
