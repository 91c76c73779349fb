"""What is wrong in the paper, each claim with numbers computed here; `holds` is what the tests assert."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from baselines.second_order.assumptions import exact_gauss, printed_twin_d, twin_d, vanishes
from baselines.second_order.march import march
from baselines.second_order.tables import METHODS, RADAU, direct_collocation
from baselines.second_order.weights import after_exact_start, determinant
from herk.reproductions.published import Erratum
from herk.reproductions.second_order import circle
from herk.reproductions.second_order.circle import Curve
from herk.reproductions.second_order.raised import Raised


def every_erratum(curves: list[Curve], ways: list[Raised], indices: dict[str, int]) -> list[Erratum]:
    """Return all of them, in the order of the paper."""
    return [
        index(ways, indices),
        singular_system(),
        degree(),
        twin_assumption(),
        rescaling(),
        solution(),
        twins_of_radau(curves),
    ]


def index(ways: list[Raised], found: dict[str, int]) -> Erratum:
    """Show that Example 1.2 counts derivatives, not the index it defines."""
    direct, _, full = ways
    both = found["system (2)"], found["system (4)"]
    evidence = (
        f"f2 disturbed by eps sin(omega t) moves x2 by eps omega^{both[0] - 1} and v2 by eps"
        f" omega^{both[1] - 1}, as herk.regularize solves both systems; Definition 1.1 has derivatives up to"
        f" m - 1. The indices by differentiation are {direct.index} and {full.index} too"
    )
    holds = both == (direct.index, full.index) == (3, 4)
    return Erratum("Example 1.2", "perturbation index 2, raised to 3", "3, raised to 4", evidence, holds)


def singular_system() -> Erratum:
    """Show that (17) need not have a solution."""
    singular = [
        (k, step)
        for k in range(1, 7)
        for step in range(1, 2 * k + 2)
        if determinant(after_exact_start(k, step)) == 0
    ]
    evidence = (
        "order k from k exact values with equal steps, k = 1 to 6, exact arithmetic: det A = 0 for (k, step)"
        f" = {singular}, else not"
    )
    return Erratum(
        "(17), Algorithm of 2.1",
        "alpha = A \\ b",
        "A can be singular; the step must then be changed",
        evidence,
        singular == [(5, 3)],
    )


def degree() -> Erratum:
    """Show that (25) and (26) cannot both hold.

    And that (28f), which follows from (26), is the one to use.
    """
    (A2, b2), squared, c = direct_collocation(RADAU.c), RADAU.A2, RADAU.c
    exact = [
        all(
            sum(a * n for a, n in zip(row, c, strict=True)) == end**3 / 6
            for row, end in zip(M, c, strict=True)
        )
        for M in (A2, squared)
    ]
    direct = replace(METHODS["radau"], A=[A2, RADAU.A], B=[b2, RADAU.b])
    run = march(circle.system("second_order"), direct, circle.constant_grid())
    error = float(np.abs(run.z - circle.reference(run.t))[:, -1].max())
    evidence = (
        f"s + 2 conditions; Radau IIA: collocation of degree s + 1 has A~ = {_text(A2)}, exact for y'' = t,"
        f" the printed A A = {_text(squared)} is not: (26) takes w' for degree s - 1. On (62) true"
        f" collocation is unstable (error of λ {error:.0e})"
    )
    return Erratum(
        "(25), (26)",
        "polynomial w of degree s",
        "degree s + 1, and then A~ is not A A",
        evidence,
        exact == [True, False] and error > 1,
    )


def _text(matrix: list[list[object]]) -> str:
    return "[" + "; ".join(" ".join(map(str, row)) for row in matrix) + "]"


def twin_assumption() -> Erratum:
    """Show that D~ as printed does not hold for the Gauss method, and does with c_j and a bracket."""
    gauss = exact_gauss()
    left = [sum(b * row[j] for b, row in zip(gauss.b, gauss.A2, strict=True)) for j in range(2)]
    holds, printed = (
        all(vanishes(left[j] - right(gauss.b[j], gauss.c[j], 1)) for j in range(2))
        for right in (twin_d, printed_twin_d)
    )
    outcome = {True: "holds", False: "fails"}
    evidence = (
        f"Gauss, k = 1, exact arithmetic: with the bracket D~ {outcome[holds]}, as printed it"
        f" {outcome[printed]}"
    )
    return Erratum(
        "D~, Section 2.2",
        "b_j c_i^(k+1)/(k(k+1)) - c_i/k + 1/(k+1)",
        "b_j (c_j^(k+1)/(k(k+1)) - c_j/k + 1/(k+1))",
        evidence,
        holds and not printed,
    )


def rescaling() -> Erratum:
    """Show that the last exponent of D must be p, on method (65) with changing steps."""
    grid, made = circle.variable_grid(), circle.system("index3")
    right, printed = (
        float(
            np.abs(
                march(made, METHODS["glm_first"], grid, powers=np.array(powers)).z - circle.reference(grid)
            )[:, :2].max()
        )
        for powers in ((0, 1, 2), (0, 1, 3))
    )
    evidence = (
        f"(65) on system (64) with changing steps: largest error of y {right:.1e} with d^p, {printed:.1e}"
        " with d^(p+1)"
    )
    return Erratum(
        "(55), (57), (58)", "Nordsieck vectors up to h^(p+1) y^(p+1), D = diag(1, d, ..., d^(p-1), d^(p+1))",
        "up to h^p y^(p) as in (44), D = diag(1, d, ..., d^p)", evidence, printed > 10 * right,
    )  # fmt: skip


def solution() -> Erratum:
    """Show that (sin t, cos t), whose start (63) is, does not solve (62).

    And does with y2^2 in place of y2'^2.
    """
    t = np.linspace(0.1, 1.0, 10)
    s, c = np.sin(t), np.cos(t)

    def gap(square: np.ndarray) -> float:
        """Return the part of y'' - F that no multiplier can balance, tangential to the circle."""
        left1, left2 = -s - (-s + 2 * s * c * s), -c - (-c + 2 * s * square)
        return float(np.abs(left1 * c - left2 * s).max())

    printed, changed = gap(s**2), gap(c**2)
    off = float(np.abs(circle.reference(np.array([0.0, circle.END]))[-1, 0] - np.sin(circle.END)))
    evidence = (
        f"tangential residual of (sin t, cos t) on [0.1, 1]: {printed:.2f} as printed, {changed:.0e} with"
        f" y2^2; the solution of (62), from the polar form, differs from sin t by {off:.1e} at t = 0.1."
        " Errors here are against the polar form"
    )
    return Erratum(
        "(62)",
        "-y1' + 2 y1 y2'^2",
        "-y1' + 2 y1 y2^2, if the motion is to be (sin t, cos t)",
        evidence,
        printed > 0.1 and changed < 1e-15,
    )


def twins_of_radau(curves: list[Curve]) -> Erratum:
    """Show that both Radau methods of Figure 4 are one.

    And that only an unfinished Newton iteration tells them apart.
    """
    second, first = circle.pair(curves, 4)
    apart = float(np.abs(second.z[:, :4] - first.z[:, :4]).max())
    early = circle.one_iteration(True), circle.one_iteration(False)
    evidence = (
        f"A~ = A A makes both the same method: y and y' differ by {apart:.0e}, largest errors of λ are"
        f" {second.largest[-1]:.4e} and {first.largest[-1]:.4e}. After one Newton iteration from zero they"
        f" are {early[0]:.1e} and {early[1]:.1e}"
    )
    return Erratum(
        "Figure 4",
        "the method for second order is much more accurate",
        "both are the same method; Newton's start is better",
        evidence,
        apart < 1e-11 and early[1] > 1000 * early[0],
    )
