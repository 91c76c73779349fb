"""What is wrong in the thesis, each claim with numbers computed here; `holds` is what the tests assert."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ellipk

from herk.reproductions.published import Erratum, close, digits_agree
from herk.reproductions.thesis import printed, selector_errata, wind_errata
from herk.reproductions.thesis.applications import ChainRun, chain_run
from herk.reproductions.thesis.equations import PRINTED_G
from herk.reproductions.thesis.slips import slips
from herk.reproductions.thesis.systems import CHAIN, DRIFTING, PENDULUM, SETTINGS_43_TABLE
from herk.reproductions.thesis.table1 import Cell, run_cell
from herk.thesis import integrate
from testset.pendulum import EXACT_G, exact

CHAIN_CHECKED = (1e-5, 1e-7, 1e-9, 1e-11)
LEAST_ENDED = 6  # of the eight runs with the printed rule: whether Newton gives up in one depends on rounding
MISPRINTS = {("4.6", 20.0, 0.7): 1.99e-7, ("4.6", 200.0, 0.7): 1.50e-4, ("4.6", 20.0, 0.9): 5.25e-7}
SCATTER = (0.8, 0.9, 1.1, 1.2)  # of delta: how much of an error is rounding
APART = 3.0  # a misprint is this many times farther from our error than the scatter of it


def _printed_error(system: str, tf: float, beta: float, eps0: float) -> float:
    value = next(cell.error for cell in printed.TABLE1 if cell[:4] == (system, tf, beta, eps0))
    assert value is not None
    return value


def misprints() -> list[Erratum]:
    """Compute the three cells again, their scatter.

    And the growth from t_f = 20 to 200 that needs no run of ours.
    """
    cells = {key: run_cell(*key, 1e-12) for key in (*MISPRINTS, ("4.6", 200.0, 0.9))}
    return [_misprint(key, right, cells) for key, right in MISPRINTS.items()]


def _misprint(
    key: tuple[str, float, float], right: float, cells: dict[tuple[str, float, float], Cell]
) -> Erratum:
    beta, cell = key[2], cells[key]
    before = _printed_error("4.6", 200.0, beta, 1e-11) / _printed_error("4.6", 20.0, beta, 1e-11)
    wrong = _printed_error("4.6", 200.0, beta, 1e-12) / _printed_error("4.6", 20.0, beta, 1e-12)
    ours = cells["4.6", 200.0, beta].error / cells["4.6", 20.0, beta].error
    others = [
        run_cell(*key, 1e-12, replace(SETTINGS_43_TABLE, delta=factor * SETTINGS_43_TABLE.delta)).error
        for factor in SCATTER
    ]
    scatter = max(abs(other / cell.error - 1) for other in others)
    assert cell.printed.error is not None
    evidence = (
        f"same {cell.steps} steps, error {cell.error:.3e}, which rounding moves by {100 * scatter:.1f} %; the"
        f" error grows from t_f = 20 to 200 by {before:.0f} at eps0 = 1e-11 (printed), by {ours:.0f} at 1e-12"
        f" (ours), by {wrong:.0f} as printed"
    )
    holds = misprinted(cell, right, scatter) and fits_better(ours, wrong, before)
    where = f"Table 1, ({key[0]}), t_f = {key[1]:g}, beta = {beta}, eps0 = 1e-12"
    return Erratum(where, f"{cell.printed.error:.2e}", f"{right:.2e}", evidence, holds)


def misprinted(cell: Cell, right: float, scatter: float) -> bool:
    """Tell whether ours has the printed steps and the right digits.

    And the printed error is farther away than rounding explains.
    """
    assert cell.printed.error is not None
    away = abs(cell.printed.error / cell.error - 1)
    return cell.steps == cell.printed.steps and digits_agree(cell.error, right, 3) and away > APART * scatter


def fits_better(ours: float, wrong: float, before: float) -> bool:
    """Tell whether our growth of the error is within 5 % of that one eps0 before.

    And the printed one is farther from it than ours.
    """
    return abs(ours / before - 1) < 0.05 and abs(wrong / before - 1) > APART * abs(ours / before - 1)


def gravity() -> Erratum:
    """Compare the printed g with that of a 2 s period, and find the error this alone makes in 10 periods."""
    right = (2 * float(ellipk(0.5))) ** 2
    floor = float(np.linalg.norm(exact(20.0, 1.0, 1.0, PRINTED_G) - PENDULUM.x0))
    cell = run_cell("4.5", 20.0, 0.7, 1e-12)
    evidence = (
        f"(2 K)^2 = {right:.15f}, relative difference {PRINTED_G / right - 1:.1e}; "
        f"the exact solution for the printed g is {floor:.2e} off after "
        f"20 s, and the cell (4.5), 20, 0.7, 1e-12 stands at {cell.error:.2e}"
    )
    holds = (
        close(right, EXACT_G, 1e-15)
        and 1e-8 < floor < 2e-8
        and 0.5 < cell.error / floor < 2
        and 5e-11 < PRINTED_G / right - 1 < 2e-10
    )
    return Erratum("Section 4.3, g", repr(PRINTED_G), f"{right:.14f}", evidence, holds)


def stopping(curve: Sequence[ChainRun] | None = None) -> Erratum:
    """Replace only the stopping rule of Newton on the chain.

    Whose constraints are affine with a constant Jacobian.
    """
    runs = curve or [chain_run(e, N, stop) for e in CHAIN_CHECKED for N in (0, 1) for stop in (False, True)]
    found = {(each.eps0, each.Nopt, each.max_norm): each for each in runs}
    g = CHAIN.dae.g
    assert g is not None
    a, b = np.arange(1.0, 8.0), np.array([3.0, -1, 4, 1, -5, 9, 2])
    bent = float(
        np.abs(
            np.asarray(g(0.3, a + b))
            - np.asarray(g(0.3, a))
            - np.asarray(g(0.3, b))
            + np.asarray(g(0.3, 0 * a))
        ).max()
    )
    told, ended, holds = [], 0, bent < 1e-14
    for eps0 in CHAIN_CHECKED:
        old, new = [found[eps0, N, False] for N in (0, 1)], [found[eps0, N, True] for N in (0, 1)]
        told.append(f"{eps0:.0e}: {_steps(old[0])}/{_steps(old[1])} -> {_steps(new[0])}/{_steps(new[1])}")
        longer = [each.steps for each in old if not each.message]
        ended += len(longer)
        most = max(each.steps for each in new)
        alike = not any(each.message for each in new) and close(new[1].steps, new[0].steps, 0.05)
        holds = holds and alike and all(steps > most for steps in longer)
    holds = holds and ended >= LEAST_ENDED
    evidence = (
        f"g is affine (second difference {bent:.0e}), so both Newton variants are the same; "
        f"steps Nopt 0/1 with |sum g_i| -> max |g_i|: {'; '.join(told)}"
    )
    return Erratum(
        "Section 4.5, Figure 15",
        "the ageing Jacobian costs steps",
        "the stopping rule |g_1 + ... + g_m| < tol does",
        evidence,
        holds,
    )


def _steps(run: ChainRun) -> str:
    return "abort" if run.message else str(run.steps)


def coarse() -> Erratum:
    """Keep the value of the half steps instead of the coarse one: same steps, smaller error."""
    told, holds = [], True
    for eps0 in (1e-5, 1e-7, 1e-9):
        kept = run_cell("4.5", 20.0, 0.7, eps0)
        fine = run_cell("4.5", 20.0, 0.7, eps0, replace(SETTINGS_43_TABLE, keep_fine=True))
        told.append(
            f"{eps0:.0e}: {kept.error:.1e} -> {fine.error:.1e} with {kept.steps} -> {fine.steps} steps"
        )
        holds = holds and fine.error < kept.error / 10 and close(fine.steps, kept.steps, 0.02)
    return Erratum(
        "Section 4.1.5, step 4 (a)",
        '"accept current step"',
        "the coarse value is kept; the fine one costs nothing",
        "; ".join(told),
        holds,
    )


def failures(cells: Sequence[Cell] = ()) -> Erratum:
    """Show that the empty cells of Table 1 come from the difference quotient, not from the method."""
    run = integrate(DRIFTING.dae, 0.0, 200.0, DRIFTING.x0, replace(SETTINGS_43_TABLE, beta=0.7, eps0=1e-6))
    shrunk = float(run.X[0, -1] ** 2 + run.X[1, -1] ** 2)
    better = run_cell("4.6", 200.0, 0.7, 1e-6, replace(SETTINGS_43_TABLE, delta=1e-8))
    edge = run_cell("4.6", 200.0, 0.9, 1e-6, replace(SETTINGS_43_TABLE, delta=1e-8))
    lam, squared = 20.0, 0.66
    slope = (2 * squared * (lam + 1e-14) - 2 * squared * lam) / 1e-14
    aborted = [cell for cell in cells if cell.printed.error is None]
    evidence = (
        f"(4.6), 200, 0.7, 1e-6 aborts at t = {run.T[-1]:.1f} with x^2 + y^2 = {shrunk:.4f}, just below 2/3; "
        f"with delta = 1e-8 it ends ({better.steps} steps), "
        f"and so does 200, 0.9, 1e-6 ({edge.steps} steps, error {edge.error:.2e}; printed 7279, 1.97e+01); "
        "the quotient for 2 (x^2 + y^2) = 1.32 at "
        f"lambda = 20 is {slope:.2f}" + (f"; {len(aborted)} empty cells, all aborted" if aborted else "")
    )
    holds = (
        run.failure == -1
        and 0.6 < shrunk < 2 / 3 + 1e-3
        and not better.newton_abort
        and not edge.newton_abort
        and close(edge.steps, 7279, 0.005)
    )
    return Erratum(
        "Table 1, empty cells",
        '"failed to converge"',
        "a difference quotient with delta = 1e-14 at lambda >= 16",
        evidence,
        holds and all(c.newton_abort for c in aborted),
    )


def every_erratum(cells: Sequence[Cell] = (), curve: Sequence[ChainRun] | None = None) -> list[Erratum]:
    """Compute every claim."""
    parts: list[Callable[[], list[Erratum]]] = [
        misprints,
        lambda: [gravity()],
        wind_errata.found,
        lambda: [stopping(curve)],
        selector_errata.found,
        lambda: [coarse()],
        lambda: [failures(cells)],
        slips,
    ]
    return [each for part in parts for each in part()]
