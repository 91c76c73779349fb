"""Every claim of ours, checked: orders, constraints, references, studies, work and precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

import baselines
import herk
import testset
from herk.bench import measure, reference_check, store
from herk.bench.record import Record
from herk.core import InputError, Problem, Settings, Solver
from herk.core.dae import Array
from herk.integrate.steppers.half_explicit.tableau import Tableau

Say = Callable[[str], None]


@dataclass(frozen=True)
class Claim:
    """A sentence, whether it holds, and the numbers that decide."""

    text: str
    holds: bool
    evidence: str


def check(
    out: Path, say: Say = lambda _: None, problems: str | None = None, quick: bool = False
) -> list[Claim]:
    """Check every claim; with `problems`, a pattern of names, only the references of these problems."""
    if problems is not None:
        return list(references(chosen(problems), say))
    records = store.latest(store.Store(Path(out) / store.NAME).read()[0])
    found = [*orders(herk.METHODS), *drift(100 if quick else 1000, say)]
    found += references(QUICK if quick else chosen("*"), say)
    return [*found, *studied(records, say), *work_precision(records, say)]


# Orders: fixed steps on the pendulum around its turning point, all constraints of index 3 in play. Steps were
# chosen after looking at errors, so that they lie above rounding and the leading term stands alone: a broken
# method is found, the last tenth is not proved.
ORDER_SPAN = (0.8, 1.2)
ORDER_STEPS = {
    1: (64, 128, 256), 2: (32, 64, 128), 3: (16, 32, 64), 4: (16, 32, 64), 5: (16, 24, 32, 48),
    6: (8, 12, 16), 7: (6, 8, 10), 8: (6, 7, 8, 9, 10), 9: (4, 5, 6, 7, 8),
}  # fmt: skip
ORDER_SLACK = 0.4


def orders(methods: Mapping[str, Tableau]) -> Iterator[Claim]:
    """Claim for every method that errors over time fall with its order."""
    problem = testset.get("pendulum")
    assert problem.reference is not None
    assert problem.reference.exact is not None
    for name in methods:
        tableau = methods[name]
        counts = ORDER_STEPS[min(tableau.order, max(ORDER_STEPS))]
        errors = [_order_error(problem, problem.reference.exact, tableau, count) for count in counts]
        slope = -float(np.polyfit(np.log(counts), np.log(errors), 1)[0])
        evidence = (
            f"observed {slope:.2f}: errors {errors[0]:.1e} to {errors[-1]:.1e} with {counts[0]} to"
            f" {counts[-1]} steps"
        )
        yield Claim(
            f"{name} has order {tableau.order} on the pendulum of index 3",
            slope > tableau.order - ORDER_SLACK,
            evidence,
        )


def _order_error(problem: Problem, exact: Callable[[float], Array], tableau: Tableau, count: int) -> float:
    step = (ORDER_SPAN[1] - ORDER_SPAN[0]) / count
    start = exact(ORDER_SPAN[0])
    # Interpreted: a few hundred steps are quicker than compiling a kernel for each method.
    sol = herk.solve_dae(problem.dae, ORDER_SPAN, start, method=tableau, step=step, consistent="trust")
    true = np.array([exact(t) for t in sol.t]).T
    return float(np.max(np.abs(sol.y - true) / (1 + np.abs(true)))) if sol.success else math.inf


# Drift: what the constraints come to at the solver's points, measured here.
KEPT = 1e-11  # rounding, after thousands of steps
VISIBLE = 1e-3  # of a pendulum of length 1, after 100 periods at rtol = 1e-6
DRIFT_RTOL, DRIFT_POINTS, DRIFT_LIMIT = 1e-6, 5000, 60.0
KEEPS = (("herk_dopri5", "overdetermined"),)
DRIFTS = (("ida_sundae_jac", "index1"), ("scipy_dop853", "ode"))


def drift(periods: int, say: Say, get: Callable[[str], Solver] = baselines.get) -> Iterator[Claim]:
    """Claim that HERK keeps every constraint to rounding, and that forms of reduced index do not."""
    for name, form in KEEPS:
        say(f"constraints of the pendulum, {periods} periods: {name} on {form}")
        found, message = _drift(get(name), form, periods)
        text = f"{name} keeps all constraints of the pendulum to rounding over {periods} periods"
        yield Claim(text, found <= KEPT, message or f"largest residual {found:.1e}, at most {KEPT:g} allowed")
    for name, form in DRIFTS:
        found, message = _drift(get(name), form, 100)
        text = f"{name} on the form {form} drifts visibly within 100 periods"
        yield Claim(
            text, found >= VISIBLE, message or f"largest residual {found:.1e}, at least {VISIBLE:g} expected"
        )


def _drift(solver: Solver, form: str, periods: int) -> tuple[float, str]:
    """Return the largest |g| over the span, or NaN and why there is none."""
    problem = testset.get("pendulum", t_end=2.0 * periods)
    prepared = solver.prepare(problem, form)
    sol = solver.solve(prepared, Settings(rtol=DRIFT_RTOL, atol=DRIFT_RTOL, time_limit=DRIFT_LIMIT))
    if not sol.success or sol.t[-1] != problem.t_span[1]:
        return math.nan, f"it did not come to the end: {sol.message}"
    return measure.largest_residual(problem, sol, DRIFT_POINTS), ""


QUICK = ("academic", "cv_circuit", "pendulum", "rlc")  # their references are checked in seconds


def chosen(pattern: str) -> list[str]:
    """Return the problems whose name fits, and that can have a reference.

    Large ones must be named: two solvers take minutes to confirm theirs.
    """
    large = testset.names("large")
    found = [n for n in testset.names() if fnmatchcase(n, pattern) and (n == pattern or n not in large)]
    if not found:
        raise InputError(f"No problem fits {pattern!r}; known are {', '.join(testset.names())}.")
    return found


def references(
    names: Sequence[str], say: Say, made: Callable[[str], Problem] = testset.get
) -> Iterator[Claim]:
    """Claim for every problem with a reference that two independent solvers confirm it."""
    for verdict in reference_check.verdicts(names, say, made):
        yield Claim(
            f"the reference of {verdict.problem} is confirmed by two independent solvers",
            verdict.holds,
            verdict.evidence,
        )


def studied(records: Sequence[Record], say: Say) -> Iterator[Claim]:
    """Pass on what studies of documents have claimed and recorded."""
    found = [record for record in records if record["kind"] == "claim"]
    if not found:
        say("no claims of studies are recorded; `python -m herk.bench run thesis` and others record them")
    for record in found:
        yield Claim(
            f"{record['study']}: {record['text']}",
            bool(record["holds"]),
            str(record.get("evidence") or "recorded"),
        )


FASTEST = ("pendulum", 1e-6)  # most programs are used with such errors
OURS = ("herk", "radau", "auto", "irk", "second_order")  # families; all others are foreign


def work_precision(records: Sequence[Record], say: Say) -> Iterator[Claim]:
    """Claim from stored runs that HERK reaches an error sooner than every foreign solver."""
    problem, wanted = FASTEST
    family = {name: baselines.get(name).family for name in baselines.names()}
    family |= {rec["solver"]: rec["family"] for rec in records if rec["kind"] == "solver"}
    place = ("run", "work_precision", problem, "{}", "ok")
    names = ("kind", "study", "problem", "changes", "status")
    times: list[tuple[float, str]] = []
    for run in (rec for rec in records if tuple(rec.get(name) for name in names) == place):
        error, spent = run.get("error_end"), run.get("cpu_min")
        control = run["solver"].startswith("herk_") and run["form"] != "overdetermined"
        if not control and error is not None and spent is not None and error <= wanted:
            times.append((spent, run["solver"]))
    ours = min((each for each in times if each[1].startswith("herk_")), default=None)
    theirs = min((each for each in times if family.get(each[1]) not in OURS), default=None)
    if ours is None or theirs is None:
        say("no runs of work_precision on the pendulum are recorded; nothing is claimed about time")
        return
    evidence = f"{ours[1]} {1e3 * ours[0]:.3g} ms, {theirs[1]} {1e3 * theirs[0]:.3g} ms"
    yield Claim(
        f"HERK reaches an error of {wanted:g} on {problem} sooner than every foreign solver",
        ours[0] < theirs[0],
        evidence,
    )
