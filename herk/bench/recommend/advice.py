"""The advice in words: every sentence rests on a number that was measured, and says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from herk.bench.agreement import Agreement
from herk.bench.recommend.evidence import HELD, Drift, Stiffness
from herk.bench.recommend.examine import Facts
from herk.bench.recommend.rank import GIVEN_UP, Row
from herk.bench.recommend.switching import Switch

SENSITIVE = 100.0  # an error so many times the tolerance is worth a warning
NOISE = 1.3  # times closer than this factor are called equal
COMPILES = 2.0  # seconds of preparation worth mentioning


@dataclass(frozen=True)
class Findings:
    """Everything the advice is made of."""

    facts: Facts
    wanted: float
    reference: Agreement
    rows: tuple[Row, ...]
    chosen: Row | None
    stiffness: Stiffness
    drift: Drift | None
    collapses: tuple[float, ...]
    left_out: int = 0


def advice(found: Findings) -> str:
    """Return one paragraph."""
    winner = found.chosen
    parts = [
        _nature(found.facts),
        _stiffness(found.stiffness),
        *switches(found.facts, found.collapses, winner),
    ]
    parts += (
        [_choice(winner, found.rows, found.wanted), *_caution(winner, found)] if winner else [_nobody(found)]
    )
    return " ".join(part for part in parts if part)


def _nature(facts: Facts) -> str:
    if facts.index is None:
        return f"The Dae is taken as given: {facts.m} constraints, the hidden ones among them."
    if facts.index == 0:
        return "The model is an ordinary differential equation (index 0)."
    hidden = sum(map(len, facts.levels[1:]))
    told = f", {hidden} of them hidden: found by differentiation" if hidden else ", none of them hidden"
    return f"The model has index {facts.index} and {facts.m} constraint{'s' if facts.m > 1 else ''}{told}."


def _stiffness(found: Stiffness) -> str:
    if found.implicit is None:
        return "Whether it is stiff could not be decided: no implicit solver came to the end."
    few = f"{found.implicit.solver} on {found.implicit.form}"
    if found.explicit is None:
        steps = (
            f"no explicit method came to the end at rtol {found.implicit.rtol:.0e}, where {few} needs"
            f" {found.implicit.nstep} steps"
        )
    else:
        one = f"{found.explicit.solver} on {found.explicit.form}"
        steps = (
            f"at rtol {found.implicit.rtol:.0e} {one} makes {found.explicit.nstep} steps and {few}"
            f" {found.implicit.nstep}"
        )
    speed = (
        f"the fastest decay has rate {found.fastest:.2g}, for which stability alone asks an explicit method"
        " for about "
    )
    speed += f"{found.stability_steps:.2g} steps"
    if found.verdict == "not stiff":
        return f"It is not stiff: {steps}; {speed}."
    return f"It is {found.verdict}: {steps}; {speed}. Implicit methods are the right ones."


def switches(facts: Facts, collapses: Sequence[float], winner: Row | None) -> list[str]:
    """Return where the model is not smooth, what to do about it, and whether the code to paste does it."""
    pieced = winner is not None and winner.solver.startswith("herk_") and winner.form == "overdetermined"
    timed = [each for each in facts.switches if each.timed and each.times]
    stated = [each for each in facts.switches if not each.timed and each.times]
    parts = []
    if timed:
        times = sorted({time for each in timed for time in each.times})
        how = ", as the code below does" if pieced else "; the code below steps across it" if winner else ""
        parts.append(
            f"The right-hand side is not smooth at t = {_listed(times)} (where {_named(timed)} changes sign):"
            f" no method has its order across such a time; solve piece by piece and start anew there{how}."
        )
    if stated:
        times = sorted({time for each in stated for time in each.times})
        count = f"about {len(times)} times, first" if len(times) > 1 else "once,"
        parts.append(
            f"The right-hand side is not smooth where {_named(stated)} changes sign, {count} near t ="
            f" {times[0]:.4g}: steps are rejected there and the order is lost. Locate these times with"
            " events=[...] (terminal) of herk.solve_dae and start anew at each."
        )
    if collapses and not timed and not stated:
        parts.append(
            f"Steps collapse near t = {_listed(collapses)} far more than a smooth solution explains: a"
            " discontinuity. If its time is known, solve piece by piece; if the state decides, locate it"
            " with events=[...] of herk.solve_dae."
        )
    return parts


def _named(found: Sequence[Switch]) -> str:
    return " or ".join(each.function for each in found)


def _listed(times: Sequence[float], most: int = 4) -> str:
    shown = ", ".join(f"{time:.6g}" for time in times[:most])
    return f"{shown} and {len(times) - most} more" if len(times) > most else shown


def _choice(winner: Row, rows: Sequence[Row], wanted: float) -> str:
    said = f"Use {winner.solver} on the form {winner.form} with rtol = {winner.rtol:.0e}"
    said += (
        f": error {winner.error:.1g} (asked: {wanted:.0e}) in {seconds(winner.seconds)} and {winner.nstep}"
        " steps."
    )
    said += _compared(winner, [row for row in rows if row.rank])
    if winner.prepare_seconds > COMPILES:
        said += (
            f" Its first use compiles for {winner.prepare_seconds:.0f} s; later ones find the result on disk."
        )
    return said


def _compared(winner: Row, ranked: Sequence[Row]) -> str:
    """Return how the best of other families compare, and who keeps the constraints if the winner does not."""
    others = [row for row in ranked if row.solver.split("_")[0] != winner.solver.split("_")[0]]
    said = ""
    if others:
        said = (
            f" The best of another family, {others[0].solver} on {others[0].form}, takes"
            f" {_times(others[0].seconds, winner.seconds)}."
        )
    if winner.rank != 1:
        said += " HERK is chosen all the same, because it starts anew at a switch with consistent values."
    keeper = next((row for row in ranked if (row.drift or 0.0) <= HELD), None)
    if keeper and (winner.drift or 0.0) > HELD:
        said += (
            f" Where the constraints must hold, take {keeper.solver} on {keeper.form}: it keeps them to"
            f" {keeper.drift:.1g} (here they drift to {winner.drift:.1g}) and takes"
            f" {_times(keeper.seconds, winner.seconds)}."
        )
    return said


def _times(other: float | None, own: float | None) -> str:
    assert other is not None
    assert own is not None
    ratio = other / own
    if 1 / NOISE < ratio < NOISE:
        return f"as long within the noise ({seconds(other)})"
    return f"{ratio:.2g} times as long ({seconds(other)})"


def seconds(value: float | None) -> str:
    """Return a time in units people read."""
    if value is None:
        return "-"
    return (
        f"{value * 1e6:.0f} us"
        if value < 1e-3
        else f"{value * 1e3:.3g} ms"
        if value < 1
        else f"{value:.3g} s"
    )


def _caution(winner: Row, found: Findings) -> list[str]:
    parts = []
    if found.drift:
        worst, best = found.drift.worst, found.drift.best
        parts.append(
            f"Constraints drift on reduced forms: up to {worst.drift:.1g} with {worst.solver} on"
            f" {worst.form}, against {best.drift:.1g} with {best.solver} on {best.form}; drift grows with the"
            " span."
        )
    if winner.error and winner.rtol and winner.error > SENSITIVE * winner.rtol:
        parts.append(
            f"The error is {winner.error / winner.rtol:.0f} times the tolerance: the problem amplifies"
            " errors, and a longer span needs a tighter tolerance than this one."
        )
    failed = [row for row in found.rows if row.rank is None and not row.note.startswith(GIVEN_UP)]
    if failed:
        named = ", ".join(f"{row.solver} on {row.form}" for row in failed[:4]) + (
            f" and {len(failed) - 4} more" if len(failed) > 4 else ""
        )
        parts.append(f"Failed here, or fell short of the accuracy: {named} (see the remarks).")
    if found.left_out:
        more = "1 more combination was" if found.left_out == 1 else f"{found.left_out} more combinations were"
        parts.append(f"{more} left out, because the time budget was used up.")
    if found.reference.worst > 0.1 * found.wanted:
        parts.append(_poor(found))
    return parts


def _poor(found: Findings) -> str:
    return (
        f"Caution: the two best solvers agree to {found.reference.worst:.1g} only, which is little for the"
        f" error asked for, {found.wanted:.0e}: the ranking is a hint, not a proof."
    )


def _nobody(found: Findings) -> str:
    best = min(
        (row for row in found.rows if row.error is not None), key=lambda row: row.error or 0.0, default=None
    )
    said = f"No solver reached the error {found.wanted:.0e}"
    said += (
        f"; the smallest was {best.error:.1g} by {best.solver} on {best.form}."
        if best
        else " in the time given: allow more with --budget."
    )
    return f"{said} {_poor(found)}" if found.reference.worst > 0.1 * found.wanted else said


ILL_POSED = {  # a mark in the message -> what to do; the first that is found counts
    "follows from the other": "The equations are redundant: one says what others say already, and a"
    " multiplier or another unknown is left undetermined. Remove the redundant equation together with an"
    " unknown that only it was to determine, or replace it by the equation you meant.",
    "contradicts 0": "Two constraints exclude each other: correct one of them; no solver can help.",
    "has no solution": "The constraints cannot all hold: correct them; no solver can help.",
    "contradicts E": "A constraint in g is no consequence of E y' = f, it does not stay zero. Correct g.",
    "occur": "An unknown stands in no equation: remove it, or add the equation that determines it.",
    "above the limit": "Such an index is rare: should an equation have determined an unknown earlier?",
    "undetermined": "Add the missing hidden constraints to g, or give the equations as a herk.Model.",
    "": "Check the equations named above: they have no unique solution; every solver would only hide that.",
}  # fmt: skip


def cure(message: str) -> str:
    """Return what to do about an ill-posed model."""
    return next(words for mark, words in ILL_POSED.items() if mark in message)
