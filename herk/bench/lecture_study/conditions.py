"""How the condition of the Newton matrix grows as h shrinks: O(h^-k) for index k, measured on the pendulum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from baselines.irk.families import tableau
from baselines.irk.hessenberg import System, newton_matrix
from herk.bench.lecture_study.systems import pendulum_system
from herk.bench.published import Row, Verdict
from herk.core.dae import Array

STEPS = tuple(2.0**-k for k in range(6, 13))
FAMILY, STAGES = "radau_iia", 2
AGREES = 0.1


@dataclass(frozen=True)
class Growth:
    """Condition numbers over the step sizes, in the 2-norm: all unknowns alike, those of the slides, and after equilibration."""

    index: int
    alike: tuple[float, ...]
    slides: tuple[float, ...]
    scaled: tuple[float, ...]

    def exponent(self, which: str) -> float:
        """Return k of O(h^-k), by least squares."""
        return float(-np.polyfit(np.log(STEPS), np.log(getattr(self, which)), 1)[0])


def growth(index: int) -> Growth:
    """Return the condition numbers at the start of the pendulum."""
    system = pendulum_system(index)
    matrices = [_matrix(system, h) for h in STEPS]
    variants: list[Callable[[Array, float], Array]] = [lambda m, _: m, lambda m, h: _as_on_the_slides(system, m, h), lambda m, _: _even(m)]
    alike, slides, scaled = (
        tuple(float(np.linalg.cond(change(m, h))) for m, h in zip(matrices, STEPS, strict=True)) for change in variants
    )
    return Growth(index, alike, slides, scaled)


def rows() -> tuple[list[Row], list[Growth]]:
    """Return the exponents for index 1, 2 and 3, and all measurements."""
    found = [growth(index) for index in range(4)]
    result = []
    for each in found:
        ours = each.exponent("alike")
        agrees = abs(ours - each.index) <= AGREES
        why = (
            f"Radau IIA with {STAGES} stages, pendulum, h = 1/64 to 1/4096; unknowns are the derivatives (or values) of all components; "
            f"with k_i and z_i as in the definition on the slides the exponent is {each.exponent('slides') + 0.0:.2f}, "
            f"after equilibrating rows and columns {each.exponent('scaled') + 0.0:.2f}"
        )
        case = "ODE" if each.index == 0 else f"index {each.index}"
        verdict = Verdict.SAME if agrees else Verdict.LOST
        result.append(Row("Newton matrix", case, "k of condition O(h^-k)", each.index, f"{ours + 0.0:.2f}", verdict, why))
    return result, found


def _matrix(system: System, h: float) -> Array:
    A = tableau(FAMILY, STAGES).floats()[0]
    start = np.array([float(value) for value in system.start])
    return newton_matrix(system, np.tile(start, (STAGES, 1)), A, h)


def _as_on_the_slides(system: System, matrix: Array, h: float) -> Array:
    """Return the matrix for the unknowns k_i and z_i: columns of algebraic unknowns multiplied by the inverse of h A."""
    inverse = np.linalg.inv(h * tableau(FAMILY, STAGES).floats()[0])
    blocks = matrix.reshape(-1, STAGES, system.n).copy()
    for place in range(system.differential, system.n):
        blocks[:, :, place] = blocks[:, :, place] @ inverse
    return blocks.reshape(matrix.shape)


def _even(matrix: Array) -> Array:
    """Return the matrix with rows and columns scaled to largest entries of 1."""
    result = matrix.copy()
    for _ in range(50):
        result /= np.sqrt(np.abs(result).max(axis=1))[:, None]
        result /= np.sqrt(np.abs(result).max(axis=0))
    return result
