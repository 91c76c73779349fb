"""A DAE made ready to step: bound functions, memory, and the table of selections with the kernel of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np

from herk.core import Dae, InputError
from herk.core.cache import compiled_sources
from herk.core.dae import Array
from herk.core.jit import interpreted
from herk.core.pointers import address
from herk.method import drive, sample, step
from herk.method import memory as at
from herk.method.callables import Functions, bind
from herk.method.kernels import is_small, kernel_text
from herk.method.memory import Memory, allocate
from herk.method.options import Request
from herk.method.selection import select
from herk.method.signatures import KERNEL
from herk.method.tableau import Tableau
from herk.model import store
from herk.model.start import Linearisation, free_columns, jacobian

Kernel = Callable[..., int]
SPARSE_THRESHOLD = 0.1


@dataclass
class Machine:
    """What the loop works on. One machine serves one run; its kernels are shared through the cache on disk and in the process."""

    dae: Dae
    tableau: Tableau
    functions: Functions
    memory: Memory
    required: tuple[int, ...]
    generate: bool
    cost: np.ndarray  # how many constraints each component occurs in
    size: Array  # of each component at the start, and
    threshold: float  # see selection.eliminate
    kernels: list[Kernel] = field(default_factory=list)
    table: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    known: list[tuple[int, ...]] = field(default_factory=list)

    @property
    def advance(self) -> Callable[..., int]:
        """Return the stepping loop, compiled or interpreted as the functions are."""
        return drive.advance if self.functions.compiled else interpreted(drive.advance)

    @property
    def sampler(self) -> Callable[..., int]:
        """Return the evaluation between steps, likewise."""
        return sample.sample if self.functions.compiled else interpreted(sample.sample)

    def first_selection(self, jac: Array) -> tuple[int, ...]:
        """Select algebraic components at the start; say so if the constraints are dependent."""
        algebraic, rank = select(jac, self.required, cost=self.cost, size=self.size, threshold=self.threshold)
        if rank < self.dae.m:
            raise InputError(
                f"The {self.dae.m} constraints are not independent at the start: dg/dy has rank {rank}. "
                "Leave out redundant rows of g, or start elsewhere."
            )
        return tuple(sorted(algebraic))

    def slot(self, algebraic: Sequence[int]) -> int:
        """Return the row of the table for these algebraic components, made on first use."""
        algebraic = tuple(sorted(int(i) for i in algebraic))
        if algebraic not in self.known:
            self._add(algebraic)
        return self.known.index(algebraic)

    def _add(self, algebraic: tuple[int, ...]) -> None:
        n, m = self.dae.n, self.dae.m
        row = np.zeros(drive.ROW_ORDER + n, dtype=np.int64)
        if self.generate:
            kernel, order, header = self._generated_kernel(algebraic)
            self.kernels.append(kernel)  # keeps the address valid
            row[:5] = address(kernel, KERNEL), *header
        else:
            differential = [i for i in range(n) if i not in algebraic]
            predicted = [i for i in algebraic if i not in self.required]
            order = [*differential, *predicted, *(i for i in algebraic if i in self.required)]
            row[:5] = address(self.kernels[0], KERNEL), len(differential), len(predicted), m, m
        row[drive.ROW_ORDER :] = order
        self.table = np.vstack([self.table.reshape(-1, row.size), row])
        self.known.append(algebraic)

    def _generated_kernel(self, algebraic: tuple[int, ...]) -> tuple[Kernel, list[int], tuple[int, ...]]:
        module = load_kernel(self.dae, algebraic, self.tableau)
        algebraic, differential, guessed, predicted, pivots, work = module.LAYOUT
        order = [*differential, *guessed, *(i for i in algebraic if i not in guessed)]
        self._room(work)
        kernel = module.kernel if self.functions.compiled else interpreted(module.kernel)
        return kernel, order, (len(differential), predicted, len(guessed), pivots)

    def _room(self, work: int) -> None:
        """Lengthen the scratch memory if a kernel needs more."""
        missing = int(self.memory.ints[at.AT + at.WORK]) + work + 1 - self.memory.floats.size
        if missing > 0:
            self.memory = Memory(np.concatenate([self.memory.floats, np.zeros(missing)]), self.memory.ints)


def load_kernel(dae: Dae, algebraic: tuple[int, ...], tableau: Tableau) -> ModuleType:
    """Return the module with the generated kernel, from the cache where it is there."""
    generated = dae.generated
    assert generated is not None

    def write() -> str:
        source = generated.stage(algebraic, scalar=is_small(dae.n, dae.m, tableau))
        return kernel_text(source, tableau, dae.n, dae.m)

    parts = (compiled_sources(), generated.key, tableau.name, tableau.mark, *map(str, algebraic))
    return store.load(f"kernel_{'_'.join(parts)}", write)


def build(asked: Request, y: Array, here: Linearisation) -> Machine:
    """Bind the functions, classify E, allocate the memory; the first kernel is the one for callables."""
    dae, tableau, t = asked.dae, asked.tableau, asked.t0
    functions = bind(dae, interpret=asked.interpret)
    free = free_columns(here.E)
    rows, columns = np.flatnonzero(here.E.any(axis=1)), np.flatnonzero(here.E.any(axis=0))
    square = len(rows) == len(columns) and (not len(rows) or np.linalg.matrix_rank(here.E[np.ix_(rows, columns)]) == len(rows))
    memory = allocate(dae.n, dae.m, tableau, 0)
    ints, n = memory.ints, dae.n
    ints[at.AT_E : at.AT_G_T + 1] = [address(function) for function in functions.in_place]
    ints[at.HAVE_E], ints[at.HAVE_JACOBIAN], ints[at.HAVE_G_T] = callable(dae.E), functions.have_jacobian, functions.have_g_t
    if square:
        ints[at.E_RANK] = len(rows)
        ints[at.ORDER + 2 * n : at.ORDER + 2 * n + len(rows)] = rows
        ints[at.ORDER + 3 * n : at.ORDER + 3 * n + len(rows)] = columns
        ints[at.ORDER + n + np.array(free, dtype=int)] = 1
    memory.view(at.E_NOW, n * n)[:] = here.E.ravel()
    ints[at.E_MODE] = _e_mode(dae, here.E) if square else at.E_STACKED
    sparse = asked.selection == "sparse"
    numeric = step.kernel if functions.compiled else interpreted(step.kernel)
    return Machine(
        dae=dae, tableau=tableau, functions=functions, memory=memory, required=free if square else (),
        generate=asked.generate and dae.generated is not None, cost=_occurrences(dae, t, y),
        size=np.abs(y) if sparse else np.ones(n), threshold=SPARSE_THRESHOLD if sparse else 1.0, kernels=[numeric],
    )  # fmt: skip


def _occurrences(dae: Dae, t: float, y: Array) -> np.ndarray:
    """Return how many constraints each component occurs in: known for models, otherwise from dg/dy near the start."""
    if dae.generated is not None:
        return np.array(dae.generated.structure.sum(axis=0), dtype=np.int64)
    pattern = np.zeros((dae.m, dae.n), dtype=bool)
    for shift in (0.0, 1e-3, -2e-3):  # at the start itself derivatives may vanish by chance
        try:
            pattern |= np.abs(jacobian(dae, t, y + shift * (np.abs(y) + 1e-2) * np.linspace(1.0, 2.0, dae.n))) > 1e-9
        except Exception:  # noqa: BLE001, S112 - outside the domain of g; the pattern is advice only
            continue
    return np.array(pattern.sum(axis=0), dtype=np.int64)


def _e_mode(dae: Dae, E: Array) -> int:
    if callable(dae.E) and not getattr(dae.generated, "constant_E", False):
        return at.E_VARYING
    return at.E_DIAGONAL if not (E - np.diag(np.diag(E))).any() else at.E_CONSTANT
