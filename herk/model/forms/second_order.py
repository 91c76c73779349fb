"""Models as second-order systems.

Rows p' = v are found, and M(t,p,v) p'' = force(t,p,v,lam), 0 = g(t,p,v,lam) is handed out.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from herk.core import InputError
from herk.core.dae import Array
from herk.model.forms.forms import Form, analysis, form

if TYPE_CHECKING:
    from herk.codegen.equations import Equations
    from herk.model.model import Model


@dataclass(frozen=True, repr=False, eq=False)
class SecondOrderForm(Form):
    """The model as written, with its second-order structure.

    Positions p, velocities v = p', other unknowns (multipliers) lam.

    `positions[i]` and `velocities[i]` are the places of p_i and p_i' in y, `multipliers` those of lam;
    `dynamic` are the rows of E y' = f that read M p'' = force, `constraints` the algebraic rows. All
    functions take (t, y), as those of every form.
    """

    positions: tuple[int, ...] = ()
    velocities: tuple[int, ...] = ()
    multipliers: tuple[int, ...] = ()
    dynamic: tuple[int, ...] = ()
    constraints: tuple[int, ...] = ()

    def mass(self, t: float, y: Any) -> Array:
        """Return M of M p'' = force."""
        E = self.E(t, y) if callable(self.E) else self.E
        return np.asarray(E)[np.ix_(self.dynamic, self.velocities)]

    def force(self, t: float, y: Any) -> Array:
        """Return the right-hand side of M p'' = force, multiplier terms included."""
        return np.asarray(self.f(t, y))[list(self.dynamic)]

    def pack(self, p: Any, v: Any, lam: Any) -> Array:
        """Return y with these positions, velocities and multipliers."""
        y = np.zeros(self.n)
        y[list(self.positions)], y[list(self.velocities)], y[list(self.multipliers)] = p, v, lam
        return y

    def split(self, y: Any) -> tuple[Array, Array, Array]:
        """Return (p, v, lam) of y, which may be a matrix with one column for each time."""
        values = np.asarray(y)
        return values[list(self.positions)], values[list(self.velocities)], values[list(self.multipliers)]

    def expressions(self) -> dict[str, Any]:
        """Return the formulas in sympy: t, p, v, lam, M, force, g, with every parameter a number."""
        system = self.model.numeric()
        rows, columns = list(self.dynamic), list(self.velocities)
        names = {"p": self.positions, "v": self.velocities, "lam": self.multipliers}
        formulas = {"t": system.t, "M": system.E.extract(rows, columns), "force": system.f.extract(rows, [0])}
        formulas["g"] = system.f.extract(list(self.constraints), [0])
        return formulas | {name: [system.states[j] for j in places] for name, places in names.items()}


def second_order(model: Model) -> SecondOrderForm:
    """Return the second-order form.

    Raise InputError if the model has no rows p' = v or mixes derivatives of p and v.
    """
    places = _places(model)
    index = analysis(model).index
    base = form(model, "overdetermined" if index == 0 else f"index{index}")
    shared = {f.name: getattr(base, f.name) for f in fields(Form) if f.init} | {"form": "second_order"}
    return SecondOrderForm(**shared, **places)


def _pairs(system: Equations) -> dict[int, int]:
    """Return p -> v for every row c p' = c v, where v' occurs and v is no position itself."""
    n, E = system.n, system.E
    column = {s: j for j, s in enumerate(system.states)}
    pairs: dict[int, int] = {}
    for i in range(n):
        places = [j for j in range(n) if not E[i, j].is_zero]
        v = column.get((system.f[i] / E[i, places[0]]).cancel()) if len(places) == 1 else None
        if (
            v is None
            or all(e.is_zero for e in E[:, v])
            or v in (*pairs, *pairs.values())
            or places[0] in (*pairs, *pairs.values())
        ):
            continue
        pairs[places[0]] = v
    return pairs


def _places(model: Model) -> dict[str, Any]:
    """Find rows c p' = c v with a state v; what is left must be M v' = force and algebraic rows."""
    system = model.numeric()
    n, E = system.n, system.E
    pairs = _pairs(system)
    kinematic = [i for i in range(n) if any(not E[i, p].is_zero for p in pairs)]
    rest = [i for i in range(n) if i not in kinematic]
    algebraic = tuple(i for i in rest if all(e.is_zero for e in E[i, :]))
    dynamic = tuple(i for i in rest if i not in algebraic)
    positions, velocities = tuple(pairs), tuple(pairs.values())
    allowed = all(E[i, j].is_zero or j in velocities for i in dynamic for j in range(n))
    if not pairs or len(kinematic) != len(pairs) or len(dynamic) != len(velocities) or not allowed:
        raise InputError(
            f"Model {model.name!r} is not a second-order system: every derivative must stand in a row p' = v"
            " or M v' = force."
        )
    multipliers = tuple(j for j in range(n) if j not in (*positions, *velocities))
    return {
        "positions": positions,
        "velocities": velocities,
        "multipliers": multipliers,
        "dynamic": dynamic,
        "constraints": algebraic,
    }
