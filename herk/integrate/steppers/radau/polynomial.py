"""The collocation polynomial of a step: its Lagrange polynomials, and where it is least exact."""

from __future__ import annotations

from herk.integrate.steppers.radau.layout import Radau

# Part of a step where x (x - c1) .. (x - cs) is largest, with three, five and seven stages
FARTHEST, FARTHEST_OF_FIVE, FARTHEST_OF_SEVEN = 0.87, 0.734, 0.67


def weight(x: float, i: int, own: Radau) -> float:
    """Return the Lagrange polynomial of stage i over 0 and the nodes at x."""
    value = x * own.under[i]
    for k in range(own.s):
        if k != i:
            value *= x - own.nodes[k]
    return value


def farthest_from_nodes(own: Radau) -> float:
    """Return the part of a step at which the collocation polynomial is least exact."""
    return FARTHEST if own.s == 3 else FARTHEST_OF_FIVE if own.s == 5 else FARTHEST_OF_SEVEN
