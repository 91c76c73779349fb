"""The two-bit adder by two families: BDF on balances written as arrays, Radau on the formulas of the model.

python -m testset.extended.adder [RTOL]: the digits to which both agree with each other and with what is
stored, in a few minutes. Both begin anew at the corners of the inputs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import herk
import testset
from herk.core.dae import Array
from testset import two_bit_adder as adder
from testset.make_references import digits, say
from testset.mosfet import BUILT_IN, DELTA, THERMAL

TINY = 1e-30  # of a complex step, which gives derivatives without differences
BEND = 1e-7  # of a difference of such derivatives
SUPPLY = adder.NODES + 1
GIVEN = {"ground": adder.NODES, "supply": SUPPLY} | {u: SUPPLY + 1 + i for i, u in enumerate(adder.INPUTS)}
RG, RB, CG, CB, COUT, LEAK, VBB, DELTA_, THERMAL_, BUILT_IN_ = map(
    float,
    (
        *(adder.RG, adder.RB, adder.CG, adder.CB, adder.COUT, adder.LEAK, adder.VBB),
        *(DELTA, THERMAL, BUILT_IN),
    ),
)


class Circuit:
    """Charges and currents of all rows at potentials (175,) or, to be quick, at several as columns."""

    def __init__(self, slip: bool = False) -> None:
        """Number the wires: nodes first, then what is given."""
        parts = adder.transistors(slip)
        self.gate, self.source, self.drain = np.array([[*map(place, p.wires)] for p in parts]).T
        self.inner = np.array([p.first - 1 for p in parts]) + np.arange(4)[:, None]
        laws = [p.channel for p in parts]
        self.law = np.array([[c.threshold, c.gamma, c.phi, c.forward] for c in laws], dtype=float).T
        self.stray = {i: p.stray - 1 for i, p in enumerate(parts) if p.stray is not None}
        self.joined = np.eye(adder.NODES)
        self.joined = self._joined()

    def _joined(self) -> Array:
        """Return which balances each row adds up: those of the nodes around, too, where no charge is left."""
        unit, rows = np.eye(adder.NODES), np.eye(adder.NODES)
        capacities = slope(self.charges, np.array(adder.start()[: adder.NODES]), unit)
        ends = ((0, self.gate), (1, self.gate), (2, self.source), (3, self.drain))
        for node in range(adder.NODES):
            around = [pin for k, wires in ends for pin in self.inner[k][wires == node]]
            row = unit[node] + unit[around].sum(axis=0)
            if around and np.abs(row @ capacities).max() < 1e-12:
                rows[node] = row
        return rows

    def wires(self, v: Array, inputs: Array) -> Array:
        """Return the potentials of all wires."""
        given = column(np.array([0.0, adder.VDD, *inputs]), v)
        return np.concatenate([v, np.broadcast_to(given, (len(given), *v.shape[1:]))])

    def charges(self, v: Array) -> Array:
        """Return the charge of every row."""
        u = self.wires(v, np.zeros(len(adder.INPUTS)))  # charges at inputs are counted from ground
        out = np.zeros_like(u)
        outputs = np.array(list(adder.OUTPUTS)) - 1
        out[outputs] += COUT * u[outputs]
        for pins in self.inner[:2]:
            charge = CG * (u[pins] - u[self.gate])
            out[pins] += charge
            np.add.at(out, self.gate, -charge)
        for pins, wires in ((self.inner[2], self.source), (self.inner[3], self.drain)):
            over = u[pins] - u[wires]
            counted = np.where(column(wires == SUPPLY, v), u[pins], over)
            own = counted.copy()
            for i, other in self.stray.items() if wires is self.drain else ():
                own[i] = u[pins[i]] - u[other]
            out[pins] += junction(over) * own
            np.add.at(out, wires, -junction(over) * counted)
        return np.asarray(self.joined @ out[: adder.NODES])

    def currents(self, v: Array, inputs: Array, slopes: Array) -> Array:
        """Return the current into every row."""
        u = self.wires(v, inputs)
        out, push = np.zeros_like(u), np.zeros(len(u))
        push[SUPPLY + 1 :] = slopes
        s, d, bs, bd = (u[pins] for pins in self.inner)
        source, drain, gate = u[self.source], u[self.drain], u[self.gate]
        channel = self.channel(d - s, gate - s, bs - source, gate - d, bd - drain)
        for pin, own, other, wires, sign in ((0, s, source, self.source, -1), (1, d, drain, self.drain, 1)):
            current = (other - own) / RG
            out[self.inner[pin]] += current + sign * channel + column(CG * push[self.gate], v)
            np.add.at(out, wires, -current)
        for pin, own, other, wires in ((2, bs, source, self.source), (3, bd, drain, self.drain)):
            leak = diode(own - other)
            out[self.inner[pin]] += (VBB - own) / RB + leak
            np.add.at(out, wires, -leak)
        return np.asarray(self.joined @ out[: adder.NODES])

    def channel(self, vds: Array, vgs: Array, vbs: Array, vgd: Array, vbd: Array) -> Array:
        """Return the currents from drain to source, case by case."""
        threshold, gamma, phi, gain = (column(each, vds) for each in self.law)
        ahead = vds.real >= 0
        size, below = np.where(ahead, vds, -vds), np.where(ahead, vbs, vbd)
        over = np.where(ahead, vgs, vgd) - threshold - gamma * (np.sqrt(phi - below) - np.sqrt(phi))
        flow = np.where(over.real <= size.real, over**2, size * (2 * over - size))
        flow = np.where(over.real <= 0, 0, flow)
        return np.asarray(np.where(ahead, -1, 1) * gain * (1 + DELTA_ * size) * flow)


def place(wire: adder.Wire) -> int:
    """Return the number of a wire."""
    return wire - 1 if isinstance(wire, int) else GIVEN[wire]


def column(values: Array, like: Array) -> Array:
    """Return values that stand beside one state or several."""
    return values.reshape(-1, *[1] * (like.ndim - 1))


def junction(v: Array) -> Array:
    """Return the capacities of junctions."""
    below = v.real <= 0
    bent = CB / np.sqrt(1 - np.where(below, v, 0) / BUILT_IN_)
    return np.asarray(np.where(below, bent, CB * (1 + v / (2 * BUILT_IN_))))


def diode(v: Array) -> Array:
    """Return the currents of junctions."""
    below = v.real <= 0
    return np.asarray(np.where(below, -LEAK * (np.exp(np.where(below, v, 0) / THERMAL_) - 1), 0))


def slope(function: Callable[[Array], Array], v: Array, direction: Array) -> Array:
    """Return the derivative of a function in one direction or in several."""
    columns = v if direction.ndim == 1 else v[:, None]
    return np.asarray(function(columns + 1j * TINY * direction).imag / TINY)


class Stretch:
    """The equations between two corners, where inputs are straight lines."""

    def __init__(self, circuit: Circuit, begin: float, end: float) -> None:
        """Read the inputs in the middle."""
        self.charges, self.circuit, self.begin, self.middle = (
            circuit.charges,
            circuit,
            begin,
            (begin + end) / 2,
        )
        self.level, self.slopes = np.array([p.left(self.middle) for p in adder.INPUTS.values()]).T

    def currents(self, t: Any, v: Array) -> Array:
        """Return the current into every row."""
        return self.circuit.currents(v, self.level + self.slopes * (t - self.middle), self.slopes)

    def matrices(self, t: float, v: Array) -> tuple[Array, Array]:
        """Return the derivatives of charges and currents."""
        unit = np.eye(len(v))
        return slope(self.charges, v, unit), slope(lambda w: self.currents(t, w), v, unit)

    def residual(self, t: float, v: Array, dv: Array, out: Array) -> None:
        """Write charge per time minus current."""
        out[:] = slope(self.charges, v, dv) - self.currents(t, v)

    def jacobian(self, t: float, v: Array, dv: Array, _: Array, c: float, out: Array) -> None:
        """Write the derivative of the residual: capacities change along dv."""
        unit, (C, J) = np.eye(len(v)), self.matrices(t, v)
        ahead, behind = (slope(self.charges, v + side * BEND * dv, unit) for side in (1, -1))
        out[:] = c * C - J + (ahead - behind) / (2 * BEND)

    def rates(self, v: Array) -> Array:
        """Return dv at the beginning; rows without charge are differentiated."""
        C, J = self.matrices(self.begin, v)
        right, empty = self.currents(self.begin, v), ~C.any(axis=1)
        C[empty] = J[empty]
        right[empty] = -self.currents(self.begin + 1j * TINY, v).imag[empty] / TINY
        return np.asarray(np.linalg.solve(C, right))


def by_ida(rtol: float, t_end: float = 320.0) -> Array:
    """Return the potentials at the end by BDF."""
    from sksundae.ida import IDA

    circuit, v = Circuit(), np.array(adder.start()[: adder.NODES])
    empty = np.flatnonzero(~slope(circuit.charges, v, np.eye(len(v))).any(axis=1))
    corners = sorted({0.0, t_end, *adder.breakpoints(t_end)})
    for begin, end in pairwise(corners):
        part = Stretch(circuit, begin, end)
        options = {"jacfn": part.jacobian, "algebraic_idx": empty, "max_num_steps": 100000}
        found = IDA(part.residual, rtol=rtol, atol=rtol, **options).solve([begin, end], v, part.rates(v))
        if not found.success:
            raise ArithmeticError(f"IDA stopped at t = {found.t[-1]}: {found.message}")
        v = found.y[-1]
    return v


def by_radau(rtol: float, t_end: float = 320.0) -> Array:
    """Return the potentials at the end by Radau IIA of order 5."""
    problem = testset.get("two_bit_adder", t_end=t_end)
    found = herk.solve_dae(problem, method="radau5", rtol=rtol, atol=rtol, t_eval=[0.0, t_end])
    if not found.success:
        raise ArithmeticError(found.message)
    return np.asarray(found.y[: adder.NODES, -1])


def main() -> int:
    """Compare."""
    rtol = float(sys.argv[1]) if len(sys.argv) > 1 else 1e-10
    problem = testset.get("two_bit_adder")
    groups = {name: places for name, places in problem.groups.items() if name != "inputs"}
    bdf, radau = by_ida(rtol), by_radau(rtol)
    assert problem.reference is not None
    say(f"BDF and Radau agree to {digits(bdf, radau, groups):.1f} digits")
    agreed = digits(bdf, problem.reference.y, groups)
    say(f"BDF agrees with what is stored to {agreed:.1f} digits, {problem.reference.digits:g} are claimed")
    return int(agreed < problem.reference.digits)


if __name__ == "__main__":
    sys.exit(main())
