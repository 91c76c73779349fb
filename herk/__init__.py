"""herk: solving and judging differential-algebraic equations.

Half-explicit Runge-Kutta methods that never drift.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> module. Everything is loaded on first use, so that `import herk` is quick.
_PUBLIC = {
    "Dae": "herk.core",
    "HerkError": "herk.core",
    "InputError": "herk.core",
    "Problem": "herk.core",
    "Reason": "herk.core",
    "Reference": "herk.core",
    "Invariant": "herk.core",
    "Settings": "herk.core",
    "Solution": "herk.core",
    "Model": "herk.model.model",
    "circuit": "herk.circuit",
    "t": "herk.model.entries",
    "regularize": "herk.model.index_reduction.regularize",
    "RegularizationError": "herk.model.index_reduction.regularize",
    "check_constraints": "herk.model.contradiction",
    "consistent_start": "herk.model.start",
    "METHODS": "herk.integrate.steppers.half_explicit.tableaus",
    "Tableau": "herk.integrate.steppers.half_explicit.tableau",
    "solve_dae": "herk.integrate.solve",
    "prepare": "herk.integrate.prepared",
    "solve_many": "herk.parameters.many",
    "grid": "herk.parameters.grid",
    "fit": "herk.parameters.fit",
    "gradient": "herk.parameters.gradient",
    "thesis": "herk.thesis",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _PUBLIC:
        raise AttributeError(
            f"module 'herk' has no attribute {name!r}; it offers {', '.join(sorted(_PUBLIC))}"
        )
    module = import_module(_PUBLIC[name])
    value = module if _PUBLIC[name] == f"herk.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


if TYPE_CHECKING:
    from herk import circuit, thesis
    from herk.core import (
        Dae,
        HerkError,
        InputError,
        Invariant,
        Problem,
        Reason,
        Reference,
        Settings,
        Solution,
    )
    from herk.integrate.prepared import prepare
    from herk.integrate.solve import solve_dae
    from herk.integrate.steppers.half_explicit.tableau import Tableau
    from herk.integrate.steppers.half_explicit.tableaus import METHODS
    from herk.model.contradiction import check_constraints
    from herk.model.entries import t
    from herk.model.index_reduction.regularize import RegularizationError, regularize
    from herk.model.model import Model
    from herk.model.start import consistent_start
    from herk.parameters.fit import fit
    from herk.parameters.gradient import gradient
    from herk.parameters.grid import grid
    from herk.parameters.many import solve_many
