"""Models from sympy.physics.mechanics: Lagrange's and Kane's equations with constraints and multipliers.

Mass matrices go into E as they are: nothing is inverted symbolically.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from herk.core import InputError
from herk.model.model import Model
from herk.model.written.build import started
from herk.model.written.jets import jet
from herk.model.written.read import Reader

EMPTY: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Mechanism:
    """Coordinates, speeds and multipliers with their equations, all in sympy's functions of time.

    K q' = k, M s' = f + G^T lam, 0 = constraints; speeds s are derivatives q' or functions of their own.
    """

    q: Sequence[sp.Expr]
    speeds: Sequence[sp.Expr]
    K: sp.MatrixBase
    k: sp.MatrixBase
    M: sp.MatrixBase
    f: sp.MatrixBase
    G: sp.MatrixBase
    constraints: Sequence[sp.Expr]
    multipliers: Sequence[str] = field(default=())

    def model(
        self,
        name: str,
        t_span: tuple[float, float],
        start: Mapping[Any, float | None],
        parameters: Mapping[Any, Any],
        specified: Mapping[Any, Any],
        names: Mapping[Any, str],
    ) -> Model:
        """Return the model with states q, speeds and multipliers."""
        called = _called([*self.q, *self.speeds], names)
        lam = [sp.Symbol(each, real=True) for each in self.multipliers]
        plain = _Plain(called, specified, parameters)
        forces = plain.matrix(self.f)
        if lam:
            forces += plain.matrix(self.G).T * sp.Matrix(lam)
        K, k, M = plain.matrix(self.K), plain.matrix(self.k), plain.matrix(self.M)
        rest = [plain(each) for each in self.constraints]
        known = list(called.values())
        added: list[sp.Symbol] = []
        if lam and M.free_symbols & set(known):
            added = [sp.Symbol(f"d{speed}", real=True) for speed in known[len(self.q) :]]
        E, f = _rows(K, k, M, forces, rest, added)
        states, blank = [*known, *added, *lam], [None] * len(f)
        model = Model(name, states, E, f, t=plain.t, parameters=parameters, t_span=t_span, y0=blank)
        model = started(model, start)
        model._set(notes=_notes(added))
        return model


def _rows(
    K: sp.MatrixBase,
    k: sp.MatrixBase,
    M: sp.MatrixBase,
    forces: sp.MatrixBase,
    constraints: list[sp.Expr],
    accelerations: list[sp.Symbol],
) -> tuple[sp.MatrixBase, list[sp.Expr]]:
    """Return E and f of K q' = k, M s' = forces, 0 = constraints.

    With accelerations a as unknowns the second part is s' = a, 0 = forces - M a. The index is the same, and
    hidden constraints stay short: with M(q) in E they would hold its inverse.
    """
    a = sp.Matrix(accelerations)
    zeros = len(constraints) + len(accelerations)
    if not accelerations:
        return sp.diag(K, M, sp.zeros(zeros, zeros)), [*k, *forces, *constraints]
    return sp.diag(K, sp.eye(len(a)), sp.zeros(zeros, zeros)), [*k, *a, *(forces - M * a), *constraints]


def _notes(accelerations: Sequence[sp.Symbol]) -> tuple[str, ...]:
    if not accelerations:
        return ()
    return (
        f"The mass matrix depends on the state: the accelerations {', '.join(map(str, accelerations))} are"
        " unknowns of their own, so that no formula holds its inverse.",
    )


def from_lagrange(
    method: Any,
    *,
    name: str = "lagrange",
    t_span: tuple[float, float],
    start: Mapping[Any, float | None] = EMPTY,
    parameters: Mapping[Any, Any] = EMPTY,
    specified: Mapping[Any, Any] = EMPTY,
    names: Mapping[Any, str] = EMPTY,
) -> Model:
    """Return the model of a LagrangesMethod; see Model.from_lagrange, which this is."""
    if not hasattr(method, "form_lagranges_equations"):
        raise InputError(f"from_lagrange takes sympy's LagrangesMethod, not {type(method).__name__}.")
    if method.eom is None:
        method.form_lagranges_equations()
    n, q = len(method.q), list(method.q)
    speeds = [each.diff(sp.physics.mechanics.dynamicsymbols._t) for each in q]
    holonomic = list(method._hol_coneqs)
    parts = Mechanism(
        q=q,
        speeds=speeds,
        K=sp.eye(n),
        k=sp.Matrix(speeds),
        M=method.mass_matrix[:, :n],
        f=method.forcing,
        G=method.lam_coeffs,
        constraints=[*holonomic, *list(method.coneqs)[len(holonomic) :]],
        multipliers=[each.func.__name__ for each in method.lam_vec],
    )
    return parts.model(name, t_span, start, parameters, specified, names)


def from_kane(
    method: Any,
    *,
    name: str = "kane",
    t_span: tuple[float, float],
    start: Mapping[Any, float | None] = EMPTY,
    parameters: Mapping[Any, Any] = EMPTY,
    specified: Mapping[Any, Any] = EMPTY,
    names: Mapping[Any, str] = EMPTY,
) -> Model:
    """Return the model of a KanesMethod; see Model.from_kane, which this is."""
    if not hasattr(method, "kanes_equations"):
        raise InputError(f"from_kane takes sympy's KanesMethod, not {type(method).__name__}.")
    if method.bodies is None:
        raise InputError("The KanesMethod has no bodies yet; call its kanes_equations(bodies, loads) first.")
    if len(method._uaux):
        raise InputError("The KanesMethod has auxiliary speeds; leave them out, multipliers give the forces.")
    K, ku, fk = method._k_kqdot_implicit, method._k_ku_implicit, method._f_k_implicit
    q, u = list(method.q), list(method.u)
    speeds = sp.Matrix(u)
    free = _unconstrained(
        method, K * method.q.diff(sp.physics.mechanics.dynamicsymbols._t) + ku * speeds + fk
    )
    constraints, G = _constraints(method, speeds)
    parts = Mechanism(
        q=q,
        speeds=u,
        K=K,
        k=-(ku * speeds + fk),
        M=free.mass_matrix,
        f=free.forcing,
        G=G,
        constraints=constraints,
        multipliers=[f"lam{i + 1}" for i in range(len(constraints))],
    )
    return parts.model(name, t_span, start, parameters, specified, names)


def _unconstrained(method: Any, kinematics: sp.MatrixBase) -> Any:
    """Return the equations of all speeds as if they were free.

    sympy eliminates dependent speeds, which makes long formulas and hides the forces of constraint.
    """
    if not len(method._udep):
        return method
    free = type(method)(method._inertial, list(method.q), list(method.u), kd_eqs=list(kinematics))
    free.kanes_equations(method.bodies, method.loads)
    return free


def _constraints(method: Any, speeds: sp.MatrixBase) -> tuple[list[sp.Expr], sp.MatrixBase]:
    """Return the constraints, on positions where they are known there, and the directions of their forces.

    A velocity constraint that is the derivative of one on positions says nothing new and is left out.
    """
    positions = list(method._f_h)
    if not len(method._udep):
        if positions:
            raise InputError(
                "The KanesMethod has configuration constraints but no dependent speeds; give their"
                " derivatives as velocity_constraints, with u_dependent, so that their forces are known."
            )
        return [], sp.zeros(0, len(speeds))
    velocities = list(method._k_nh * speeds + method._f_nh)
    t = sp.physics.mechanics.dynamicsymbols._t
    rates = [sp.diff(each, t).xreplace(method._qdot_u_map) for each in positions]
    above = sp.Matrix(len(rates), len(speeds), [sp.diff(each, u) for each in rates for u in speeds])
    kept = _independent(above, method._k_nh, len(velocities) - len(positions))
    rows = [method._k_nh.row(i) for i in kept]
    return [*positions, *(velocities[i] for i in kept)], sp.Matrix.vstack(above, *rows) if rows else above


def _independent(first: sp.MatrixBase, others: sp.MatrixBase, wanted: int) -> list[int]:
    """Return the rows of `others` farthest from depending on `first`, at a point in general position."""
    if wanted == len(others.tolist()):
        return list(range(wanted))
    a, b = _numbers(first, others)
    chosen: list[int] = []
    for _ in range(wanted):
        basis = np.linalg.qr(np.vstack([a, b[chosen]]).T)[0]
        rest = np.linalg.norm(b - (b @ basis) @ basis.T, axis=1) / np.linalg.norm(b, axis=1)
        rest[chosen] = -1.0
        chosen.append(int(np.argmax(rest)))
    return sorted(chosen)


def _numbers(*matrices: sp.MatrixBase) -> list[Any]:
    """Return matrices at one point: every symbol, function and derivative gets a number of its own."""
    atoms: set[sp.Expr] = set()
    for matrix in matrices:
        atoms |= matrix.atoms(AppliedUndef, sp.Derivative) | matrix.free_symbols
    draw = np.random.default_rng(5).uniform(0.5, 1.5, len(atoms))
    point = dict(zip(sorted(atoms, key=sp.default_sort_key), map(sp.Float, draw), strict=True))
    return [np.array(matrix.xreplace(point).evalf().tolist(), dtype=float) for matrix in matrices]


def _called(unknowns: Sequence[sp.Expr], names: Mapping[Any, str]) -> dict[sp.Expr, sp.Symbol]:
    """Return a symbol for every coordinate and speed, called as the user wishes or after it."""
    wanted = {jet(key, "names"): value for key, value in names.items()}
    jets = {each: jet(each, "The mechanism") for each in unknowns}
    unused = [str(each) for each in wanted if each not in jets.values()]
    if unused:
        known = ", ".join(map(str, jets.values()))
        raise InputError(f"names= contains {unused[0]}; the coordinates and speeds are {known}.")
    return {each: sp.Symbol(wanted.get(which, which.state), real=True) for each, which in jets.items()}


class _Plain:
    """Replaces functions of time by the symbols of the model, and specified ones by their formulas."""

    def __init__(
        self, called: Mapping[sp.Expr, sp.Symbol], specified: Mapping[Any, Any], parameters: Mapping[Any, Any]
    ) -> None:
        self.t = sp.physics.mechanics.dynamicsymbols._t
        keys = [sp.Symbol(str(key)) for key in parameters]
        reader = Reader(self.t, keys)
        reader.specify(specified)
        self.given = {jet(key, "specified").name: formula for key, formula in reader.given.items()}
        self.called = called

    def matrix(self, matrix: sp.MatrixBase) -> sp.MatrixBase:
        """Return a matrix in the symbols of the model."""
        return matrix.applyfunc(self)

    def __call__(self, expr: Any) -> sp.Expr:
        """Return an expression in the symbols of the model."""
        expr = sp.sympify(expr)
        inside = {f: jet(f, "The mechanism").name for f in expr.atoms(AppliedUndef)} if self.given else {}
        given = {f: self.given[name] for f, name in inside.items() if name in self.given}
        if given:
            expr = expr.subs(given).doit()
        found = expr.xreplace(self.called)
        left = {*found.atoms(AppliedUndef)} - {*found.atoms(sp.Derivative)}
        if left:
            listed = ", ".join(sorted(map(str, left)))
            raise InputError(
                f"The equations contain {listed}, which no equation determines; give formulas of the time in"
                ' specified, such as specified={F: "sin(t)"}.'
            )
        return found
