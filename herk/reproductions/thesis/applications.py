"""The experiments behind Figures 11 to 20: the crane pendulum, the chain, the circuit and Akzo Nobel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

import testset
from herk.reproductions.published import Modern, Origin, Row, Verdict, close
from herk.reproductions.thesis import printed
from herk.reproductions.thesis.experiments import errors, run
from herk.reproductions.thesis.modern import modern
from herk.reproductions.thesis.systems import (
    AKZO,
    AKZO_END,
    CHAIN,
    CIRCUIT,
    SETTINGS_44,
    SETTINGS_45,
    SETTINGS_46,
    SETTINGS_47,
    WIND_CORRECTED,
    WIND_PRINTED,
)
from herk.thesis import Outcome

CHAIN_TOLERANCES = tuple(10.0**-k for k in range(3, 14))
BAND = (
    "rounding chooses between p1 and p3 in every step: 10 % in steps and a factor 3 in the error are"
    " agreement"
)
AKZO_TOLERANCES = tuple(10.0**-k for k in range(6, 17))


def wind() -> tuple[list[Row], dict[str, Outcome]]:
    """Return the pendulum of Section 4.4 as printed and with the true constraints."""
    runs = {"printed": run(WIND_PRINTED, SETTINGS_44), "corrected": run(WIND_CORRECTED, SETTINGS_44)}
    true = np.array(printed.WIND_TRUE)
    today: Modern | None = modern(testset.get("wind_pendulum"), 1e-10)
    rows = []
    for name, tell in (
        ("printed", "constraints as printed: w and lambda are wrong, see errata"),
        ("corrected", "constraints with l' and l''"),
    ):
        end = runs[name].X[:, -1]
        for k, component in enumerate(("x", "y", "v", "w", "lambda")):
            reference = printed.WIND_END[k] if name == "printed" else true[k]
            near = close(end[k], reference, 0.01)
            word = (
                Verdict.LOST
                if not near
                else (
                    Verdict.WRONG
                    if name == "printed" and not close(end[k], true[k], 0.05)
                    else Verdict.ROUNDING
                )
            )
            origin = Origin.PROGRAM if name == "printed" else Origin.OURS
            case, quantity = f"{name}, h = 1/50", f"{component} at t = 50"
            rows.append(
                Row(
                    "Figure 11",
                    case,
                    quantity,
                    float(reference),
                    float(end[k]),
                    word,
                    tell,
                    today,
                    origin=origin,
                )
            )
            today = None
    return rows, runs


@dataclass(frozen=True)
class ChainRun:
    """One point of Figure 15."""

    eps0: float
    Nopt: int
    max_norm: bool
    steps: int
    error: float
    message: str


def chain_run(eps0: float, Nopt: int, max_norm: bool = False, delta: float = 1e-14) -> ChainRun:
    """Run the chain with tol = eps0 and keep its steps and its largest error."""
    outcome = run(CHAIN, replace(SETTINGS_45, eps0=eps0, tol=eps0, Nopt=Nopt, max_norm=max_norm, delta=delta))
    return ChainRun(
        eps0, Nopt, max_norm, len(outcome.T), float(errors(CHAIN, outcome).max()), outcome.message
    )


def chain(tolerances: Iterable[float] = CHAIN_TOLERANCES) -> tuple[list[Row], list[ChainRun], Outcome]:
    """Return Figures 13 to 15: the runs depend on rounding.

    10 % in steps and a factor 3 in errors are agreement.
    """
    first = run(CHAIN, SETTINGS_45)
    error = float(errors(CHAIN, first).max())
    today = modern(testset.get("spring_chain"), 1e-7, over_time=True)
    rows = [_chain_error("Figure 14", "eps0 = 1e-7, Nopt = 0", printed.CHAIN_ERROR, error, today)]
    curve = [
        chain_run(eps0, Nopt, max_norm)
        for eps0 in tolerances
        for Nopt in (0, 1)
        for max_norm in (False, True)
    ]
    today = modern(testset.get("spring_chain"), 1e-13, over_time=True)
    for each in curve:
        if each.eps0 == 1e-13 and not each.max_norm:
            rows += _tight_chain(each, today)
    return rows, curve, first


def _tight_chain(each: ChainRun, today: Modern) -> list[Row]:
    """Compare steps and error of a run at the tightest tolerance of Figure 15."""
    case, steps = f"eps0 = 1e-13, Nopt = {each.Nopt}", printed.CHAIN_STEPS[each.Nopt]
    word = Verdict.ROUNDING if close(each.steps, steps, 0.1) else Verdict.LOST
    return [
        Row("Figure 15", case, "steps", steps, each.steps, word, BAND, today, origin=Origin.PICTURE),
        _chain_error("Figure 15", case, printed.CHAIN_ERRORS[each.Nopt], each.error),
    ]


def _chain_error(part: str, case: str, there: float, ours: float, today: Modern | None = None) -> Row:
    word = Verdict.ROUNDING if 1 / 3 <= ours / there <= 3 else Verdict.LOST
    return Row(part, case, "largest error", there, ours, word, BAND, today, origin=Origin.PICTURE)


def circuit() -> tuple[list[Row], Outcome]:
    """Return Figures 16 and 17: the error stays bounded, and e1 has none but Newton's."""
    outcome = run(CIRCUIT, SETTINGS_46)
    assert CIRCUIT.exact is not None
    parts = np.abs(outcome.X - CIRCUIT.exact(outcome.T)).T
    total = np.linalg.norm(parts, axis=1)
    today = modern(testset.get("cv_circuit"), SETTINGS_46.eps0, over_time=True)
    longer = run(CIRCUIT, SETTINGS_46, 10.0)
    later = float(errors(CIRCUIT, longer).max())
    bounded = later < 3 * total.max()
    rows = [
        Row(
            "Figure 16",
            "eps0 = 1e-10",
            "largest error on [0, 1] and [0, 10]",
            "bounded",
            f"{total.max():.1e}, {later:.1e}",
            Verdict.SAME if bounded else Verdict.LOST,
            "the text claims a bound; ten times the span shows it",
            today,
            origin=Origin.SAID,
        ),
        Row(
            "Figure 17",
            "eps0 = 1e-10",
            "largest error of e1 and of e2",
            "e1 free of the method's error",
            f"{parts[:, 2].max():.1e}, {parts[:, 3].max():.1e}",
            Verdict.SAME if parts[:, 2].max() <= SETTINGS_46.tol < parts[:, 3].max() else Verdict.LOST,
            "e1 comes from the constraint alone",
            origin=Origin.SAID,
        ),
    ]
    return rows, outcome


def akzo(
    tolerances: Iterable[float] = AKZO_TOLERANCES,
) -> tuple[list[Row], Outcome, list[tuple[float, int, float]]]:
    """Return Figures 18 to 20: the largest step, and the error over the steps."""
    outcome = run(AKZO, SETTINGS_47)
    rows, curve = [_longest_step(outcome)], []
    for eps0 in tolerances:
        each = run(AKZO, replace(SETTINGS_47, eps0=eps0, tol=eps0))
        error = float(np.linalg.norm(each.X[:, -1] - np.array(AKZO_END)))
        curve.append((eps0, len(each.T), error))
        met = error <= 20 * eps0 and not each.failure
        rows.append(
            Row(
                "Figure 20",
                f"eps0 = {eps0:.0e}",
                "error",
                "accuracy met",
                f"{error:.1e} with {len(each.T)} steps",
                Verdict.SAME if met else Verdict.LOST,
                "within 2^p eps0: the coarse value is kept",
                modern(testset.get("akzo"), max(eps0, 1e-14)),
                origin=Origin.SAID,
            )
        )
    return rows, outcome, curve


def _longest_step(outcome: Outcome) -> Row:
    """Compare the longest proposed step with the printed one and with its own scatter."""
    others = [
        float(run(AKZO, replace(SETTINGS_47, delta=factor * 1e-14)).H.max())
        for factor in (0.8, 0.9, 1.0, 1.1, 1.2)
    ]
    word = Verdict.ROUNDING if 0.9 * min(others) <= printed.AKZO_STEP <= 1.1 * max(others) else Verdict.LOST
    why = (
        f"the picture shows proposed steps; they are noise: {min(others):.1f} to {max(others):.1f} if delta"
        f" is changed by up to 20 %; the longest accepted step is {np.diff(outcome.T).max():.1f}"
    )
    return Row(
        "Figure 19",
        "eps0 = 1e-7",
        "longest step",
        printed.AKZO_STEP,
        float(outcome.H.max()),
        word,
        why,
        modern(testset.get("akzo"), 1e-7),
        origin=Origin.PRINTED,
    )
