"""Two-bit adder of 39 MOSFETs in ten gates: 175 potentials and five inputs, index 1, state-dependent C.

C(y) y' = f(t, y) is the sum of the currents into every node. Charges of a MOSFET sit at its inner nodes and,
with the other sign, at its gate, source and drain: at a node without a capacity of its own the balance of the
node and of the inner nodes attached to it holds no charge, and is a constraint. The rows of those nodes are
written as that balance, so that rows of zeros show the 16 constraints. Inputs are unknowns with equations of
their own, because sympy takes long to unfold conditions on pieces; published programs insert them.

Every published program has a slip in the charge of its NOR gates (`slip=True`). With it three constraints are
lost and some states are unstable: at t = 30 a perturbation oscillates and grows by exp(2900 t), so that only
long steps of strongly damping methods pass, and no solution is known to more digits than they agree to.
Without the slip no perturbation grows faster than exp(0.05 t), and the solution ends within 3e-5 of the
published one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import sympy as sp
from sympy import Rational

from herk.core import Problem
from herk.model.entries import t
from herk.model.model import Model
from testset.mosfet import Transistor, diode, junction
from testset.pulses import Pulse
from testset.stored import FOLDER, stored

TAGS = (
    "index1",
    "circuit",
    "nonlinear",
    "stiff",
    "discontinuous",
    "state_dependent_mass",
    "further",
    "large",
)
SOURCE = "M. Günther; Test Set for IVP Solvers (CWI/Bari), problem tba (charges eliminated)"
NODES = 175
OUTPUTS = {49: "lower bit of the sum", 130: "upper bit of the sum", 148: "carry"}  # nodes, counted from 1
RG, RB, CG, CB, COUT = map(Rational, ("8e-4", "2e-3", "0.6", "0.24", "2"))
VDD, VBB, LEAK = 5, Rational("-2.5"), Rational("5e-11")
DEPLETION = Transistor(*map(Rational, ("-2.43", "0.2", "1.28", "2.675", "2.675")))
# Both bits of two numbers, inverted, and the carry from below.
INPUTS = {
    name: Pulse(5, (str(wait), "5", str(high), "5", "5"))
    for name, wait, high in (("A0", 0, 5), ("B0", 10, 15), ("A1", 30, 35), ("B1", 70, 75), ("CIN", 150, 155))
}
Wire = int | Literal["ground", "supply", "A0", "B0", "A1", "B1", "CIN"]  # a node, or what is given
V = sp.symbols(f"v1:{NODES + 1}", real=True)
U = dict(zip(INPUTS, sp.symbols(" ".join(INPUTS), real=True), strict=True))


@dataclass(frozen=True)
class Mosfet:
    """A transistor whose four inner nodes begin with `first`: source, drain, and the substrate by either.

    `series` tells how many are in series with it, which makes it wider; 0 is the load of a gate. `stray`: its
    last junction's charge is multiplied by the voltage to this node, the slip in the published programs.
    """

    first: int
    gate: Wire
    source: Wire
    drain: Wire
    series: int = 0
    stray: int | None = None

    @property
    def wires(self) -> tuple[Wire, Wire, Wire]:
        """Return what its gate, source and drain are joined to."""
        return self.gate, self.source, self.drain

    @property
    def channel(self) -> Transistor:
        """Return the law of its current."""
        gain = Rational("8.74") * self.series
        return Transistor(*map(Rational, ("0.2", "0.035", "1.01")), gain, gain) if self.series else DEPLETION


def load(i: int) -> Mosfet:
    """Return the transistor between supply and result of the gate whose nodes begin with i."""
    return Mosfet(i, i + 4, i + 4, "supply")


def nor(i: int, a: Wire, b: Wire, slip: bool = False) -> list[Mosfet]:
    """Return NOT (a OR b), with the result at node i + 4 like all gates."""
    side = Mosfet(i + 5, a, "ground", i + 4, 1)
    return [load(i), side, Mosfet(i + 9, b, "ground", i + 4, 1, stray=i + 14 if slip else None)]


def and_or_invert(i: int, a: Wire, b: Wire, c: Wire) -> list[Mosfet]:
    """Return NOT (a OR (b AND c))."""
    series = [Mosfet(i + 9, b, i + 13, i + 4, 2), Mosfet(i + 14, c, "ground", i + 13, 2)]
    return [load(i), Mosfet(i + 5, a, "ground", i + 4, 1), *series]


def nand(i: int, a: Wire, b: Wire) -> list[Mosfet]:
    """Return NOT (a AND b)."""
    return [load(i), Mosfet(i + 5, a, i + 9, i + 4, 2), Mosfet(i + 10, b, "ground", i + 9, 2)]


def or_and_invert(i: int, a: Wire, b: Wire, c: Wire) -> list[Mosfet]:
    """Return NOT (a AND (b OR c))."""
    return [*nand(i, a, b), Mosfet(i + 14, c, "ground", i + 9, 2)]


def transistors(slip: bool = False) -> list[Mosfet]:
    """Return the wiring: ten gates, and three transistors in series that also pull down the carry."""
    return [
        *nor(1, "A0", "B0", slip),
        *and_or_invert(14, 5, "B0", "A0"),
        *nor(32, 18, "CIN", slip),
        *and_or_invert(45, 36, "CIN", 18),
        *and_or_invert(63, 5, "CIN", 18),
        *nor(81, "A1", "B1", slip),
        *and_or_invert(94, 85, "B1", "A1"),
        *nand(112, 67, 98),
        *or_and_invert(126, 116, 67, 98),
        *and_or_invert(144, 85, 5, 98),
        Mosfet(162, 98, 166, 148, 3),
        Mosfet(167, 18, 171, 166, 3),
        Mosfet(172, "CIN", "ground", 171, 3),
    ]


class Balances:
    """Charges and currents of every node, summed over the parts of the circuit."""

    def __init__(self) -> None:
        """Begin with the capacities at the outputs."""
        self.given: dict[Any, Any] = {"ground": sp.S.Zero, "supply": sp.Integer(VDD)}
        self.given |= U
        self.slopes = {name: pulse.slope() for name, pulse in INPUTS.items()}
        self.charge = {node: [COUT * V[node - 1]] if node in OUTPUTS else [] for node in range(1, NODES + 1)}
        self.current: dict[int, list[Any]] = {node: [] for node in range(1, NODES + 1)}
        self.attached: dict[Wire, list[int]] = {}

    def potential(self, wire: Wire) -> Any:
        """Return the potential of a node or of what is given."""
        return V[wire - 1] if isinstance(wire, int) else self.given[wire]

    def flow(self, wire: Wire, node: int, current: Any) -> None:
        """Let a current go from a wire into a node."""
        self.current[node].append(current)
        if isinstance(wire, int):
            self.current[wire].append(-current)

    def store(self, node: int, wire: Wire, charge: Any) -> None:
        """Put a charge between an inner node and the wire it is attached to."""
        self.charge[node].append(charge)
        self.attached.setdefault(wire, []).append(node)
        if isinstance(wire, int):
            self.charge[wire].append(-charge)

    def add(self, part: Mosfet) -> None:
        """Add a transistor."""
        names = range(part.first, part.first + 4)
        s, d, bs, bd = (V[node - 1] for node in names)
        gate, source, drain = map(self.potential, (part.gate, part.source, part.drain))
        channel = part.channel.current(d - s, gate - s, bs - source, gate - d, bd - drain)
        for node, wire, own, other in ((names[0], part.source, s, source), (names[1], part.drain, d, drain)):
            self.flow(wire, node, (other - own) / RG)
            # A charge is counted from ground where the gate is an input; the input's share is a current.
            over = gate if isinstance(part.gate, int) else 0
            self.store(node, part.gate, CG * (own - over))
            self.current[node].append(CG * self.slopes.get(str(part.gate), 0))
        self.current[names[0]].append(-channel)
        self.current[names[1]].append(channel)
        for node, wire, v in ((names[2], part.source, bs - source), (names[3], part.drain, bd - drain)):
            self.current[node].append((VBB - V[node - 1]) / RB)
            self.flow(wire, node, diode(v, LEAK))
            # The charge below the supply is counted from ground, as in the published program.
            self.store(node, wire, junction(v, CB) * (v if wire != "supply" else V[node - 1]))
        if part.stray is not None:
            self.charge[names[3]] = [junction(bd - drain, CB) * (bd - V[part.stray - 1])]

    def rows(self, node: int) -> tuple[Any, Any]:
        """Return charge and current of a node's equation.

        Those of attached nodes are included where that leaves no charge.
        """
        charge, current = sp.Add(*self.charge[node]), sp.Add(*self.current[node])
        around = self.attached.get(node, [])
        whole = sp.Add(charge, *(sp.Add(*self.charge[other]) for other in around))
        if around and whole == 0:
            return whole, sp.Add(current, *(sp.Add(*self.current[other]) for other in around))
        return charge, current


def equations(t_end: float, slip: bool = False) -> tuple[dict[tuple[int, int], Any], list[Any]]:
    """Return C, without its zeros, and f."""
    balances = Balances()
    for part in transistors(slip):
        balances.add(part)
    rows = [balances.rows(node) for node in range(1, NODES + 1)]
    C = {}
    for i, (charge, _) in enumerate(rows):
        for v in charge.free_symbols:
            C[i, V.index(v)] = charge.diff(v)
    return C, [current for _, current in rows] + [INPUTS[n].differentiable(t_end) - u for n, u in U.items()]


@cache
def start() -> tuple[float, ...]:
    """Return the published start: the circuit at rest, all inputs zero."""
    data = json.loads((FOLDER / "two_bit_adder.json").read_text(encoding="utf-8"))
    return (*map(float, data["start"]), *[0.0] * len(INPUTS))


@cache  # sympy takes seconds to arrange so many pieces
def _model(t_end: float, slip: bool) -> Model:
    states, entries = [*V, *U.values()], equations(t_end, slip)
    return Model("two_bit_adder", states, *entries, t=t, t_span=(0.0, t_end), y0=start())


def breakpoints(t_end: float) -> tuple[float, ...]:
    """Return the corners of all inputs."""
    return tuple({time for pulse in INPUTS.values() for time in pulse.breakpoints(t_end)})


def problem(t_end: float = 320.0, slip: bool = False) -> Problem:
    """Return the adder; the slopes of its inputs jump at the multiples of 5."""
    model = _model(t_end, slip)
    inner = {part.first + k for part in transistors() for k in range(4)}
    return Problem(
        name="two_bit_adder",
        title="Two-bit adder",
        t_span=model.t_span,
        y0=np.array(start()),
        source=SOURCE,
        model=model,
        reference=stored("two_bit_adder", t_end, slip=slip),
        groups={
            "outputs": tuple(node - 1 for node in OUTPUTS),
            "inner": tuple(sorted(node - 1 for node in inner)),
            "inputs": tuple(range(NODES, NODES + len(INPUTS))),
            "others": tuple(i for i in range(NODES) if i + 1 not in inner and i + 1 not in OUTPUTS),
        },
        tags=frozenset(TAGS),
        breakpoints=breakpoints(t_end),
    )
