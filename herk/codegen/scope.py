"""What generated code may use besides its own names.

Numbers, functions of numpy for its Python twin, compiled linear algebra.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from herk.linalg import dense, stacked

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
SHARED: dict[str, Any] = {
    function.__name__: function
    for function in (dense.solve_leveled, dense.solve_in_units, stacked.solve_stacked)
}
PYTHON |= SHARED
PYTHON["inline"] = lambda function: function  # a word to the compiler
