"""The work of steps in operations: counted, not timed, so that the same decisions are made every time."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from herk.core.dae import Array, is_large
from herk.integrate.steppers.radau.layout import RadauMethod
from herk.linalg.pattern import Pattern
from herk.linalg.stacked import SWEEPS

if TYPE_CHECKING:
    from herk.integrate.options import Request
    from herk.integrate.steppers.protocol import Stepper

STEP = 300.0  # operations of a step beside evaluations and linear algebra
LANES, A_ROW = 10.0, 10.0  # operations along a row that take the time of one, and what a row takes itself
FUNCTION = 20  # of a call of exp or sin
LOOKED_AT = 4  # of an entry that is scaled: its size, compared twice, and a division
A_SECOND = 1.5e9  # operations
AN_ENTRY = 4  # operations for an entry of a Jacobian where functions are evaluated on patterns
CALLS, LONG = 3, 1e-4  # how often a user's function is called to see what it costs; seconds that are enough

FEW = 10.0  # entries in a row of factors, and groups of columns, where nothing is known of them
TRIED = 3.0  # calls of f for each unknown that find where it has entries

# Counters per step of an implicit method of three stages that was not tried yet
EXPECTED = {"nfev": 10.5, "ngev": 12.0, "njev": 1.0, "nlu": 2.3, "nit": 3.2}
STAGES = 3


@dataclass(frozen=True)
class Work:
    """What evaluations of one system cost: a stage of an explicit method, the equations alone."""

    n: int
    complete: float  # solving the constraints, an iteration
    derivative: float
    equations: float
    stages: int = STAGES  # of the implicit method

    @property
    def opening(self) -> float:
        """Return the operations before the first implicit step, beside those that make its machine ready."""
        return 0.0

    def explicit(self, counts: Mapping[str, float], steps: float) -> float:
        """Return the operations of steps of an explicit method with these counters."""
        nfev, solves = counts["nfev"], max(counts["nfev"], counts["nit"])
        return solves * self.complete + nfev * self.derivative + STEP * steps

    def implicit(self, counts: Mapping[str, float], steps: float) -> float:
        """Return the operations of steps of an implicit method: evaluations, factors, solves."""
        calls = (counts["nfev"] + 3 * counts["njev"]) * self.equations
        return calls + self.linear(counts) + 2 * STEP * steps

    def linear(self, counts: Mapping[str, float]) -> float:
        """Return the work of linear algebra: one real, (s - 1)/2 complex matrices, row by row."""
        n, pairs = self.n, (self.stages - 1) / 2
        factors = (1 + 4 * pairs) * 2 / 3 * n**3 / LANES + (1 + pairs) * n**2 / 2 * A_ROW
        solves = 4 * (2 * self.stages - 1) * n**2 / LANES  # and as much for the changes of basis,
        rows = (1 + pairs) * 4 * n * A_ROW  # which have rows, too
        return counts["nlu"] / (1 + pairs) * factors + counts["nit"] * (solves + rows)

    def expected(self) -> float:
        """Return the operations of an implicit step before one was made."""
        return self.implicit(self.counted(), 1)

    def counted(self) -> dict[str, float]:
        """Return the counters expected of an implicit step: evaluations at each stage, more matrices."""
        more, matrices = self.stages / STAGES, (self.stages + 1) / (STAGES + 1)
        return EXPECTED | {
            "nfev": more * EXPECTED["nfev"],
            "ngev": more * EXPECTED["ngev"],
            "nlu": matrices * EXPECTED["nlu"],
        }


@dataclass(frozen=True)
class Called(Work):
    """What the functions of a user cost: each of them is called by itself."""

    f: float = 0.0
    g: float = 0.0
    jac_g: float = 0.0

    def explicit(self, counts: Mapping[str, float], steps: float) -> float:
        """Return the operations of steps of an explicit method with these counters."""
        calls = counts["nfev"] * self.f + counts["ngev"] * self.g + counts["njev"] * self.jac_g
        return calls + STEP * steps

    def implicit(self, counts: Mapping[str, float], steps: float) -> float:
        """Return the operations of steps of an implicit method; dg/dy is looked at after every step."""
        calls = counts["nfev"] * self.f + counts["ngev"] * self.g
        return calls + (2 * counts["njev"] + steps) * self.jac_g + self.linear(counts) + 2 * STEP * steps

    def expected(self) -> float:
        """Return the operations of an implicit step before one was made; a Jacobian is n differences."""
        counted = self.counted()
        return self.implicit(counted | {"nfev": counted["nfev"] + self.n}, 1)


@dataclass(frozen=True)
class OnPatterns(Work):
    """What a large model costs: evaluations as many as entries of its Jacobians, factors by their entries."""

    entries: float = 0.0  # of L and U of the matrix of an implicit step
    factors: float = 0.0  # operations in which they are found

    def linear(self, counts: Mapping[str, float]) -> float:
        """Return the operations of linear algebra: one real, (s - 1)/2 complex matrices."""
        pairs = (self.stages - 1) / 2
        factors = counts["nlu"] / (1 + pairs) * (1 + 4 * pairs) * self.factors
        return factors + counts["nit"] * (1 + 4 * pairs) * 2 * self.entries


@dataclass(frozen=True)
class CalledOnPatterns(Called):
    """What the functions of a user cost where there are many unknowns: a Jacobian is a few differences."""

    entries: float = 0.0  # of L and U of the matrix of an implicit step
    factors: float = 0.0  # operations in which they are found
    groups: float = 0.0  # differences for a Jacobian
    calls: float = 0.0  # of f before the first implicit step, which find where it has entries

    linear = OnPatterns.linear

    @property
    def opening(self) -> float:
        """Return the operations before the first implicit step."""
        return self.calls * self.f

    def expected(self) -> float:
        """Return the operations of an implicit step before one was made."""
        counted = self.counted()
        return self.implicit(counted | {"nfev": counted["nfev"] + self.groups}, 1)


def filled(whole: Pattern) -> tuple[float, float]:
    """Return about how many entries factors have, and the operations in which they are found.

    They are taken to fill the envelope of the pattern (after reverse Cuthill & McKee).
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    place = np.argsort(reverse_cuthill_mckee(csr_array(whole.matrix(np.ones(whole.nnz)))))
    rows, columns = place[whole.rows], place[whole.indices]
    reach = np.zeros(whole.shape[0])
    np.maximum.at(reach, np.maximum(rows, columns), np.abs(rows - columns))
    return 2 * float(reach.sum()), 2 * float((reach**2).sum())


def known_better(work: Work, machine: Any) -> Work:
    """Return the costs with what an implicit method at work knows of where functions have entries."""
    if not isinstance(work, CalledOnPatterns):
        return work
    structure = getattr(machine, "structure", None)
    if structure is None:  # it has full matrices
        return Called(work.n, 0.0, 0.0, 0.0, work.stages, work.f, work.g, work.jac_g)
    equations = structure.parts["jac_f"]
    entries, factors = filled(structure.parts["E"].union(equations))
    return replace(work, entries=entries, factors=factors, groups=equations.groups.max(initial=0) + 1.0)


def work_on_patterns(asked: Request, machine: Stepper) -> Work:
    """Return the costs of a large model, from the entries of its matrices and of the factors in use.

    Those of an implicit step are taken to fill what f_y may.
    """
    known = asked.dae.generated.sparse.patterns  # type: ignore[union-attr]
    f, g = (AN_ENTRY * known[name].nnz for name in ("jac_f", "jac_g"))
    solve = sum(2 * (used.lower.size + used.upper.size) for used in getattr(machine, "in_force", ()))
    entries, factors = filled(known["E"].union(known["jac_f"]))
    return OnPatterns(
        asked.dae.n, g + solve, f + AN_ENTRY * known["E"].nnz, f + g, implicit_stages(asked), entries, factors
    )


def work_of(asked: Request, machine: Stepper) -> Work:
    """Return the costs of a system: from the text of its code, or from calls of what was given.

    The code is that of the components chosen at this start, whatever earlier runs have chosen.
    """
    dae, code = asked.dae, getattr(machine, "code", None)
    if asked.generate and is_large(dae.n) and hasattr(dae.generated, "sparse"):
        return work_on_patterns(asked, machine)
    if code is not None:
        chosen = code.stage(machine.known[machine.state.slot], scalar=False)
        return work_of_text(chosen.text, dae.n, implicit_stages(asked))
    t, y = asked.t0, machine.state.y.copy()
    f, g, E = (timed(each, t, y) for each in (dae.f, dae.g if dae.m else None, dae.E))
    jac_g = timed(dae.jac_g, t, y) if dae.jac_g is not None else dae.n * g
    called = Called(dae.n, 0.0, 0.0, 0.0, implicit_stages(asked), f + E, g, jac_g)
    return called_on_patterns(asked, machine, called) if dae.large and dae.generated is None else called


def called_on_patterns(asked: Request, machine: Any, called: Called) -> Called:
    """Return the costs of callables where matrices are sparse; of f that may have to be guessed."""
    dae, pattern = asked.dae, getattr(machine, "pattern", None)
    entries, factors, groups = FEW * dae.n, FEW**2 * dae.n, FEW
    if dae.jac_f_sparsity is not None:
        told = Pattern.of(dae.jac_f_sparsity)
        (entries, factors), groups = filled(told), told.groups.max(initial=0) + 1.0
    jac_g = called.jac_g
    if dae.jac_g is None:
        jac_g = called.g * (FEW if pattern is None else pattern.groups.max(initial=0) + 1.0)
    calls = 0.0 if dae.jac_f_sparsity is not None else TRIED * dae.n
    given = 0.0, 0.0, 0.0, called.stages, called.f, called.g, jac_g
    return CalledOnPatterns(dae.n, *given, entries, factors, groups, calls)


def implicit_stages(asked: Request) -> int:
    """Return the stages with which the implicit one of the two methods of a run begins."""
    methods = asked.method, asked.plan.partner if asked.plan is not None else None
    return next((method.fewest for method in methods if isinstance(method, RadauMethod)), STAGES)


def timed(function: Any, t: float, y: Array) -> float:
    """Return about how many operations a call takes, a power of ten, so that the load hardly matters."""
    if not callable(function):
        return 0.0
    taken = np.inf
    for _ in range(CALLS):
        begun = time.thread_time()
        function(t, y)
        taken = min(taken, time.thread_time() - begun)
        if taken > LONG:
            break
    return float(10.0 ** round(np.log10(taken * A_SECOND)))


@lru_cache(maxsize=256)
def work_of_text(text: str, n: int, stages: int) -> Work:
    """Return what the code of a stage costs."""
    return Work(n, *costs_of(text), stages)


def of_stacked(rows: int, n: int) -> float:
    """Return the operations of a system for y': scaled again and again, a root for each line; eliminated."""
    lines, entries = SWEEPS * (rows + n), SWEEPS * 2 * rows * n
    return FUNCTION * lines + LOOKED_AT * entries + 2.0 * rows * n**2


def costs_of(text: str) -> tuple[float, float, float]:
    """Return the operations of the functions of a stage: constraints solved, derivatives, f and g alone."""
    found = {"complete": 0.0, "rate": 0.0, "residual": 0.0}
    solved = dict(found)
    for part in re.split(r"(?m)^def ", text)[1:]:
        name = part.split("(", 1)[0]
        found[name] = len(re.findall(r"[-+*/]", part)) + FUNCTION * len(
            re.findall(r"\b(?:exp|log|sin|cos|tan|pow|sqrt|\w*h)\(", part)
        )
        blocks = re.findall(r"\bsolve_(?:leveled|in_units)\([^()]*?(\d+)\)", part)
        stacked = re.findall(r"\bsolve_stacked\(\S+ (\d+), (\d+),", part)
        solved[name] = sum(float(size) ** 3 for size in blocks) + sum(
            of_stacked(int(rows), int(columns)) for rows, columns in stacked
        )
    plain = found["residual"] + (found["complete"] + found["rate"]) / 2
    return found["complete"] + solved["complete"], found["rate"] + solved["rate"], plain
