"""The front doors of Model: from equations as written, from Lagrange's and Kane's method of sympy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import sympy as sp

if TYPE_CHECKING:
    from herk.model.model import Model


class FrontDoors:
    """Ways to make a model of what others write."""

    @classmethod
    def from_equations(
        cls,
        name: str,
        equations: Sequence[Any],
        *,
        t_span: tuple[float, float],
        start: Mapping[Any, float | None] = MappingProxyType({}),
        parameters: Mapping[Any, Any] = MappingProxyType({}),
        unknowns: Sequence[Any] | None = None,
        names: Mapping[Any, str] = MappingProxyType({}),
        specified: Mapping[Any, Any] = MappingProxyType({}),
        t: sp.Symbol | str = "t",
    ) -> Model:
        """Return a model of equations as written, with derivatives of any order.

        Parameters
        ----------
        name : str
            What the model is called.
        equations : sequence
            sympy's ``Eq(left, right)`` or formulas that are zero, in ``x(t)`` and its derivatives; or texts
            such as ``"m*x'' = -2*x*lam"``, in which ``x'`` or ``der(x)`` is the derivative of x. That of a
            formula which jumps is an impulse, and refused.
        t_span : (float, float)
            Start and end of time.
        start : mapping, optional
            Start values by name: ``{"x": 1, "x'": 0}``. What is missing is computed from the constraints.
        parameters : mapping, optional
            Values of constants by name or symbol. Other names in texts are unknowns.
        unknowns : sequence, optional
            The unknowns in the order wanted; they are found if not given.
        names : mapping, optional
            Names of states: ``{"x'": "v"}``. Otherwise ``x'`` becomes ``dx`` and ``x''`` becomes ``ddx``.
        specified : mapping, optional
            Formulas of functions of time that are no unknowns: ``{"F": "sin(t)"}``.
        t : symbol or str, optional
            The time, "t" if not given.

        Returns
        -------
        Model
            ``model.notes`` says which states were added, and why.

        Examples
        --------
        >>> import herk
        >>> model = herk.Model.from_equations(
        ...     "pendulum",
        ...     ["x'' = -2*x*lam", "y'' = -2*y*lam - g", "0 = x**2 + y**2 - 1"],
        ...     parameters={"g": 9.81},
        ...     start={"x": 1, "y": 0, "x'": 0, "y'": 0},
        ...     t_span=(0, 10),
        ... )
        >>> model.names
        ('x', 'y', 'dx', 'dy', 'lam')

        """
        from herk.model.written.build import from_equations

        return from_equations(
            name,
            equations,
            t_span=t_span,
            start=start,
            parameters=parameters,
            unknowns=unknowns,
            names=names,
            specified=specified,
            t=t,
        )

    @classmethod
    def from_lagrange(cls, method: Any, **options: Any) -> Model:
        """Return the model of a `LagrangesMethod` of sympy.physics.mechanics.

        States are the coordinates, their derivatives and the multipliers lam1, lam2, ...; holonomic
        constraints are kept on the level of positions, non-holonomic ones on that of velocities.

        Parameters
        ----------
        method : LagrangesMethod
            With Lagrangian, coordinates, forces and constraints.
        **options
            ``t_span`` is needed; ``name``, ``start``, ``parameters``, ``names`` and ``specified`` (functions
            of time that are no unknowns) are as for `from_equations`.

        Examples
        --------
        >>> import herk
        >>> from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols
        >>> x, y = dynamicsymbols("x y")
        >>> lagrangian = (x.diff() ** 2 + y.diff() ** 2) / 2 - 9.81 * y
        >>> bead = LagrangesMethod(lagrangian, [x, y], hol_coneqs=[y - x**2])
        >>> herk.Model.from_lagrange(bead, start={x: 1, x.diff(): 0}, t_span=(0, 1)).names
        ('x', 'y', 'dx', 'dy', 'lam1')

        """
        from herk.model.mechanics import from_lagrange

        return from_lagrange(method, **options)

    @classmethod
    def from_kane(cls, method: Any, **options: Any) -> Model:
        """Return the model of a `KanesMethod` of sympy.physics.mechanics, multipliers included.

        States are coordinates, speeds and the multipliers lam1, lam2, ...; configuration constraints are
        kept on the level of positions.

        Parameters
        ----------
        method : KanesMethod
            After its kanes_equations(bodies, loads).
        **options
            As for `from_lagrange`.

        Examples
        --------
        >>> import herk
        >>> from sympy.physics.mechanics import KanesMethod, Particle, Point, ReferenceFrame, dynamicsymbols
        >>> x, u = dynamicsymbols("x u")
        >>> N, P = ReferenceFrame("N"), Point("P")
        >>> P.set_vel(N, u * N.x)
        >>> kane = KanesMethod(N, [x], [u], kd_eqs=[x.diff() - u])
        >>> _ = kane.kanes_equations([Particle("p", P, 1)], [(P, -x * N.x)])
        >>> herk.Model.from_kane(kane, start={x: 1, u: 0}, t_span=(0, 1)).names
        ('x', 'u')

        """
        from herk.model.mechanics import from_kane

        return from_kane(method, **options)
