"""What Radau holds of a large system: patterns, rows that E can give, factors at work and to begin with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from herk.core.dae import Array
from herk.integrate.steppers.radau.layout import Radau
from herk.jit.state import Wholes
from herk.linalg.pattern import Pattern
from herk.linalg.sparse_complex import ComplexLU
from herk.linalg.sparse_lu import SparseLU
from herk.linalg.sparse_selection import Selector


@dataclass
class Structure:
    """What is known of the matrices of a large system: their patterns, and the rows that E can give.

    `partner` has for each unknown the row of E y' = f that stands for its derivative, -1 if there is none.
    """

    whole: Pattern  # [E, (E y' - f)_y; g_y]
    masses: Wholes  # 1 for entries of E and g_y
    parts: Mapping[str, Pattern]  # E, jac_f, jac_Ey, jac_g
    partner: Wholes
    selector: Selector


@dataclass
class Held:
    """The factors at work; the state has their addresses."""

    masses: SparseLU | None = None
    step: SparseLU | None = None
    end: SparseLU | None = None
    pairs: list[ComplexLU] = field(default_factory=list)

    def copy(self, state: Radau) -> Held:
        """Return the same in other memory, which this state is told of."""
        made = Held(self.masses and self.masses.copy(), self.step and self.step.copy())
        made.end, made.pairs = self.end and self.end.copy(), [pair.copy() for pair in self.pairs]
        for pair in made.pairs:
            assert made.step is not None
            pair.real = made.step.address
        made.enter(state)
        return made

    def enter(self, state: Radau) -> None:
        """Tell a state where the factors are."""
        state.of_masses, state.of_step, state.of_end = (
            0 if factors is None else factors.address for factors in (self.masses, self.step, self.end)
        )
        state.of_pairs[: len(self.pairs)] = [pair.address for pair in self.pairs]


@dataclass
class First:
    """Rows and orders of pivots found at the first start, and the units of unknowns they were found with.

    Compiled code looks whether they are good enough for the values of a run, and asks for others if not.
    """

    rows: Wholes
    held: Held
    unit: Array | None = None

    def put(self, state: Radau) -> Held:
        """Let a state begin with them."""
        held = replace(self.held, pairs=list(self.held.pairs))
        if self.unit is not None:
            state.unit[:] = self.unit
        held.enter(state)
        return held
