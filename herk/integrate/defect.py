"""Second opinions on a solution: its defect by other code, and a run at a tenth of the tolerances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from herk.core import Dae, Solution
from herk.core.dae import Array, is_large
from herk.integrate.options import Request
from herk.integrate.prepared import outcome

INSIDE = np.array([0.2, 0.5, 0.8])  # of every step
DIFFERENCE = 1e-4  # of a step: the points from which y' is computed


def examined(asked: Request, sol: Solution, *, defect: bool, error_estimate: bool) -> Solution:
    """Return the solution with what was asked about it."""
    if defect:
        system = getattr(asked.dae, "model", None) or asked.dae
        sol = replace(sol, defect=largest_defect(system, sol), sol=sol.sol if asked.dense_output else None)
    if error_estimate:
        sol = replace(sol, error_estimate=difference(asked, sol))
    return sol


def difference(asked: Request, sol: Solution) -> Array:
    """Return the largest difference to a run at a tenth of the tolerances; not a number if that fails."""
    if sol.t.size < 2 or asked.step is not None:
        return np.full(len(sol.y), np.nan)
    times = sol.t[1:][np.diff(sol.t) != 0]
    finer = replace(
        asked, rtol=max(asked.rtol / 10, 1e-15), atol=asked.atol / 10, t_eval=times, dense_output=False
    )
    again = outcome(finer)
    _, mine, other = np.intersect1d(sol.t, again.t, return_indices=True)
    if not again.success or not mine.size:
        return np.full(len(sol.y), np.nan)
    return np.abs(sol.y[:, mine] - again.y[:, other]).max(axis=1)  # type: ignore[no-any-return]


def largest_defect(system: Any, sol: Solution) -> float:
    """Return the largest |E y' - f| along the dense output, beside the largest terms of its row.

    y' comes from differences of the dense output. A model is evaluated from its formulas as they are written,
    in plain numpy, not from the code the solver ran.
    """
    assert sol.sol is not None
    evaluate = _from_formulas(system) if hasattr(system, "symbolic") else _from_callables(system)
    ends = np.unique(sol.t)
    residuals, terms = [], []
    for start, length in zip(ends[:-1], np.diff(ends), strict=True):
        for share in INSIDE:
            t, h = start + share * length, DIFFERENCE * length
            near = [sol.sol(t + k * h) for k in (-2, -1, 1, 2)]
            rate = (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * h)
            E, f = evaluate(t, sol.sol(t))
            residuals.append(np.where(abs(E) @ np.ones_like(f) > 0.0, np.abs(E @ rate - f), 0.0))
            terms.append(abs(E) @ np.abs(rate) + np.abs(f))
    sizes = np.max(terms, axis=0)  # of every row along the run
    return float((np.max(residuals, axis=0) / np.where(sizes > 0, sizes, 1.0)).max())


def _from_formulas(model: Any) -> Callable[[float, Array], tuple[Any, Array]]:
    if is_large(model.n):
        from herk.model.index_reduction.structural.rows import equations

        return equations(model)
    import sympy as sp

    values = {p: sp.Float(value) for p, value in model.parameters.items()}
    E, f = (sp.lambdify((model.t, model.states), part.xreplace(values)) for part in (model.E, model.f))
    return lambda t, y: (np.array(E(t, y), float), np.array(f(t, y), float).ravel())


def _from_callables(dae: Dae) -> Callable[[float, Array], tuple[Any, Array]]:
    def values(t: float, y: Array) -> tuple[Any, Array]:
        E: Any = dae.E(t, y) if callable(dae.E) else dae.E
        matrix = E if hasattr(E, "tocsr") else np.asarray(E, float)
        return matrix, np.asarray(dae.f(t, y), float).ravel()

    return values
