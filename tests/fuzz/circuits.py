"""Linear circuits from pico to mega, solved exactly: a forced oscillation plus the modes of the pencil.

All is computed for elements of size one and then carried over to the units of the circuit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import eig

from tests.fuzz.member import Array, Member, Truth, pick, rng_of, with_settings
from tests.fuzz.units import permuted

STIFFEST = 150.0  # the fastest mode times the span
FINITE = (
    1e5  # modes of elements of size one are far below; infinite ones of index 2 come out near 1/sqrt(eps)
)


@dataclass
class Net:
    """A circuit by nodal analysis: a row per node, then one per inductor and voltage source."""

    nodes: int
    elements: list[tuple[str, int, int, float]] = field(
        default_factory=list
    )  # kind, from, to (-1 is ground), value

    def add(self, kind: str, a: int, b: int, value: float) -> None:
        """Put an element between two nodes."""
        self.elements.append((kind, a, b, value))

    @property
    def branches(self) -> list[int]:
        """Return the elements whose current is an unknown."""
        return [k for k, (kind, *_) in enumerate(self.elements) if kind in "LV"]

    @property
    def size(self) -> int:
        """Return the number of unknowns."""
        return self.nodes + len(self.branches)


def ladder(rng: np.random.Generator) -> tuple[Net, str]:
    """Return a ladder fed by a voltage source, also in a CV loop, or by a current source into an inductor."""
    sections, feed = int(rng.integers(1, 4)), pick(rng, ("V", "V loop", "I cutset"))
    net = Net(sections + 1)
    net.add("I" if feed == "I cutset" else "V", 0, -1, 1.0)
    if feed == "V loop":
        net.add("C", 0, -1, _value(rng))
    for k in range(sections):
        series = "L" if feed == "I cutset" and k == 0 else pick(rng, ("R", "R", "L"))
        net.add(series, k, k + 1, _value(rng))
        shunt = pick(rng, ("C", "C", "R", "RC"))
        for kind in shunt:
            net.add(kind, k + 1, -1, _value(rng))
    net.add("R", sections, -1, _value(rng))
    return net, f"{feed} ladder of {sections}"


def _value(rng: np.random.Generator) -> float:
    return float(f"{10 ** rng.uniform(-0.5, 0.5):.2g}")


def matrices(net: Net) -> tuple[Array, Array, Array]:
    """Return E, A, b for elements of size one; the input is the voltage or current of the source."""
    E, A, b = np.zeros((net.size, net.size)), np.zeros((net.size, net.size)), np.zeros(net.size)
    for k, (kind, p, q, value) in enumerate(net.elements):
        ends = [(p, 1.0), (q, -1.0)]
        row = net.nodes + net.branches.index(k) if kind in "LV" else -1
        for i, s in ((i, s) for i, s in ends if i >= 0):
            if kind == "I":
                b[i] += s  # the source drives its current into the first node
            elif kind in "LV":
                A[i, row] -= s  # its current leaves the first node
                A[row, i] += s
            for j, r in ((j, r) for j, r in ends if j >= 0 and kind in "RC"):
                (E if kind == "C" else A)[i, j] += s * r * value if kind == "C" else -s * r / value
        if kind == "L":
            E[row, row] += value
        elif kind == "V":
            b[row] -= 1.0
    return E, A, b


def exact(E: Array, A: Array, b: Array, w: float, weights: Array) -> tuple[Truth, Array]:
    """Return the solution for the input sin(w t) with these weights of the modes, and their rates."""
    forced = np.linalg.solve(1j * w * E - A, b)
    values, vectors = eig(A, E)
    with np.errstate(invalid="ignore"):
        finite = np.isfinite(values) & (np.abs(values) < FINITE)
    rates, modes = values[finite], vectors[:, finite]
    modes = modes * weights[: len(rates)]

    def truth(times: Array) -> Array:
        times = np.asarray(times, dtype=float)
        free = modes @ np.exp(np.outer(rates, times)) if len(rates) else 0.0
        return np.imag(np.outer(forced, np.exp(1j * w * times))) + np.real(free)

    return truth, rates


def make(seed: int) -> Member:
    """Return the circuit of this seed."""
    rng = rng_of("circuits", seed)
    net, kind = ladder(rng)
    E, A, b = matrices(net)
    w = float(f"{rng.uniform(0.5, 6):.3g}")
    simple, rates = exact(E, A, b, w, rng.uniform(-0.5, 0.5, net.size))
    span = float(min(6.0, STIFFEST / max(1.0, np.abs(rates).max(initial=1.0))))
    volt, ohm, second = (
        10.0 ** int(k) for k in (rng.integers(-3, 4), rng.integers(0, 7), rng.integers(-9, 1))
    )
    units = np.array([volt] * net.nodes + [volt / ohm] * len(net.branches))

    def truth(times: Array) -> Array:
        return simple(np.asarray(times) / second) * units[:, None]

    grid = truth(np.linspace(0, span * second, 201))
    names, texts_E, texts_f, parameters = texts(net, volt, ohm, second, w)
    y0: list[float | None] = [float(v) for v in grid[:, 0]]
    sources = [i for i, k in enumerate(net.branches, net.nodes) if net.elements[k][0] == "V"]
    if sources and rng.random() < 0.4:
        y0[sources[0]] = None
    member = Member(
        "circuits",
        kind,
        seed,
        names,
        texts_E,
        texts_f,
        (0.0, span * second),
        tuple(y0),
        tuple(float(s) or float(u) for s, u in zip(np.abs(grid).max(axis=1), units, strict=True)),
        truth,
        parameters,
    )
    return with_settings(permuted(member, rng) if rng.random() < 0.5 else member, rng)


def texts(
    net: Net, volt: float, ohm: float, second: float, w: float
) -> tuple[tuple[str, ...], tuple, tuple, dict[str, float]]:
    """Return the circuit as a user would write it, its values as named parameters."""
    scale = {"R": ohm, "C": second / ohm, "L": ohm * second}
    parameters = {
        f"{kind}{k}": float(f"{value * scale[kind]:.12g}")
        for k, (kind, _, _, value) in enumerate(net.elements)
        if kind in scale
    }
    parameters |= {"amplitude": volt if net.elements[0][0] == "V" else volt / ohm, "omega": w / second}
    names = [f"u{i}" for i in range(net.nodes)] + [f"i{k}" for k in net.branches]
    E = [["0"] * net.size for _ in range(net.size)]
    f = [""] * net.size
    for k, (kind, p, q, _) in enumerate(net.elements):
        row = net.nodes + net.branches.index(k) if kind in "LV" else -1
        drop = f"u{p}" if q < 0 else f"(u{p} - u{q})"
        for i, s in ((i, s) for i, s in ((p, 1), (q, -1)) if i >= 0):
            sign, contrary = ("-", "+") if s > 0 else ("+", "-")
            if kind == "R":
                f[i] += f" {sign} {drop}/R{k}"
            elif kind in "LV":
                f[i] += f" {sign} i{k}"
            elif kind == "I":
                f[i] += f" {contrary} amplitude*sin(omega*t)"
            else:
                _stamp(E, i, f"C{k}", [(p, s), (q, -s)])
        if kind == "L":
            E[row][row], f[row] = f"L{k}", drop
        elif kind == "V":
            f[row] = f"{drop} - amplitude*sin(omega*t)"
    return tuple(names), tuple(map(tuple, E)), tuple(text.strip() or "0" for text in f), parameters


def _stamp(E: list[list[str]], i: int, name: str, ends: list[tuple[int, int]]) -> None:
    for j, s in ends:
        if j >= 0:
            text = f"{'+' if s > 0 else '-'}{name}"
            E[i][j] = text.lstrip("+") if E[i][j] == "0" else E[i][j] + text
