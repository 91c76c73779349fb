"""y' at points of a run, for those who ask for it."""

from __future__ import annotations

from herk.integrate.steppers.radau.equations import derivative, evaluate_here
from herk.integrate.steppers.radau.layout import Radau, function_at
from herk.jit.state import Floats

NOT_A_NUMBER = float("nan")


def slopes(own: Radau, t: Floats, y: Floats, out: Floats) -> int:
    """Write y' at each of the points y (by rows); not a number where it is not determined."""
    n, missing = own.n, 0
    for q in range(t.size):
        for j in range(n):
            own.y[j] = y[q * n + j]
        if own.sparse or not own.general:
            function_at(own.at_e)(t[q], own.y, own.parameters, own.e_here)
        evaluate_here(t[q], own)
        found = derivative(t[q], own)
        missing += 0 if found else 1
        for j in range(n):
            out[q * n + j] = own.slope[j] if found else NOT_A_NUMBER
    return missing
