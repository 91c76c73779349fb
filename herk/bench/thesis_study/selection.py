"""Chapter 3 on its own terms.

Procedure 3.11 as printed, Criterion 3.6, Lemma 3.17, on the systems of the thesis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from herk.bench.published import Erratum, Origin, Row, Verdict
from herk.bench.thesis_study.examples import NAMES, PASSING, START, pendulum_jacobian, selected
from herk.bench.thesis_study.figures import run
from herk.bench.thesis_study.systems import (
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
from herk.core.dae import Array
from herk.model.evaluate import linearise
from herk.thesis import Settings

DIFFERENT = (
    "with two and more of both the order of the required ones may matter: both selections must fulfil"
    " Criterion 3.6"
)
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
_PENDULUM_E = np.diag([1.0, 1.0, 1.0, 1.0, 0.0])


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
        differential_rank=_rank(E[:, differential]) == n - m,
        determined=bool(np.abs(free[:, differential]).max(initial=0.0) < RANK_TOLERANCE),
        unique=_rank(E) == n,
        regular=_rank(jacobian[:, columns]) == m,
        partition=sorted((*algebraic, *differential)) == list(range(n)) and len(set(algebraic)) == m,
    )


def strangeness_free(E: Array, jacobian: Array, algebraic: Sequence[int]) -> bool:
    """Tell whether the rows of E named by the differential components, together with dg/dx, have rank n.

    Lemma 3.17.
    """
    differential = [k for k in range(E.shape[0]) if k not in algebraic]
    return _rank(np.vstack([E[differential], jacobian])) == E.shape[0]


def _rank(matrix: Array) -> int:
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


def example_rows() -> list[Row]:
    """Return the worked examples by the procedure as printed, and what Criterion 3.6 says about them."""
    start, passing, third = (
        pendulum_jacobian(START),
        pendulum_jacobian(PASSING),
        np.array([[2.0, 1.0, 0.0], [1.0, 0.5, 1.0]]),
    )
    made = []
    for part, case, jacobian, required, wanted in (
        ("Example 2.13", "Procedure 3.11", start, (4,), {"lam", "w", "y"}),
        ("Example 2.13", "Procedure 3.11, passing", passing, (4,), {"lam", "x", "y"}),
        ("Example 3.13", "Procedure 3.11", third, (2,), {"x3", "x1"}),
    ):
        names = NAMES if jacobian.shape[1] == 5 else ("x1", "x2", "x3")
        ours = {names[j] for j in procedure(jacobian, required)}
        shown, text = ", ".join(sorted(wanted)), ", ".join(sorted(ours))
        verdict = Verdict.SAME if ours == wanted else Verdict.LOST
        made.append(
            Row(
                part,
                f"{case} as printed",
                "algebraic components",
                shown,
                text,
                verdict,
                origin=Origin.PRINTED,
            )
        )
    complete = criterion(_PENDULUM_E, start, selected(start, ()))
    fits = complete.regular and not complete.differential_rank
    text = (
        f"R regular: {_yes(complete.regular)}, rank of the columns of E is n - m:"
        f" {_yes(complete.differential_rank)}"
    )
    verdict = Verdict.SAME if fits else Verdict.LOST
    printed = "R regular, rank lower than n - m"
    made.append(
        Row(
            "Criterion 3.6",
            "Example 2.13, complete pivoting",
            "numbers 3 and 1",
            printed,
            text,
            verdict,
            origin=Origin.SAID,
        )
    )
    return made


def run_rows(visited: Sequence[Visited]) -> list[Row]:
    """Return Criterion 3.6, Lemma 3.17 and the two ways of pivoting along runs of the systems.

    Of Chapter 4.
    """
    return [row for each in visited for row in _rows_of(each)]


def _rows_of(each: Visited) -> list[Row]:
    all_of_them = f"{each.points} of {each.points}"
    shown = [f"{number} of {each.points}" for number in (each.fulfilled, each.free, each.agree)]
    words = [
        Verdict.SAME if number == each.points else Verdict.LOST
        for number in (each.fulfilled, each.free, each.agree)
    ]
    criterion_why = "number 2 read as: E x' = f determines the derivatives of the differential components"
    alone = each.required <= 1 or each.m - each.required <= 1
    why = f"{each.required} of {each.m} required: " + (
        "one required column, or one row left for the others, so the order of the required ones does not"
        " matter"
        if alone
        else DIFFERENT
    )
    pivots = words[2] if alone else words[0]
    return [
        Row(
            "Criterion 3.6",
            each.name,
            "points where it holds",
            "holds",
            shown[0],
            words[0],
            criterion_why,
            origin=Origin.SAID,
        ),
        Row(
            "Lemma 3.17",
            each.name,
            "points with rank n",
            "strangeness-free",
            shown[1],
            words[1],
            origin=Origin.SAID,
        ),
        Row(
            "Procedure 3.11",
            each.name,
            "points with the program's components",
            all_of_them,
            shown[2],
            pivots,
            why,
            origin=Origin.OURS,
        ),
    ]


def _list(places: Sequence[int]) -> str:
    return ", ".join(f"x{k + 1}" for k in places)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def errata(visited: Sequence[Visited]) -> list[Erratum]:
    """Show what is wrong in Criterion 3.6 and in Lemma 3.17."""
    never = [each.name for each in visited if each.required and each.unique == 0]
    singular = [each.name for each in visited if each.required]
    E, jacobian = (
        np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    )
    algebraic = procedure(jacobian, (2,))
    two = np.array(
        [[0, 0, -1, 1, 6, -2], [-2, 0, -1, 0, 4, 2], [1, 2, 3, -4, 4, -1], [-4, 1, 0, 2, -5, 3]], dtype=float
    )
    by_print, by_program = procedure(two, (4, 5)), selected(two, (4, 5))
    regular = all(_rank(two[:, list(chosen)]) == 4 for chosen in (by_print, by_program))
    rank = _rank(np.vstack([E[[k for k in range(3) if k not in algebraic]], jacobian]))
    met = criterion(E, jacobian, algebraic).all
    return [
        Erratum(
            "Criterion 3.6, number 2",
            "E x' = f has a unique solution",
            "it determines the derivatives of the differential components",
            "E has zero columns, so those components of x' are free: at no point is E regular for"
            f" {', '.join(never)}",
            bool(never) and never == singular,
        ),
        Erratum(
            "Lemma 3.17",
            "the component selector applied to E x' - f selects the rows",
            "rows must be chosen by a selector of their own, so that the chosen rows of E have rank n - m on"
            " the differential columns",
            f"E = [0 1 0; 1 0 0; 0 0 0], g = (x2, x3): Criterion 3.6 holds ({_yes(met)}), x1 is differential,"
            f" row 1 of E is x2', and the rank is {rank} of 3",
            met and set(algebraic) == {1, 2} and rank == 2,
        ),
        Erratum(
            "Procedure 3.11, steps 1 and 2, and the program",
            "the largest entry of the required columns is the pivot",
            "the program takes required columns by descending index; no system of the thesis shows the"
            " difference",
            f"4 x 6 matrix with x5 and x6 required: the procedure selects {_list(by_print)}, the program"
            f" {_list(by_program)}, both regular",
            set(by_print) != set(by_program) and regular and {4, 5} <= set(by_print) & set(by_program),
        ),
    ]
