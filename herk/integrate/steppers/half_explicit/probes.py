"""Stages inside a step that tell whether algebraic components are resolved and pivots far from zero."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from herk.integrate.steppers.half_explicit.tableau import Tableau


@lru_cache(maxsize=256)
def probes(tableau: Tableau) -> tuple[tuple[int, int, int], tuple[float, ...]] | None:
    """Return three stages inside the step, and weights that predict the last two from a parabola.

    It goes through start, first probe and end. Of several stages near a node the most exact one is taken, the
    last of these. None: the tableau has no two nodes inside the step.
    """
    inside = [i for i in range(1, tableau.stages) if 0.05 < tableau.c[i] < 0.95]
    if len({float(tableau.c[i]) for i in inside}) < 2:
        return None
    lag = tableau.c**2 / 2 - tableau.A @ tableau.c  # of a stage behind the solution, in h^2 y''
    defect = np.round(np.abs(lag) + np.abs(tableau.A @ lag), 6)

    def nearest(node: float, stages: list[int]) -> int:
        return max(stages, key=lambda i: (-round(abs(float(tableau.c[i]) - node), 1), -defect[i], i))

    first = nearest(0.45, inside)
    others = [i for i in inside if abs(tableau.c[i] - tableau.c[first]) > 0.05]
    a, chosen, weights = float(tableau.c[first]), [], []
    for node in (0.2, 0.75):
        chosen.append(nearest(node, others))
        b = float(tableau.c[chosen[-1]])
        weights += [b * (b - 1.0) / (a * (a - 1.0)), b * (b - a) / (1.0 - a)]
    return (first, chosen[0], chosen[1]), tuple(weights)


def steady(first: float, early: float, late: float) -> float:
    """Return the part from which on no line through two values of a pivot is beyond zero at a later one."""
    gaps = ((early, late - early), (first, late - first), (late - first, 1.0 - late))
    return max(0.5, *(1.001 / (1.0 + gap / ahead) for gap, ahead in gaps if gap > 0.0 and ahead > 0.0))
