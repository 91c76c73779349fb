"""Every claim of ours, checked: orders, constraints kept, references confirmed, claims of studies, work and precision."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

import baselines
import herk
import testset
from herk.bench import store
from herk.bench.recommend.candidates import kind
from herk.bench.recommend.room import Send, reports
from herk.bench.record import Record
from herk.core import InputError, Problem, Settings, Solver
from herk.core.dae import Array
from herk.method.tableau import Tableau

Say = Callable[[str], None]


@dataclass(frozen=True)
class Claim:
    """A sentence, whether it holds, and the numbers that decide."""

    text: str
    holds: bool
    evidence: str


def check(out: Path, say: Say = lambda _: None, problems: str | None = None, quick: bool = False) -> list[Claim]:
    """Check every claim; with `problems`, a pattern of names, only the references of these problems."""
    if problems is not None:
        return list(references(chosen(problems), say))
    records = store.latest(store.Store(Path(out) / store.NAME).read()[0])
    found = [*orders(herk.METHODS), *drift(100 if quick else 1000, say)]
    found += references(QUICK if quick else chosen("*"), say)
    return [*found, *studied(records, say), *work_precision(records, say)]


# Orders: fixed steps on the pendulum around its turning point, all constraints of index 3 in play. Steps were chosen after looking at
# errors, so that they lie above rounding and the leading term stands alone: a broken method is found, the last tenth is not proved.
ORDER_SPAN = (0.8, 1.2)
ORDER_STEPS = {
    1: (64, 128, 256), 2: (32, 64, 128), 3: (16, 32, 64), 4: (16, 32, 64), 5: (16, 24, 32, 48), 6: (8, 12, 16), 7: (6, 8, 10),
    8: (6, 7, 8, 9, 10), 9: (4, 5, 6, 7, 8),
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
        evidence = f"observed {slope:.2f}: errors {errors[0]:.1e} to {errors[-1]:.1e} with {counts[0]} to {counts[-1]} steps"
        yield Claim(f"{name} has order {tableau.order} on the pendulum of index 3", slope > tableau.order - ORDER_SLACK, evidence)


def _order_error(problem: Problem, exact: Callable[[float], Array], tableau: Tableau, count: int) -> float:
    step = (ORDER_SPAN[1] - ORDER_SPAN[0]) / count
    start = exact(ORDER_SPAN[0])
    # Interpreted: a few hundred steps are quicker than compiling a kernel for each method.
    sol = herk.solve_dae(problem.dae, ORDER_SPAN, start, method=tableau, step=step, interpret=True, consistent="trust")
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
        yield Claim(text, found >= VISIBLE, message or f"largest residual {found:.1e}, at least {VISIBLE:g} expected")


def _drift(solver: Solver, form: str, periods: int) -> tuple[float, str]:
    """Return the largest |g| over the span, or NaN and why there is none."""
    problem = testset.get("pendulum", t_end=2.0 * periods)
    prepared = solver.prepare(problem, form)
    sol = solver.solve(prepared, Settings(rtol=DRIFT_RTOL, atol=DRIFT_RTOL, time_limit=DRIFT_LIMIT))
    if not sol.success or sol.t[-1] != problem.t_span[1]:
        return math.nan, f"it did not come to the end: {sol.message}"
    at = np.unique(np.linspace(0, len(sol.t) - 1, DRIFT_POINTS).astype(int))
    dae = problem.dae
    return max(float(np.abs(dae.g(float(sol.t[k]), np.ascontiguousarray(sol.y[:, k]))).max()) for k in at), ""


# References: two solvers that share neither kind of method nor library have to reach them, each to the accuracy it shows by itself.
REFEREES = (
    ("ida_sundae_jac", "index1"), ("radau5", "index1"), ("solve_dae_radau", "index1"), ("radau5", "ode"), ("scipy_lsoda", "ode"),
    ("scipy_radau", "ode"), ("herk_dop853", "overdetermined"), ("ida_sundae_jac", "index2"), ("radau5", "index2"),
    ("ida_sundae_jac", "ggl"),
)  # fmt: skip
QUICK = ("academic", "cv_circuit", "pendulum", "rlc")
ROUGH = 1e-6  # gives the sizes of the components
PAIRS = ((1e-8, 1e-9), (1e-11, 1e-12))  # the difference within a pair is the accuracy of the solver; the last pair it survives counts
SAFETY = 3.0  # errors of adaptive runs scatter
LEAST_DIGITS = 4.0
ROUNDING = 1e-13
PROBLEM_LIMIT, REFEREE_LIMIT = 240.0, 30.0  # seconds on the clock: compilation included, and one solve


@dataclass(frozen=True)
class Vote:
    """What one solver says about a reference: distance to it and own accuracy, relative to the size of each component."""

    solver: str
    form: str
    error: float
    own: float
    confirms: bool

    @property
    def text(self) -> str:
        """Return the vote in words."""
        verdict = "agrees" if self.confirms else "differs"
        digits = -math.log10(max(self.error, 1e-16))
        return f"{self.solver} on {self.form} {verdict}: {digits:.1f} digits (its own accuracy {-math.log10(max(self.own, 1e-16)):.1f})"


def chosen(pattern: str) -> list[str]:
    """Return the problems whose name fits, and that can have a reference."""
    found = [name for name in testset.names() if fnmatchcase(name, pattern)]
    if not found:
        raise InputError(f"No problem fits {pattern!r}; known are {', '.join(testset.names())}.")
    return found


def references(names: Sequence[str], say: Say, made: Callable[[str], Problem] = testset.get) -> Iterator[Claim]:
    """Claim for every problem with a reference that two independent solvers confirm it; each problem has a process of its own."""
    for name in names:
        say(f"reference of {name}")
        text = f"the reference of {name} is confirmed by two independent solvers"
        votes: list[Vote] = []
        notes: list[str] = []
        for what, content in reports(_vote, name, made, deadline=time.monotonic() + PROBLEM_LIMIT):
            if what == "none":
                break
            if what == "vote":
                votes.append(content)
            elif what != "done":
                notes.append(_brief(str(content)))
        else:
            evidence = "; ".join([*(vote.text for vote in votes), *notes]) or "no solver takes this problem"
            yield Claim(text, confirmed(votes), evidence)


def _brief(text: str, most: int = 160) -> str:
    line = text.strip().splitlines()[-1] if text.strip() else ""
    return line if len(line) <= most else f"{line[: most - 3]}..."


def confirmed(votes: Sequence[Vote]) -> bool:
    """Tell whether two solvers of different kind and family agree with the reference, and none that is as accurate differs."""
    good = [vote for vote in votes if vote.confirms]
    return any(_independent(a.solver, b.solver) for a in good for b in good) and len(good) == len(votes)


def _independent(first: str, second: str) -> bool:
    return kind(first) != kind(second) and baselines.get(first).family != baselines.get(second).family


def _vote(send: Send, name: str, made: Callable[[str], Problem]) -> None:
    """Run in a process of its own: send votes until two independent solvers have spoken."""
    problem = made(name)
    if problem.reference is None:
        send("none", None)
        return
    spoken: list[str] = []
    for solver_name, form in REFEREES:
        if any(_independent(a, b) for a in spoken for b in spoken):
            return
        if solver_name not in baselines.names() or solver_name in spoken or any(not _independent(solver_name, each) for each in spoken):
            continue
        solver = baselines.get(solver_name)
        if solver.available()[0] and solver.supports(problem, form)[0]:
            try:
                vote = ballot(solver, form, problem)
            except Exception as error:  # noqa: BLE001 - a solver that fails has no vote, others have
                vote = f"{solver_name} on {form}: {type(error).__name__}: {error}"
            if isinstance(vote, Vote):
                spoken.append(solver_name)
            send("vote" if isinstance(vote, Vote) else "note", vote)


def ballot(solver: Solver, form: str, problem: Problem) -> Vote | str:
    """Return the vote of one solver, or why it has none."""
    reference = problem.reference
    assert reference is not None
    prepared = solver.prepare(problem, form)

    def points(rtol: float, sizes: Array) -> Array | str:
        atol = tuple(float(rtol * size) for size in sizes)
        sol = solver.solve(prepared, Settings(rtol=rtol, atol=atol, time_limit=REFEREE_LIMIT))
        return np.asarray(sol.y) if sol.success and np.isfinite(sol.y).all() else sol.message

    rough = points(ROUGH, np.array(problem.sizes or [max(float(np.abs(problem.y0).max()), 1e-3)] * len(problem.y0)))
    if isinstance(rough, str):
        return f"{solver.name} on {form}: {rough}"
    largest = np.maximum(np.abs(rough).max(axis=1), np.abs(reference.y))
    sizes = np.maximum(largest, 1e-9 * largest.max())
    vote: Vote | str = f"{solver.name} on {form} has no accurate result"
    for pair in PAIRS:
        coarse, fine = (points(rtol, sizes) for rtol in pair)
        if isinstance(coarse, str) or isinstance(fine, str):
            why = coarse if isinstance(coarse, str) else fine
            return vote if isinstance(vote, Vote) else f"{solver.name} on {form}, rtol {pair[0]:.0e}: {why}"
        own, error = (float(np.max(np.abs(fine[:, -1] - end) / sizes)) for end in (coarse[:, -1], reference.y))
        allowed = min(SAFETY * own + 2 * 10.0**-reference.digits + ROUNDING, 10.0 ** -min(reference.digits, LEAST_DIGITS))
        vote = Vote(solver.name, form, error, own, error <= allowed)
    return vote


def studied(records: Sequence[Record], say: Say) -> Iterator[Claim]:
    """Pass on what studies of documents have claimed and recorded."""
    found = [record for record in records if record["kind"] == "claim"]
    if not found:
        say("no claims of studies are recorded; `python -m herk.bench run thesis` and others record them")
    for record in found:
        yield Claim(f"{record['study']}: {record['text']}", bool(record["holds"]), str(record.get("evidence") or "recorded"))


FASTEST = ("pendulum", 1e-8)
FOREIGN = ("scipy_", "ida_", "solve_dae_", "casadi_")


def work_precision(records: Sequence[Record], say: Say) -> Iterator[Claim]:
    """Claim from stored runs that HERK reaches high accuracy on a non-stiff problem sooner than every foreign solver."""
    problem, wanted = FASTEST
    times: dict[str, float] = {}
    for run in records:
        if run["kind"] == "run" and (run["study"], run["problem"], run["changes"]) == ("work_precision", problem, "{}"):
            error, spent = run.get("error_end"), run.get("cpu_min")
            if run["status"] == "ok" and error is not None and spent is not None and error <= wanted:
                times[run["solver"]] = min(spent, times.get(run["solver"], math.inf))
    ours = min((pair for pair in times.items() if pair[0].startswith("herk_")), key=lambda pair: pair[1], default=None)
    theirs = min((pair for pair in times.items() if pair[0].startswith(FOREIGN)), key=lambda pair: pair[1], default=None)
    if ours is None or theirs is None:
        say("no runs of work_precision on the pendulum are recorded; nothing is claimed about time")
        return
    evidence = f"{ours[0]} {1e3 * ours[1]:.3g} ms, {theirs[0]} {1e3 * theirs[1]:.3g} ms"
    yield Claim(f"HERK reaches an error of {wanted:g} on {problem} sooner than every foreign solver", ours[1] < theirs[1], evidence)
