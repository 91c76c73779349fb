"""How the condition of the Newton matrix grows as h shrinks, measured on the pendulum.

Printed is O(h^-k) for index k.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from baselines.irk.families import tableau
from baselines.irk.hessenberg import System, newton_matrix
from herk.core.dae import Array
from herk.reproductions.lecture.systems import pendulum_system
from herk.reproductions.published import Origin, Row, Verdict

STEPS = tuple(2.0**-k for k in range(6, 13))
FAMILY, STAGES = "radau_iia", 2
AGREES = 0.1
WHERE = f"Radau IIA with {STAGES} stages, pendulum, h = 1/64 to 1/4096"
EXPONENT = "k of condition O(h^-k)"


@dataclass(frozen=True)
class Growth:
    """Condition numbers over the step sizes, in the 2-norm.

    All unknowns alike, those of the slides, and after equilibration.
    """

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
    variants: list[Callable[[Array, float], Array]] = [
        lambda m, _: m,
        lambda m, h: _as_on_the_slides(system, m, h),
        lambda m, _: _even(m),
    ]
    alike, slides, scaled = (
        tuple(float(np.linalg.cond(change(m, h))) for m, h in zip(matrices, STEPS, strict=True))
        for change in variants
    )
    return Growth(index, alike, slides, scaled)


def rows() -> tuple[list[Row], list[Growth]]:
    """Return the exponents for the ODE and index 1, 2 and 3, for the unknowns of the slides and for others.

    And all measurements.
    """
    found = [growth(index) for index in range(4)]
    return [row for each in found for row in (_slides_row(each), _alike_row(each))], found


def expected(index: int) -> int:
    """Return k of O(h^-k) for the unknowns k_i and z_i.

    0 = g gives rows h A g_x and g_z, of which k - 1 factors h remain in index k.
    """
    return max(index - 1, 0)


def judge(index: int, ours: float) -> Verdict:
    """Judge the printed k = index by the exponent for the unknowns of the slides.

    Right if it is k, refuted if it is what theory gives.
    """
    if abs(ours - index) <= AGREES:
        return Verdict.SAME
    return Verdict.WRONG if abs(ours - expected(index)) <= AGREES else Verdict.LOST


def _slides_row(each: Growth) -> Row:
    ours, origin = each.exponent("slides"), Origin.PRINTED if each.index else Origin.OURS
    verdict = judge(each.index, ours)
    why = f"{WHERE}; unknowns k_i and z_i, as the slides define the method"
    why += ": h^-k is a bound that is not attained (see the errata)" if verdict is Verdict.WRONG else ""
    return Row(
        "Newton matrix",
        _name(each.index),
        EXPONENT,
        each.index,
        f"{ours + 0.0:.2f}",
        verdict,
        why,
        origin=origin,
    )


def _alike_row(each: Growth) -> Row:
    ours, scaled = each.exponent("alike"), each.exponent("scaled") + 0.0
    verdict = Verdict.SAME if abs(ours - each.index) <= AGREES else Verdict.LOST
    why = (
        f"{WHERE}; unknowns are the derivatives of all components, of z too; after equilibrating rows and"
        f" columns {scaled:.2f}"
    )
    case = f"{_name(each.index)}, derivatives of z as unknowns"
    return Row(
        "Newton matrix", case, EXPONENT, each.index, f"{ours + 0.0:.2f}", verdict, why, origin=Origin.OURS
    )


def _name(index: int) -> str:
    return f"index {index}" if index else "ODE"


def _matrix(system: System, h: float) -> Array:
    A = tableau(FAMILY, STAGES).floats()[0]
    start = np.array([float(value) for value in system.start])
    return newton_matrix(system, np.tile(start, (STAGES, 1)), A, h)


def _as_on_the_slides(system: System, matrix: Array, h: float) -> Array:
    """Return the matrix for the unknowns k_i and z_i.

    Columns of algebraic unknowns multiplied by the inverse of h A.
    """
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
