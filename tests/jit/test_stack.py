"""Arrays on the stack: as good as others within a call, and not there afterwards."""

from __future__ import annotations

import numpy as np

from herk.jit.native import assembled
from herk.jit.stack import stack
from herk.jit.state import Floats


def weighted(x: Floats) -> float:
    """Return the sum of k x_k, by way of two arrays that must not be the same one."""
    first, second = stack(4), stack(4)
    for k in range(4):
        first[k] = x[3 - k]
        second[k] = 4.0 - k
    total = 0.0
    for k in range(4):
        total += first[k] * second[k]
    return total + first.size


def test_arrays_on_the_stack_hold_what_is_written_compiled_and_interpreted() -> None:
    x = np.array([1.0, 10.0, 100.0, 1000.0])
    assert weighted(x) == 4325.0
    assert assembled({"weighted": weighted})["weighted"](x) == 4325.0
