"""Half-explicit Runge-Kutta as Python sees it: the state of a run, the table of selections, their code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from herk.codegen.generated import Code
from herk.codegen.scope import PYTHON, SHARED
from herk.core import Dae, InputError, Reason
from herk.core.dae import Array
from herk.integrate.callables import Bound
from herk.integrate.options import Request
from herk.integrate.steppers.half_explicit import layout
from herk.integrate.steppers.half_explicit.kernels import CONSTANTS, is_small, kernel_text
from herk.integrate.steppers.half_explicit.layout import ROW_KERNEL, ROW_ORDER, ROW_STAGE, HalfExplicit
from herk.integrate.steppers.half_explicit.restart import Beginning
from herk.integrate.steppers.half_explicit.sample import sample
from herk.integrate.steppers.half_explicit.stepper import PROGRAM, foreseen
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.integrate.steps import RANK_LOST, Loop
from herk.jit.native import build as compile_text
from herk.jit.native import passed
from herk.jit.state import address_of
from herk.linalg.selection import select
from herk.model.evaluate import Linearisation

STAGE_CODE = ("complete", "rate", "residual")
CLOSELY = 1e-9  # part of the span: the last steps before a point at which E is singular
COUNTERS = ("nfev", "ngev", "njev", "nlu", "nit")
SINGULAR_BRANCH = (
    Reason.SINGULAR,
    "the constraints become singular: two of their solutions meet, or one goes to infinity",
)
CAUSES = {
    layout.OK: (Reason.STEP_UNDERFLOW, "the error estimate asks for ever smaller steps"),
    layout.NO_CONVERGENCE: (
        Reason.NEWTON,
        "the constraints could not be solved for the algebraic components, however short the step",
    ),
    layout.SINGULAR: (Reason.SINGULAR, "E y' = f could not be solved for the derivatives"),
    layout.E_CHANGED: (
        Reason.SINGULAR,
        "E changed its structure and its derivatives are no longer determined",
    ),
    layout.OVERTURNED: (
        Reason.SINGULAR,
        "E, or [E; dg/dy], becomes singular: behind it E y' = f has other solutions, or none",
    ),
    layout.BRANCH: SINGULAR_BRANCH,
    layout.TURNED: SINGULAR_BRANCH,
    layout.ROUGH: (Reason.STEP_UNDERFLOW, "algebraic components change ever faster: a pole, or a jump"),
    layout.NONFINITE: (
        Reason.NONFINITE,
        "the right-hand side or the constraints gave values that are not finite, however short the step",
    ),
}


@dataclass
class Machine:
    """A stepper at work. One machine serves one run at a time; the code of a model is shared."""

    dae: Dae
    tableau: Tableau
    functions: Bound
    loop: Loop
    state: HalfExplicit
    required: tuple[int, ...]
    code: Code | None  # of a model
    asked: Request
    table: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    known: list[tuple[int, ...]] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)  # what the addresses in the table belong to
    costs: dict[Any, Any] = field(default_factory=dict)  # of steps, by selections, once they were found out
    written_out: bool = False  # kernels with sums written out are in use
    beginning: Beginning | None = None

    @property
    def rtol(self) -> float:
        """Return the relative tolerance."""
        return self.asked.rtol

    @property
    def atol(self) -> Array:
        """Return the absolute tolerance of every component."""
        return self.asked.atol

    @property
    def degree(self) -> int:
        """Return the order between steps."""
        return self.tableau.order

    def first_selection(self, here: Linearisation) -> tuple[int, ...]:
        """Select algebraic components at the start; say so if the constraints are dependent."""
        state = self.state
        algebraic, found = select(
            here.dense().jac,
            self.required,
            cost=state.cost,
            size=state.size.copy(),
            floor=self.atol / self.rtol,
            threshold=state.threshold,
        )
        if found < self.dae.m:
            raise InputError(
                f"The {self.dae.m} constraints are not independent at the start: dg/dy has rank {found}. "
                "Leave out redundant rows of g, or start elsewhere."
            )
        return tuple(sorted(algebraic))

    def foreseen(self) -> bool:
        """Tell before the first step whether another method should be thought about."""
        return bool(PROGRAM[foreseen].call(self.loop.address))

    def serve(self) -> None:
        """Make the selection the compiled steps ask for."""
        self.slot(self.state.wanted.tolist())

    def slot(self, algebraic: Sequence[int]) -> int:
        """Return the row of the table for these algebraic components, made on first use."""
        algebraic = tuple(sorted(int(i) for i in algebraic))
        if algebraic not in self.known:
            self._add(algebraic)
        return self.known.index(algebraic)

    def spent(self, seconds: float, worth: float) -> None:
        """Note the time of compiled steps; change to kernels that are quicker once they pay."""
        if self.code is not None and not self.written_out:
            total = self.code.busy[self.tableau.mark] = self.code.busy.get(self.tableau.mark, 0.0) + seconds
            if total > worth:
                self.write_out()

    def write_out(self) -> None:
        """Change to kernels with all sums written out, where that is possible; same steps, faster."""
        if self.code is None or self.written_out or not is_small(self.dae.n, self.dae.m, self.tableau):
            return
        self.written_out = True
        for slot, algebraic in enumerate(self.known):
            self.table[slot, ROW_KERNEL] = self._kernel(algebraic)
            if slot == self.state.slot and not self.state.pending:
                self.state.kernel = self.table[slot, ROW_KERNEL]

    def between(self, t: Array, y: Array, slots: np.ndarray, times: Array, out: Array) -> int:
        """Write the states at times between the points y (by rows) at t; return how that ended.

        It works on a copy of the state: the run may go on meanwhile, and so may other threads.
        """
        words = self.state.elsewhere()
        branched = int(not self.loop.fixed)
        given = passed((t, y.reshape(-1), slots, times, branched, out.reshape(-1)))
        return int(PROGRAM[sample].call(address_of(words), *given))

    def reason(self, status: int) -> tuple[Reason, str]:
        """Return in words why a run ended."""
        if status == RANK_LOST:
            return Reason.SINGULAR, f"dg/dy lost rank: it no longer determines {self.dae.m} components"
        turns = abs(self.state.e_turns - self.loop.t) < CLOSELY * abs(self.asked.t1 - self.asked.t0)
        return CAUSES[layout.OVERTURNED if turns else self.loop.cause]

    def exhausted(self) -> str:
        """Say so if the steps are limited by stability."""
        from herk.integrate.stiffness import advice

        if self.loop.fixed:
            return ""
        try:
            return advice(self.dae, self.tableau, self.loop.t, self.state.y.copy(), self.state.h_last)
        except Exception:  # noqa: BLE001 - a user's function outside its domain; advice is not worth an error
            return ""

    def counts(self) -> dict[str, int]:
        """Return the counters of the run."""
        counted = self.state.numbers(COUNTERS)
        counted["nreject"] = self.loop.nreject
        return counted

    @property
    def residual(self) -> float:
        """Return the largest |g| at accepted points."""
        return self.state.worst_residual

    def notes(self) -> tuple[str, ...]:
        """Return what the user should know beside the result."""
        jumps, last = self.state.jumps, self.state.jump
        if not jumps:
            return ()
        often = "Once" if jumps == 1 else f"{jumps} times"
        return (
            f"{often}, the last time at t = {last!r}, a component whose derivative does not occur jumped; the"
            " run went on behind it.",
        )

    def remember(self) -> None:
        """Note how the machine is before its first step."""
        self.beginning = Beginning.of(self)

    def restart(self, asked: Request, values: Array | None) -> bool:
        """Put the machine at another start; False if all must be looked at again."""
        return self.beginning is not None and self.beginning.again(self, asked, values)

    def rewind(self) -> None:
        """Put the machine back to where it was remembered."""
        assert self.beginning is not None
        self.beginning.restore(self)

    def recipe(self, asked: Any) -> Any:
        """Return what makes the machine again elsewhere."""
        from herk.integrate.steppers.half_explicit.ready import Recipe

        return Recipe.of(asked, self)

    def places(self) -> list[tuple[float, Array]]:
        """Return times and points at which the user's functions were called last."""
        state = self.state
        points = (state.stage, state.new, state.y)
        return [(t, point) for point in points for t in (state.stage_t, self.loop.t)]

    def _add(self, algebraic: tuple[int, ...]) -> None:
        n, m = self.dae.n, self.dae.m
        row = np.zeros(ROW_ORDER + n, dtype=np.int64)
        differential = [i for i in range(n) if i not in algebraic]
        row[ROW_KERNEL] = self._kernel(algebraic)
        if self.code is not None:
            source = self.code.stage(algebraic, scalar=False)
            others = [i for i in algebraic if i not in source.guessed]
            order = [*differential, *source.guessed, *others]
            row[1:5] = len(differential), source.predicted, len(source.guessed), source.pivots
            row[ROW_STAGE : ROW_STAGE + 3] = self._stage(algebraic)
            self._room(source.work)
        else:
            predicted = [i for i in algebraic if i not in self.required]
            order = [*differential, *predicted, *(i for i in algebraic if i in self.required)]
            row[1:5] = len(differential), len(predicted), m, min(m, 1)
        row[ROW_ORDER:] = order
        self.table = np.vstack([self.table.reshape(-1, row.size), row])
        self.known.append(algebraic)
        self.state.bind("table", self.table)
        self.state.known = len(self.known)

    def _stage(self, algebraic: tuple[int, ...]) -> list[int]:
        """Return the addresses of the stage code."""
        natives = self._made(
            ("stage", algebraic), lambda code: code.stage(algebraic, scalar=False).text, STAGE_CODE
        )
        return [natives[name].entry for name in STAGE_CODE]

    def _kernel(self, algebraic: tuple[int, ...]) -> int:
        """Return the address of the kernel: for any size, or written out."""
        if not self.written_out:
            return self.state.any_size
        n, m, tableau = self.dae.n, self.dae.m, self.tableau

        def text(code: Code) -> str:
            return kernel_text(code.stage(algebraic, scalar=True), tableau, n, m, self.state.parameters.size)

        made = self._made(("kernel", algebraic, tableau.mark), text, ("kernel",))
        return int(made["kernel"].entry)

    def _made(self, key: Any, text: Callable[[Code], str], names: Sequence[str]) -> dict[str, Any]:
        """Return functions of the shared code, compiled on first use, and keep them alive."""
        code = self.code
        assert code is not None
        if key not in code.natives:
            code.natives[key] = compile_text(text(code), names, CONSTANTS, SHARED, PYTHON)
        self.kept.append(code.natives[key])
        return code.natives[key]

    def _room(self, work: int) -> None:
        """Lengthen the scratch memory if stage code needs more."""
        if work + 1 > self.state.work.size:
            self.state = self.state.enlarged("work", work + 1)
            self.connect()

    def connect(self) -> None:
        """Tell the loop where the state stands."""
        self.loop.own = self.state.address
        self.loop.bind("y", self.state.y)
