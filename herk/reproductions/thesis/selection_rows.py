"""What Chapter 3 says about selections, as rows and errata.

Procedure 3.11 as printed, Criterion 3.6 and Lemma 3.17, on the systems of the thesis.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from herk.core.dae import Array
from herk.reproductions.published import Erratum, Origin, Row, Verdict
from herk.reproductions.thesis.examples import NAMES, PASSING, START, pendulum_jacobian, selected
from herk.reproductions.thesis.selection import Visited, criterion, procedure, rank

DIFFERENT = (
    "with two and more of both the order of the required ones may matter: both selections must fulfil"
    " Criterion 3.6"
)
ALONE = (
    "one required column, or one row left for the others, so the order of the required ones does not matter"
)
PENDULUM_E = np.diag([1.0, 1.0, 1.0, 1.0, 0.0])


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
    return [*made, _complete_row(start)]


def _complete_row(start: Array) -> Row:
    """Return what Criterion 3.6 says about complete pivoting, which knows of no required components."""
    complete = criterion(PENDULUM_E, start, selected(start, ()))
    fits = complete.regular and not complete.differential_rank
    text = (
        f"R regular: {_yes(complete.regular)}, rank of the columns of E is n - m:"
        f" {_yes(complete.differential_rank)}"
    )
    verdict = Verdict.SAME if fits else Verdict.LOST
    printed = "R regular, rank lower than n - m"
    return Row(
        "Criterion 3.6",
        "Example 2.13, complete pivoting",
        "numbers 3 and 1",
        printed,
        text,
        verdict,
        origin=Origin.SAID,
    )


def run_rows(visited: Sequence[Visited]) -> list[Row]:
    """Return Criterion 3.6, Lemma 3.17 and the two ways of pivoting along runs of the systems.

    Of Chapter 4.
    """
    return [row for each in visited for row in _rows_of(each)]


def _rows_of(each: Visited) -> list[Row]:
    """Return what was found along one run."""
    held, free, agree = (
        (f"{number} of {each.points}", Verdict.SAME if number == each.points else Verdict.LOST)
        for number in (each.fulfilled, each.free, each.agree)
    )
    read = "number 2 read as: E x' = f determines the derivatives of the differential components"
    alone = each.required <= 1 or each.m - each.required <= 1
    why = f"{each.required} of {each.m} required: {ALONE if alone else DIFFERENT}"
    pivots, everywhere = agree[1] if alone else held[1], f"{each.points} of {each.points}"
    said, ours = {"origin": Origin.SAID}, {"origin": Origin.OURS}
    same = "points with the program's components"
    return [
        Row("Criterion 3.6", each.name, "points where it holds", "holds", *held, read, **said),
        Row("Lemma 3.17", each.name, "points with rank n", "strangeness-free", *free, **said),
        Row("Procedure 3.11", each.name, same, everywhere, agree[0], pivots, why, **ours),
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
    regular = all(rank(two[:, list(chosen)]) == 4 for chosen in (by_print, by_program))
    full = rank(np.vstack([E[[k for k in range(3) if k not in algebraic]], jacobian]))
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
            f" row 1 of E is x2', and the rank is {full} of 3",
            met and set(algebraic) == {1, 2} and full == 2,
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
