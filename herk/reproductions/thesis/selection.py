"""Chapter 3 on its own terms.

Procedure 3.11 as printed, Criterion 3.6, Lemma 3.17, on the systems of the thesis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from herk.core.dae import Array
from herk.model.evaluate import linearise
from herk.reproductions.thesis.examples import selected
from herk.reproductions.thesis.experiments import run
from herk.reproductions.thesis.systems import (
    ACADEMIC,
    AKZO,
    CHAIN,
    CIRCUIT,
    PENDULUM,
    SELECTOR,
    SETTINGS_43_ORDER,
    SETTINGS_44,
    SETTINGS_46,
    SETTINGS_47,
    SETTINGS_423,
    WIND_CORRECTED,
    System,
)
from herk.thesis import Settings

MOST_POINTS = 100  # of a run that are looked at
RANK_TOLERANCE = 1e-9
EXAMPLES: tuple[tuple[System, Settings, float], ...] = (
    (ACADEMIC, SETTINGS_423, 1.0),
    (SELECTOR, SETTINGS_423, 1.0),
    (PENDULUM, SETTINGS_43_ORDER, 2.0),
    (WIND_CORRECTED, SETTINGS_44, 10.0),
    (CHAIN, SETTINGS_44, 10.0),
    (CIRCUIT, SETTINGS_46, 1.0),
    (AKZO, SETTINGS_47, 180.0),
)


def procedure(jacobian: Array, required: Sequence[int]) -> tuple[int, ...]:
    """Return the algebraic components by Procedure 3.11 as printed, but for the slip in step 3.

    Columns are named by their components.
    """
    a, (m, n), names = jacobian.astype(float).copy(), jacobian.shape, list(range(jacobian.shape[1]))
    for i in range(m):
        wanted = (
            [k for k in range(i, n) if names[k] in required] if i < len(required) else range(i, n)
        )  # steps 1 and 6
        j, k = max(((j, k) for k in wanted for j in range(i, m)), key=lambda place: abs(a[place]))
        a[[i, j]] = a[[j, i]]  # step 2
        a[:, [i, k]] = a[:, [k, i]]
        names[i], names[k] = names[k], names[i]
        if a[i, i] != 0:  # steps 3 to 5
            a[i + 1 :] -= np.outer(a[i + 1 :, i] / a[i, i], a[i])
    return tuple(names[:m])


@dataclass(frozen=True)
class Fulfilled:
    """Criterion 3.6 at a point, number by number; the second as it must be meant, and as it is printed."""

    differential_rank: bool
    determined: bool
    unique: bool
    regular: bool
    partition: bool

    @property
    def all(self) -> bool:
        """Tell whether the criterion holds, the second number as meant."""
        return self.differential_rank and self.determined and self.regular and self.partition


def criterion(E: Array, jacobian: Array, algebraic: Sequence[int]) -> Fulfilled:
    """Judge a selection at a point where E x' = f has solutions."""
    (m, n), columns = jacobian.shape, list(algebraic)
    differential = [k for k in range(n) if k not in algebraic]
    _, sizes, right = np.linalg.svd(E)
    free = right[sizes <= RANK_TOLERANCE * sizes.max()]  # the directions in which x' is not determined
    return Fulfilled(
        differential_rank=rank(E[:, differential]) == n - m,
        determined=bool(np.abs(free[:, differential]).max(initial=0.0) < RANK_TOLERANCE),
        unique=rank(E) == n,
        regular=rank(jacobian[:, columns]) == m,
        partition=sorted((*algebraic, *differential)) == list(range(n)) and len(set(algebraic)) == m,
    )


def strangeness_free(E: Array, jacobian: Array, algebraic: Sequence[int]) -> bool:
    """Tell whether the rows of E named by the differential components, together with dg/dx, have rank n.

    Lemma 3.17.
    """
    differential = [k for k in range(E.shape[0]) if k not in algebraic]
    return rank(np.vstack([E[differential], jacobian])) == E.shape[0]


def rank(matrix: Array) -> int:
    """Return the rank, up to rounding of the largest entry."""
    return (
        int(np.linalg.matrix_rank(matrix, tol=RANK_TOLERANCE * max(np.abs(matrix).max(initial=0.0), 1.0)))
        if matrix.size
        else 0
    )


@dataclass(frozen=True)
class Visited:
    """What holds along a run, at how many of its points.

    `required` of the m algebraic components are required.
    """

    name: str
    required: int
    m: int
    points: int
    agree: int
    fulfilled: int
    unique: int
    free: int


def visit(system: System, settings: Settings, t_end: float) -> Visited:
    """Select by the program's pivoting and by the printed procedure along a run, and judge both."""
    outcome = run(system, settings, t_end)
    places = np.unique(np.linspace(0, len(outcome.T) - 1, MOST_POINTS).astype(int))
    counts = np.zeros(4, dtype=int)
    required: tuple[int, ...] = ()
    for k in places:
        at = linearise(system.dae, float(outcome.T[k]), outcome.X[:, k])
        required = tuple(int(j) for j in np.flatnonzero(~np.abs(at.E).any(axis=0)))
        ours, printed = selected(at.jac, required), procedure(at.jac, required)
        met = criterion(at.E, at.jac, printed)
        both = met.all and criterion(at.E, at.jac, ours).all
        counts += [set(ours) == set(printed), both, met.unique, strangeness_free(at.E, at.jac, printed)]
    return Visited(system.name, len(required), system.dae.m, len(places), *map(int, counts))
