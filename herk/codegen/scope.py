"""What generated code may use besides its own names.

Numbers, functions of numpy for its Python twin, compiled linear algebra.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from herk.codegen.values import FLOATS, WHOLE, External
from herk.linalg import dense

CONSTANTS: dict[str, float] = {}
_LIKE = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "pow": "power",
    "round_down": "floor",
    "round_up": "ceil",
    "modulo": "mod",
}
_SAME = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "copysign", "nan")


def _special(name: str) -> Any:
    def value(x: Any) -> Any:
        import scipy.special

        return getattr(scipy.special, name)(x)

    return value


PYTHON: dict[str, Any] = {name: getattr(np, name) for name in _SAME} | {
    name: getattr(np, other) for name, other in _LIKE.items()
}
PYTHON |= {
    "erf": _special("erf"),
    "erfc": _special("erfc"),
    "gamma": _special("gamma"),
    "lgamma": _special("gammaln"),
}
PYTHON |= {"solve_block": dense.solve_block, "solve_stacked": dense.solve_stacked}


@cache
def external() -> dict[str, External]:
    """Return the linear algebra that generated code calls."""
    from herk.jit.pointers import address

    solve_block = address(dense.solve_block, "float64(float64[::1], int64)")
    solve_stacked = address(
        dense.solve_stacked, "float64(float64[::1], int64, int64, float64[::1], float64[::1])"
    )
    return {
        "solve_block": External(solve_block, (FLOATS, WHOLE)),
        "solve_stacked": External(solve_stacked, (FLOATS, WHOLE, WHOLE, FLOATS, FLOATS)),
    }
