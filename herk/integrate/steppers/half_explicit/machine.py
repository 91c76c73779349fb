"""A DAE made ready to step: bound functions, memory, and the table of selections with the code of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from herk.codegen.native import build as compile_text
from herk.codegen.scope import PYTHON, external
from herk.core import Dae, InputError
from herk.core.dae import Array
from herk.integrate import loop as drive
from herk.integrate.callables import Bound, bound
from herk.integrate.options import Request
from herk.integrate.steppers.half_explicit import memory as at
from herk.integrate.steppers.half_explicit import newton, rate, sample, step
from herk.integrate.steppers.half_explicit.kernels import is_small, kernel_text
from herk.integrate.steppers.half_explicit.memory import Memory, allocate
from herk.integrate.steppers.half_explicit.signatures import (
    COMPLETE,
    GENERAL_COMPLETE,
    GENERAL_RATE,
    GENERAL_RESIDUAL,
    KERNEL,
    RATE,
    RESIDUAL,
)
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.jit.pointers import address
from herk.linalg.selection import select
from herk.model.balance import rank
from herk.model.generated import Code
from herk.model.start import Linearisation, free_columns, jacobian

SPARSE_THRESHOLD = 0.1
CONSTANTS = {
    name: value for name, value in vars(at).items() if name.isupper() and isinstance(value, (int, float))
}


@dataclass
class Machine:
    """What the loop works on. One machine serves one run.

    The code of a model is shared through the process.
    """

    dae: Dae
    tableau: Tableau
    functions: Bound
    memory: Memory
    required: tuple[int, ...]
    code: Code | None  # of a model
    cost: np.ndarray  # how many constraints each component occurs in
    size: Array  # of each component at the start, and
    threshold: float  # see selection.eliminate
    rtol: float
    atol: Array
    branched: bool  # a change of branch rejects a step; fixed steps are taken as they are
    table: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    known: list[tuple[int, ...]] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)  # what the addresses in the table belong to
    written_out: bool = False  # kernels with sums written out are in use

    @property
    def advance(self) -> Callable[..., int]:
        """Return the stepping loop."""
        return drive.advance  # type: ignore[no-any-return]

    @property
    def sampler(self) -> Callable[..., int]:
        """Return the evaluation between steps."""
        return sample.sample  # type: ignore[no-any-return]

    def first_selection(self, jac: Array) -> tuple[int, ...]:
        """Select algebraic components at the start; say so if the constraints are dependent."""
        algebraic, found = select(
            jac,
            self.required,
            cost=self.cost,
            size=self.size,
            floor=self.atol / self.rtol,
            threshold=self.threshold,
        )
        if found < self.dae.m:
            raise InputError(
                f"The {self.dae.m} constraints are not independent at the start: dg/dy has rank {found}. "
                "Leave out redundant rows of g, or start elsewhere."
            )
        return tuple(sorted(algebraic))

    def slot(self, algebraic: Sequence[int]) -> int:
        """Return the row of the table for these algebraic components, made on first use."""
        algebraic = tuple(sorted(int(i) for i in algebraic))
        if algebraic not in self.known:
            self._add(algebraic)
        return self.known.index(algebraic)

    def spent(self, seconds: float, worth: float) -> None:
        """Note the time of compiled steps; change to kernels that are quicker once they pay."""
        if self.code is not None:
            total = self.code.busy[self.tableau.mark] = self.code.busy.get(self.tableau.mark, 0.0) + seconds
            if total > worth:
                self.write_out()

    def write_out(self) -> None:
        """Change to kernels with all sums written out, where that is possible.

        They take the same steps, faster.
        """
        if self.code is None or self.written_out or not is_small(self.dae.n, self.dae.m, self.tableau):
            return
        self.written_out = True
        for row, algebraic in zip(self.table, self.known, strict=True):
            if (
                row[drive.ROW_KERNEL] == self.memory.ints[at.KERNEL]
                and (row[drive.ROW_ORDER :] == self._order).all()
            ):
                self.memory.ints[at.KERNEL] = self._kernel(algebraic)
            row[drive.ROW_KERNEL] = self._kernel(algebraic)

    @property
    def _order(self) -> np.ndarray:
        return self.memory.ints[at.ORDER : at.ORDER + self.dae.n]

    def _add(self, algebraic: tuple[int, ...]) -> None:
        n, m = self.dae.n, self.dae.m
        row = np.zeros(drive.ROW_ORDER + n, dtype=np.int64)
        differential = [i for i in range(n) if i not in algebraic]
        if self.code is not None:
            source = self.code.stage(algebraic, scalar=False)
            others = [i for i in algebraic if i not in source.guessed]
            order = [*differential, *source.guessed, *others]
            row[:5] = (
                self._kernel(algebraic),
                len(differential),
                source.predicted,
                len(source.guessed),
                source.pivots,
            )
            row[drive.ROW_STAGE : drive.ROW_STAGE + 3] = self._stage(algebraic)
            self._room(source.work)
        else:
            predicted = [i for i in algebraic if i not in self.required]
            order = [*differential, *predicted, *(i for i in algebraic if i in self.required)]
            row[:5] = address(step.kernel, KERNEL), len(differential), len(predicted), m, m
            row[drive.ROW_STAGE : drive.ROW_STAGE + 3] = (
                address(newton.complete, GENERAL_COMPLETE),
                address(rate.rate, GENERAL_RATE),
                address(newton.residual, GENERAL_RESIDUAL),
            )
        row[drive.ROW_ORDER :] = order
        self.table = np.vstack([self.table.reshape(-1, row.size), row])
        self.known.append(algebraic)

    def _stage(self, algebraic: tuple[int, ...]) -> list[int]:
        """Return the addresses of the stage code."""
        assert self.code is not None
        signatures = {"complete": COMPLETE, "rate": RATE, "residual": RESIDUAL}
        natives = self._made(
            ("stage", algebraic), lambda code: code.stage(algebraic, scalar=False).text, signatures
        )
        return [natives[name].address for name in signatures]

    def _kernel(self, algebraic: tuple[int, ...]) -> int:
        """Return the address of the kernel: for any size, or written out."""
        if not self.written_out:
            return address(step.kernel, KERNEL)
        n, m, tableau = self.dae.n, self.dae.m, self.tableau

        def text(code: Code) -> str:
            return kernel_text(code.stage(algebraic, scalar=True), tableau, n, m, self._parameters)

        return self._made(("kernel", algebraic, tableau.mark), text, {"kernel": KERNEL})["kernel"].address  # type: ignore[no-any-return]

    @property
    def _parameters(self) -> int:
        places = self.memory.ints[at.AT :]
        return int(places[at.WORK] - places[at.PARAMETERS])

    def _made(self, key: Any, text: Callable[[Code], str], signatures: dict[str, str]) -> dict[str, Any]:
        """Return functions of the shared code, compiled on first use, and keep them alive."""
        code = self.code
        assert code is not None
        if key not in code.natives:
            code.natives[key] = compile_text(text(code), signatures, CONSTANTS, external(), PYTHON)
        self.kept.append(code.natives[key])
        return code.natives[key]

    def _room(self, work: int) -> None:
        """Lengthen the scratch memory if stage code needs more."""
        missing = int(self.memory.ints[at.AT + at.WORK]) + work + 1 - self.memory.floats.size
        if missing > 0:
            self.memory = Memory(np.concatenate([self.memory.floats, np.zeros(missing)]), self.memory.ints)


def build(asked: Request, y: Array, here: Linearisation) -> Machine:
    """Bind the functions, classify E, allocate the memory."""
    dae, tableau, t = asked.dae, asked.tableau, asked.t0
    functions = bound(dae)
    free = free_columns(here.E)
    rows, columns = np.flatnonzero(here.E.any(axis=1)), np.flatnonzero(here.E.any(axis=0))
    square = len(rows) == len(columns) and (not len(rows) or rank(here.E[np.ix_(rows, columns)]) == len(rows))
    code = getattr(dae.generated, "code", None) if asked.generate else None
    memory = allocate(dae.n, dae.m, tableau, 0, getattr(dae.generated, "parameters", None))
    ints, n = memory.ints, dae.n
    ints[at.GENERAL], ints[at.ANY_SIZE] = code is None, address(step.kernel, KERNEL)
    ints[at.AT_E : at.AT_G_T + 1] = [function.address for function in functions.natives]
    ints[at.HAVE_E], ints[at.HAVE_JACOBIAN], ints[at.HAVE_G_T] = (
        callable(dae.E),
        functions.have_jacobian,
        functions.have_g_t,
    )
    if square:
        ints[at.E_RANK] = len(rows)
        ints[at.ORDER + 2 * n : at.ORDER + 2 * n + len(rows)] = rows
        ints[at.ORDER + 3 * n : at.ORDER + 3 * n + len(rows)] = columns
        ints[at.ORDER + n + np.array(free, dtype=int)] = 1
    memory.view(at.E_NOW, n * n)[:] = here.E.ravel()
    ints[at.E_MODE] = _e_mode(dae, here.E) if square else at.E_STACKED
    sparse = asked.selection == "sparse"
    return Machine(
        dae=dae,
        tableau=tableau,
        functions=functions,
        memory=memory,
        required=free if square else (),
        code=code,
        cost=_occurrences(dae, t, y),
        size=np.abs(y) if sparse else np.ones(n),
        threshold=SPARSE_THRESHOLD if sparse else 1.0,
        rtol=asked.rtol,
        atol=asked.atol,
        branched=asked.step is None,
    )


def _occurrences(dae: Dae, t: float, y: Array) -> np.ndarray:
    """Return how many constraints each component occurs in.

    Known for models, otherwise from dg/dy near the start.
    """
    if dae.generated is not None and dae.generated.structure is not None:
        return np.array(dae.generated.structure.sum(axis=0), dtype=np.int64)
    pattern = np.zeros((dae.m, dae.n), dtype=bool)
    for shift in (0.0, 1e-3, -2e-3):  # at the start itself derivatives may vanish by chance
        try:
            pattern |= (
                np.abs(jacobian(dae, t, y + shift * (np.abs(y) + 1e-2) * np.linspace(1.0, 2.0, dae.n))) > 1e-9
            )
        except Exception:  # noqa: BLE001, S112 - outside the domain of g; the pattern is advice only
            continue
    return np.array(pattern.sum(axis=0), dtype=np.int64)


def _e_mode(dae: Dae, E: Array) -> int:
    if callable(dae.E) and not getattr(dae.generated, "constant_E", False):
        return at.E_VARYING
    return at.E_DIAGONAL if not (E - np.diag(np.diag(E))).any() else at.E_CONSTANT
