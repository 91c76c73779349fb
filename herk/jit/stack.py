"""Arrays inside compiled code that live within one call and cost nothing."""

from __future__ import annotations

import numpy as np

from herk.jit.state import Floats


def stack(size: int) -> Floats:
    """Return an array of `size` floats, a literal number; what is in it first is not settled."""
    return np.full(size, np.nan)
