"""Arrays on the stack: as good as others within a call, and not there afterwards."""

from __future__ import annotations

from herk.jit.compiled import compiled, interpreted
from herk.jit.stack import stack


@compiled("float64(float64[::1])", cache=False)
def reversed_sum(x):
    """Return the sum of k x_k, by way of two arrays that must not be the same one."""
    first, second = stack(4), stack(4)
    for k in range(4):
        first[k] = x[3 - k]
        second[k] = 4.0 - k
    total = 0.0
    for k in range(4):
        total += first[k] * second[k]
    return total + len(first[:3])


def test_arrays_on_the_stack_hold_what_is_written_compiled_and_interpreted() -> None:
    import numpy as np

    x = np.array([1.0, 10.0, 100.0, 1000.0])
    assert reversed_sum(x) == 4324.0
    assert interpreted(reversed_sum)(x) == 4324.0
