"""References put to the vote: two solvers that share neither kind nor library must reach each."""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread

import numpy as np

import baselines
import testset
from herk.bench import agreement
from herk.bench.agreement import Candidate, independent
from herk.bench.runner import process
from herk.bench.runner.worker import Send
from herk.core import Problem, Settings, Solution, Solver
from herk.core.dae import Array

Say = Callable[[str], None]

FORMS = ("index1", "ode", "overdetermined", "index2", "ggl")  # on which referees are asked, in this order
# Asked before the others, where IDA in index 1 only costs time. Arevalo, Fekete: mu = 0 drifts away from
# zero, and the steps become tiny. Spring chain: too few digits. Transistor amplifier: from rtol = 1e-8 on,
# IDA makes ten times as many steps as LSODA. Water tube: in index 1 it sticks at a jump of the friction.
# Wheelset: the constraints drift, which costs two digits.
FIRST: dict[str, tuple[Candidate, Candidate]] = {
    "arevalo": (("radau5", "index1"), ("scipy_dop853", "ode")),
    "fekete": (("ida_sundae_jac", "index2"), ("herk_dop853", "overdetermined")),
    "spring_chain": (("radau5", "index1"), ("herk_dop853", "overdetermined")),
    "transistor_amplifier": (("radau5", "index1"), ("scipy_lsoda", "ode")),
    "water_tube": (("ida_sundae_jac", "index2"), ("radau5", "index2")),
    "wheelset": (("ida_sundae_jac", "index2"), ("radau5", "index2")),
}
# Begun first, so that no core waits for one of them in the end.
LONGEST = ("wheelset", "fekete", "water_tube", "andrews", "nand_gate")

ROUGH = 1e-6  # gives the sizes of the components
# The difference within a pair is the accuracy of the solver; the last pair it survives counts.
PAIRS = ((1e-8, 1e-9), (1e-11, 1e-12))
MANY_STEPS = 10_000  # of the finer run of a pair: the next pair would take several times as many
SAFETY = 3.0  # errors of adaptive runs scatter
LEAST_DIGITS = 4.0
ROUNDING = 1e-13
# of the largest component: a component that stays below counts as that large, unless the problem states its
# size
NOTHING = 1e-9
# Seconds on the clock of a machine that may be busy: all of a problem, compilation included, and one solve.
PROBLEM_LIMIT, REFEREE_LIMIT = 600.0, 60.0


@dataclass(frozen=True)
class Vote:
    """What one solver says: distance to the reference and own accuracy, in sizes of the components."""

    solver: str
    form: str
    error: float
    own: float
    confirms: bool

    @property
    def text(self) -> str:
        """Return the vote in words."""
        verdict = "agrees" if self.confirms else "differs"
        return (
            f"{self.solver} on {self.form} {verdict}: {_digits(self.error):.1f} digits (its own accuracy"
            f" {_digits(self.own):.1f})"
        )


@dataclass(frozen=True)
class Verdict:
    """The votes about the reference of one problem, and why those who have none have none."""

    problem: str
    votes: tuple[Vote, ...]
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Tell whether two independent solvers agree with the reference and none as good differs."""
        good = [vote for vote in self.votes if vote.confirms]
        return len(good) == len(self.votes) and any(
            independent(a.solver, b.solver) for a in good for b in good
        )

    @property
    def evidence(self) -> str:
        """Return the votes in words, and what is missing."""
        words = [*(vote.text for vote in self.votes), *self.notes]
        if not self.holds and all(vote.confirms for vote in self.votes):
            words.insert(
                0,
                f"{len(self.votes) or 'no'} solver(s) reached it, two of different kind and library are"
                " needed",
            )
        return "; ".join(words)


def _digits(error: float) -> float:
    return -math.log10(max(error, 1e-16))


def verdicts(
    names: Sequence[str], say: Say, made: Callable[[str], Problem] = testset.get, jobs: int | None = None
) -> Iterator[Verdict]:
    """Yield the verdict on every problem with a reference, in order; as many at a time as cores."""
    begun: dict[str, Future[Verdict | None]] = {name: Future() for name in names}
    waiting = deque(sorted(begun, key=lambda name: name not in LONGEST))

    def work() -> None:
        while waiting:
            with suppress(IndexError):  # another thread may have taken the last one
                name = waiting.popleft()
                say(f"reference of {name}")
                try:
                    begun[name].set_result(one(name, made))
                except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
                    begun[name].set_exception(error)

    # Threads only wait, each problem has a process of its own. Both are daemons: whoever interrupts us need
    # not wait for them.
    for _ in range(min(jobs or os.cpu_count() or 1, len(begun))):
        Thread(target=work, daemon=True).start()
    try:
        for name in names:
            if (found := begun[name].result()) is not None:
                yield found
    finally:
        waiting.clear()


def one(name: str, made: Callable[[str], Problem] = testset.get) -> Verdict | None:
    """Return the verdict on one problem, None without a reference; whatever a solver does, we survive."""
    votes: list[Vote] = []
    notes: list[str] = []
    end = process.until(time.monotonic() + PROBLEM_LIMIT)
    for what, content in process.reports(_ask, name, made, patience=end):
        if what == "none":
            return None
        if what == "vote":
            votes.append(content)
        elif what == "late":
            notes.append("It was ended: the time allowed was used up.")
        elif what != "done":
            notes.append(_brief(str(content)))
    return Verdict(name, tuple(votes), tuple(notes))


def _brief(text: str, most: int = 160) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _ask(send: Send, name: str, made: Callable[[str], Problem]) -> None:
    """Run in a process of its own: send votes until two independent solvers have spoken."""
    problem = made(name)
    if problem.reference is None:
        send("none", None)
        return
    spoken: list[str] = []
    for solver_name, form in dict.fromkeys((*FIRST.get(name, ()), *agreement.referees(FORMS))):
        if len(spoken) == 2:
            return
        if any(not independent(solver_name, each) for each in spoken):
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
    assert problem.reference is not None
    end, digits, who = problem.reference.y, problem.reference.digits, f"{solver.name} on {form}"
    prepared = solver.prepare(problem, form)

    def run(rtol: float, sizes: Array) -> Solution:
        atol = tuple(float(rtol * size) for size in sizes)
        return solver.solve(prepared, Settings(rtol=rtol, atol=atol, time_limit=REFEREE_LIMIT))

    rough = run(ROUGH, _first_sizes(problem, end))
    if not _finished(rough):
        return f"{who}: {rough.message}"
    sizes = _sizes(problem, rough.y, end)
    vote: Vote | str = f"{who} has no accurate result"
    for pair in PAIRS:
        coarse = run(pair[0], sizes)
        fine = run(pair[1], sizes) if _finished(coarse) else coarse
        if not _finished(fine):
            return vote if isinstance(vote, Vote) else f"{who}, rtol {pair[0]:.0e}: {fine.message}"
        own, error = (
            float(np.max(np.abs(fine.y[:, -1] - other) / sizes)) for other in (coarse.y[:, -1], end)
        )
        if own <= 10.0**-LEAST_DIGITS:
            allowed = min(SAFETY * own + 2 * 10.0**-digits + ROUNDING, 10.0 ** -min(digits, LEAST_DIGITS))
            vote = Vote(solver.name, form, error, own, error <= allowed)
        elif not isinstance(vote, Vote):
            vote = f"{who} has no vote: its own accuracy is {_digits(own):.1f} digits"
        if fine.nstep > MANY_STEPS or own <= 10.0**-digits:
            break
    return vote


def _finished(solution: Solution) -> bool:
    return solution.success and bool(np.isfinite(solution.y).all())


def _first_sizes(problem: Problem, end: Array) -> Array:
    """Return sizes to begin with; what is zero at start and end may become as large as anything."""
    sizes = _sizes(problem, end[:, None], problem.y0)
    zero = (end == 0) & (problem.y0 == 0)
    return sizes if problem.sizes else np.where(zero, sizes.max(), sizes)


def _sizes(problem: Problem, points: Array, end: Array) -> Array:
    """Return what errors are measured by: the largest value on the way, with a least size."""
    largest = np.maximum(np.abs(points).max(axis=1), np.abs(end))
    return np.maximum(largest, problem.sizes or NOTHING * largest.max())
