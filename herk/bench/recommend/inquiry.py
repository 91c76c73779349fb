"""The course of an inquiry: one file in, one Recommendation out, within a budget of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import baselines
from herk.bench import plugins
from herk.bench.agreement import Agreement, Candidate, agree
from herk.bench.recommend import evidence
from herk.bench.recommend.advice import Findings, advice, cure
from herk.bench.recommend.answer import Recommendation
from herk.bench.recommend.candidates import candidates, referees
from herk.bench.recommend.clock import Clock
from herk.bench.recommend.examine import Facts, examine
from herk.bench.recommend.rank import GIVEN_UP, Trial, choose, measured, ranking, reached
from herk.bench.recommend.snippet import code
from herk.bench.recommend.trial import Plan, Run, climb
from herk.bench.runner import process
from herk.core import InputError, Reason

REFEREED = (1e-9, 1e-11, 1e-13)  # tolerances of the reference
EXAMINE_SHARE = 0.6  # of the budget, for loading and regularising; a large model may need it
REFEREE_SHARE = 0.5  # of the budget, all referees together
# Parts of the time for solving: one tight run, one run of a sweep, all runs of a candidate.
REFEREE_LIMIT, RUN_LIMIT, SHARE = 0.15, 0.06, 0.12
HOPELESS = 20.0  # a run so many times slower than a winner ends its sweep
MARGIN = 30.0  # a sweep ends when two runs were so many times better than asked for
LEAST_RTOL = 1e-13
NOT_RUN = "not run: the time budget was used up"

Say = Callable[[str], None]


@dataclass
class Heard:
    """What a candidate came to; `late`: its time was used up before it had run."""

    runs: list[Run] = field(default_factory=list)
    prepare_seconds: float = 0.0
    spent: float = 0.0
    note: str = ""
    fits: bool = True
    late: bool = False


def recommend(
    path: str | Path,
    error: float = 1e-6,
    budget: float = 240.0,
    say: Say = lambda _: None,
    files: Sequence[str | Path] = (),
) -> Recommendation:
    """Return which solver on which form reaches `error` fastest on the model in this file.

    After `budget` seconds all has ended. `files` bring solvers of your own, which compete with the others.

    The error is the largest over a grid of times, each component relative to its largest value over the span.
    """
    if not 1e-12 <= error < 1:
        raise InputError(
            f"error must be between 1e-12 and 1, not {error!r}: beyond that double precision has no answer."
        )
    if not 0 < budget < float("inf"):
        raise InputError(f"budget must be a positive number of seconds, not {budget!r}.")
    own = tuple(each.path for each in plugins.load(files))
    clock = Clock(budget)
    path = str(Path(path).resolve())
    say(f"examining {path}")
    end = process.until(clock.start + EXAMINE_SHARE * budget)
    kind, content = next(process.reports(examine, path, patience=end))
    if kind != "facts":
        why = f"The file could not be examined. {content}"
        if kind == "late":
            why = (
                f"To load and analyse the model took longer than {EXAMINE_SHARE * budget:.3g} s: allow more"
                " time with --budget."
            )
        return _refusal(path, error, *(content if kind == "wrong" else ("unusable", why)))
    plan = Plan(path, content.grid, content.sizes, clock.part(RUN_LIMIT), files=own)
    agreed, prepared, complaints = _referee(plan, content, clock, say)
    if agreed is None:
        return _unreferenced(path, content, error, complaints)
    trials = list(_trials(plan, content, agreed, error, clock, say))
    trials = [
        replace(each, prepare_seconds=max(each.prepare_seconds, prepared.get(each.candidate, 0.0)))
        for each in trials
    ]
    return _answer(path, content, error, agreed, trials)


def _refusal(path: str, error: float, kind: str, message: str) -> Recommendation:
    todo = {
        "ill-posed": cure(message),
        "inconsistent": "Start from consistent values, or leave entries of y0 open with None.",
    }
    advice = f"{message} {todo.get(kind, '')}".strip()
    return Recommendation(path=path, name=Path(path).stem, verdict=kind, advice=advice, wanted=error)


def _listen(
    candidate: Candidate,
    tolerances: Sequence[float],
    plan: Plan,
    clock: Clock,
    enough: Callable[[Heard], bool],
) -> Heard:
    """Follow one candidate on until `enough`, its share of the budget is used up, or it ends."""
    heard = Heard()
    for run, found in climb(candidate, tolerances, plan, clock.patience):
        heard.prepare_seconds = found.prepare_seconds or heard.prepare_seconds
        heard.spent += found.spent
        heard.fits = found.reason is not Reason.UNSUPPORTED
        if run is None:
            heard.late = not heard.runs and found.reason is Reason.TIME_LIMIT
            heard.note = "" if heard.runs else found.message
            break
        heard.runs.append(run)
        if enough(heard) or found.reason is Reason.TIME_LIMIT:
            break
        if heard.spent > min(clock.part(SHARE), clock.left):
            heard.note = "its share of the time was used up"
            break
    clock.solving += heard.spent
    return heard


def _referee(
    plan: Plan, facts: Facts, clock: Clock, say: Say
) -> tuple[Agreement | None, dict[Candidate, float], list[str]]:
    """Return the reference if there is one, seconds of preparation, and what went wrong."""
    runs: list[Run] = []
    prepared: dict[Candidate, float] = {}
    complaints: list[str] = []
    plan = replace(plan, run_limit=clock.part(REFEREE_LIMIT), timed=False)
    for candidate in referees(facts):
        if clock.left <= 0 or (clock.gone > REFEREE_SHARE and agree(runs, facts.sizes)):
            break
        say(f"reference: {candidate[0]} on {candidate[1]}")
        heard = _listen(candidate, REFEREED, plan, clock, lambda _: False)
        prepared[candidate] = heard.prepare_seconds
        faults = [
            heard.note,
            *(f"rtol {run.rtol:.0e}: {run.message}" for run in heard.runs if not run.success),
        ]
        complaints += [f"{candidate[0]} on {candidate[1]}: {fault}" for fault in faults if fault]
        runs += heard.runs[::-1]  # the tightest first
    return agree(runs, facts.sizes), prepared, complaints


def _unreferenced(path: str, facts: Facts, error: float, complaints: Sequence[str]) -> Recommendation:
    advice = (
        "No two independent solvers came to the end of the span, so that no result could be checked and"
        " nothing is recommended. Shorten the span, allow more time with --budget, or look at what the"
        " solvers say in the notes."
    )
    return Recommendation(
        path=path,
        name=facts.name,
        verdict="no reference",
        advice=advice,
        wanted=error,
        index=facts.index,
        constraints=facts.levels,
        discontinuous=bool(facts.switches),
        notes=tuple(complaints),
    )


def tolerances(error: float) -> tuple[float, ...]:
    """Return two tolerances in a decade, from a hundred times the error down to a hundred thousandth."""
    values = [digit * 10.0**power for power in range(0, -14, -1) for digit in (3.0, 1.0)]
    return tuple(
        float(f"{v:.0e}")
        for v in values
        if max(LEAST_RTOL, 1e-5 * error) <= v * 1.001 and v <= min(1e-2, 100 * error) * 1.001
    )


def _trials(
    plan: Plan, facts: Facts, agreed: Agreement, error: float, clock: Clock, say: Say
) -> Iterator[Trial]:
    fastest = float("inf")
    accurate = max(error / MARGIN, 3 * agreed.worst)

    def enough(heard: Heard) -> bool:
        if heard.runs[-1].seconds > HOPELESS * fastest:
            heard.note = f"{GIVEN_UP} more than {HOPELESS:g} times slower than the best"
            return True
        return len(heard.runs) > 1 and all(
            each.error <= accurate for each in measured(heard.runs[-2:], agreed, facts.sizes)
        )

    for candidate in candidates(facts):
        if clock.left <= 0:
            yield Trial(candidate, note=NOT_RUN)
            continue
        say(f"trying {candidate[0]} on {candidate[1]}, {clock.left:.0f} s left")
        heard = _listen(candidate, tolerances(error), plan, clock, enough)
        if heard.late:
            yield Trial(candidate, note=NOT_RUN)
        elif heard.fits:
            trial = Trial(
                candidate, measured(heard.runs, agreed, facts.sizes), heard.prepare_seconds, heard.note
            )
            fastest = min(fastest, at.run.seconds) if (at := reached(trial, error)) else fastest
            yield trial


def _answer(
    path: str, facts: Facts, error: float, agreed: Agreement, trials: Sequence[Trial]
) -> Recommendation:
    rows = ranking([each for each in trials if each.note != NOT_RUN], error)
    left_out = [" on ".join(each.candidate) for each in trials if each.note == NOT_RUN]
    notes = (
        *facts.notes,
        *([f"Not run, because the time budget was used up: {', '.join(left_out)}."] if left_out else []),
    )
    stiffness = evidence.stiffness(facts, trials, _tags)
    winners = [at for trial in trials if (at := reached(trial, error))]
    collapses = evidence.collapses(trials, lambda name: baselines.get(name).order)
    chosen = choose(rows, restarts=any(each.timed and each.times for each in facts.switches))
    found = Findings(
        facts, error, agreed, rows, chosen, stiffness, evidence.drift(winners), collapses, len(left_out)
    )
    first, second = agreed.first, agreed.second
    return Recommendation(
        path=path,
        name=facts.name,
        verdict=stiffness.verdict,
        advice=advice(found),
        wanted=error,
        index=facts.index,
        discontinuous=bool(collapses or any(each.times for each in facts.switches)),
        constraints=facts.levels,
        reference=(
            f"{first.solver} on {first.form} (rtol {first.rtol:.0e}) and {second.solver} on {second.form}"
            f" (rtol {second.rtol:.0e}) agree to {min(agreed.digits):.1f} digits over {len(facts.grid)}"
            " times, relative to the size of each component."
        ),
        reference_digits=dict(zip(facts.names, agreed.digits, strict=True)),
        rows=rows,
        chosen=chosen,
        code=code(path, facts, chosen) if chosen else "",
        notes=notes,
    )


@cache
def _tags(name: str) -> frozenset[str]:
    return baselines.get(name).tags
