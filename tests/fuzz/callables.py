"""Members of the other families as plain Python functions: E, f, g or F, g, with and without derivatives.

All constraints are given, as a model finds them, and dg/dy, dF/dy, dF/dy' where units are odd. F of index 1
with constant matrices is to show its constraints itself. Truths are theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from scipy.optimize import minimize_scalar

from tests.fuzz import circuits, driven, known, limits, linear, mechanisms, pivots, singular
from tests.fuzz.member import Array, Member, pick, rng_of

FAMILIES: tuple[Callable[[int], Member], ...] = (
    linear.make,
    driven.make,
    mechanisms.make,
    circuits.make,
    limits.make,
    pivots.make,
    known.make,
    singular.make,
)
DERIVATIVES = ("", "jac_g", "g_t", "jac_g g_t")
IMPLICIT = 0.3  # of the members are given by F
LOOKS, DOUBTFUL, DEPENDENT = 401, 0.1, 1e-6  # at dg/dy, and how little of its least singular value is left
SPREAD = 1e9  # of units, beyond which dg/dy is given
MODULES = [
    "math",
    {"Abs": abs, "sign": np.sign, "Max": max, "Min": min, "Heaviside": lambda x, *_: np.heaviside(x, 0.5)},
]


def make(seed: int) -> Member:
    """Return a member of some family, to be solved as functions that numba does not compile."""
    rng = rng_of("callables", seed)
    member = pick(rng, FAMILIES)(int(rng.integers(1 << 30)))
    given = pick(rng, DERIVATIVES)
    if max(member.sizes) > SPREAD * min(member.sizes) and "jac_g" not in given:
        given = f"jac_g {given}".strip()  # differences cannot tell entries from rounding
    whole = ("F",) if rng.random() < IMPLICIT else ("E", "f")
    kind = f"{member.family}: {member.kind}, {' '.join(whole)} with {given or 'no derivatives'} given"
    made = replace(member, family="callables", kind=kind, seed=seed, called=(*whole, "g", *given.split()))
    return replace(made, dependent_at=dependent(made)) if member.family == "linear" else made


def dependent(member: Member) -> tuple[float, ...]:
    """Return the times at which the constraints, as they are given, depend on each other or have no value.

    A model would combine them anew; functions are what they are. dg/dy is looked at along the truth, in units
    of the unknowns, rows of size one: its least singular value falls to nothing there.
    """
    eq = member.model().equations()
    if not eq.m:
        return ()
    rows = [[eq.jac_g[i, j] for j in range(eq.n)] for i in range(eq.m)]
    slopes, sizes = Called((eq.t, *eq.states), rows), np.array(member.sizes)

    def least(t: float) -> float:
        try:
            scaled = slopes(t, member.truth(np.array([t]))[:, 0]) * sizes
            tops = np.abs(scaled).max(axis=1, keepdims=True)
            return float(np.linalg.svd(scaled / tops, compute_uv=False)[-1]) if tops.all() else 0.0
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            return 0.0

    times = np.linspace(*member.t_span, LOOKS)
    values = np.array([least(t) for t in times])
    found = []
    for k in range(LOOKS):
        low, high = max(k - 1, 0), min(k + 1, LOOKS - 1)
        if values[k] <= min(values[low], values[high]) and values[k] < DOUBTFUL * values.max():
            ends = sorted((times[low], times[high]))
            near = minimize_scalar(least, bounds=ends, method="bounded", options={"xatol": 1e-12 * ends[1]})
            if min(near.fun, values[k]) < DEPENDENT * values.max():
                found.append(float(near.x))
    return tuple(found)


@dataclass(frozen=True)
class Called:
    """Formulas as an object that is called with (t, y); it can be pickled, and numba does not know it."""

    arguments: tuple[Any, ...]
    formulas: Any  # nested lists

    @cached_property
    def function(self) -> Any:
        """Return the formulas as Python over floats."""
        return sp.lambdify(self.arguments, self.formulas, modules=MODULES, cse=True)

    def __call__(self, t: float, *vectors: Array) -> Array:
        """Return their values."""
        return np.array(self.function(t, *np.concatenate(vectors).tolist()), dtype=float)


def dae_of(model: Any, called: tuple[str, ...]) -> Any:
    """Return the overdetermined DAE of a model as functions, with those of its derivatives that are named."""
    import herk

    eq = model.equations()
    n, m, arguments = eq.n, eq.m, (eq.t, *eq.states)
    moving = set().union(*(sp.sympify(entry).free_symbols for entry in eq.E)) & set(arguments)
    if "F" in called:
        given = implicit(eq, "jac_g" in called)
        m = m if moving or herk.regularize(model).index > 1 else 0
    else:
        E = Called(arguments, eq.E.tolist()) if moving else np.array(eq.E.tolist(), dtype=float)
        given = {"E": E, "f": Called(arguments, list(eq.f))}
    if m:
        given["g"] = Called(arguments, list(eq.g))
        rest = {"jac_g": [[eq.jac_g[i, j] for j in range(n)] for i in range(m)], "g_t": list(eq.g_t)}
        given |= {name: Called(arguments, rows) for name, rows in rest.items() if name in called}
    return herk.Dae(n=n, m=m, names=tuple(str(state) for state in eq.states), **given)


def implicit(eq: Any, derivatives: bool) -> dict[str, Any]:
    """Return F = E y' - f, with its derivatives if they are asked for."""
    rates = [sp.Symbol(f"der_{state}") for state in eq.states]
    arguments = (eq.t, *eq.states, *rates)
    F = eq.E * sp.Matrix(rates) - sp.Matrix(list(eq.f))
    given = {"F": Called(arguments, list(F))}
    if derivatives:
        given["jac_y"] = Called(arguments, F.jacobian(list(eq.states)).tolist())
        given["jac_yp"] = Called(arguments, eq.E.tolist())
    return given
