"""Shichman and Hodges' MOSFET as formulas: current of the channel, currents and capacities of junctions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Piecewise, Rational, exp, sqrt

DELTA, THERMAL, BUILT_IN = Rational("0.02"), Rational("25.85"), Rational("0.87")


@dataclass(frozen=True)
class Transistor:
    """A channel: threshold of the gate, its dependence on the substrate, and the gains in both directions."""

    threshold: Rational
    gamma: Rational
    phi: Rational
    forward: Rational
    backward: Rational

    def current(self, vds: Any, vgs: Any, vbs: Any, vgd: Any, vbd: Any) -> Any:
        """Return the current from drain to source.

        With s = vds > 0 and o the voltage of the gate over the threshold it is -beta (1 + delta s) times 0 if
        o <= 0, o^2 if o <= s, and s (2 o - s) beyond, which is o+^2 - (o - s)+^2 in one formula. If s < 0,
        likewise in the other direction.
        """
        ahead, back = (
            v - self.threshold - self.gamma * (sqrt(self.phi - b) - sqrt(self.phi))
            for v, b in ((vgs, vbs), (vgd, vbd))
        )
        forward = self.forward * (1 + DELTA * vds) * (_square(ahead) - _square(ahead - vds))
        backward = self.backward * (1 - DELTA * vds) * (_square(back) - _square(back + vds))
        return Piecewise((0, vds < 0), (-1, True)) * forward + Piecewise((1, vds < 0), (0, True)) * backward


def _square(v: Any) -> Any:
    return Piecewise((v**2, v > 0), (0, True))


def diode(v: Any, leak: Any) -> Any:
    """Return the current of a junction to the substrate."""
    return Piecewise((-leak * (exp(v / THERMAL) - 1), v <= 0), (0, True))


def junction(v: Any, at_rest: Any) -> Any:
    """Return the capacity of a junction to the substrate; `at_rest`: that without voltage."""
    bent = at_rest / sqrt(1 - v / BUILT_IN)
    return Piecewise((bent, v <= 0), (at_rest * (1 + v / (2 * BUILT_IN)), True))
