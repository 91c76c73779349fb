"""Radau5: three-stage Radau IIA of order 5 with variable steps on E z' = f.

With and without projection on the hidden constraints.

Written after E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, Section IV.8, with their
choices of constants. Tolerances: as in the code of that book, 0.1 rtol^(2/3) takes the place of rtol, atol
changes by the same factor, since the estimate has a lower order than the method; the RMS of error/(atol +
rtol |z|) is kept below 1. The error of an unknown of index k counts h^(k-1) times. Output times are served by
the collocation polynomial (projected, if the steps are). `nlu` counts real and complex factorisations.
Projection evaluates constraints and their directions at every point; these evaluations are counted as ngev,
not as nfev or njev.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from baselines.adapter import Points, Rival
from baselines.completion import model_points
from baselines.irk.projection import own_index
from baselines.irk.radau5_run import COUNTERS, OPTIONS, Run
from baselines.prepared import Explicit, Prepared, explicit
from herk.core import InputError, Problem, Reason, Settings, Solution, nearest
from herk.core.dae import Array

FORMS = ("index1", "index2", "index3", "ggl", "baumgarte", "ode")
LARGEST = 1000  # unknowns


class Functions(NamedTuple):
    """F(t, z, z') = E z' - f, its Jacobian, and E: a matrix, or None if it has to be evaluated by `E`."""

    residual: Any
    jacobian: Any
    E: Any
    matrix: Array | None
    parameters: Array  # of a model's code


@dataclass(frozen=True, eq=False)
class Ready(Prepared):
    """A form with its functions, and for the projection the forms the constraints come from."""

    by_rate: bool = False  # an ODE without formulas
    top: Any = None  # form of highest index; None: no projection
    whole: Any = None  # overdetermined form

    @property
    def variable_index(self) -> tuple[int, ...]:
        """Return the index of every unknown."""
        return (1,) * len(self.start[0]) if self.by_rate else self.form.variable_index

    @cached_property
    def functions(self) -> Functions:
        """Return what the steps call."""
        if self.by_rate:
            return _by_rate(Explicit(self.form, self.t_span, self.start, self.to_model_states))
        form, code = self.form, getattr(self.form.generated, "code", None)
        matrix = None if callable(form.E) else np.asarray(form.E)
        if code is None:
            return Functions(*form._implicit, _not_needed, matrix, np.zeros(1))
        implicit, E = code.implicit, code.functions["E"]
        return Functions(implicit["residual"], implicit["jacobian"], E, matrix, form.generated.parameters)


def _not_needed(*_: Any) -> None:
    """Stand where E would be a function."""


def _by_rate(ode: Explicit) -> Functions:
    """Return the functions of z' = rate(t, z), in Python."""
    rate, derivative, unit = ode.rate, ode.rate_jacobian, np.eye(len(ode.start[0]))

    def residual(t: float, z: Array, zp: Array, out: Array) -> None:
        out[:] = zp - rate(t, z)

    def jacobian(t: float, z: Array, zp: Array, cj: float, out: Array) -> None:  # noqa: ARG001
        out[:] = (cj * unit - derivative(t, z)).ravel()

    return Functions(residual, jacobian, _not_needed, unit, np.zeros(1))


@dataclass(frozen=True)
class Radau5(Rival):
    """Radau IIA of order 5, projected or not; options: those of `radau5_run.OPTIONS`."""

    projected: bool = False

    package = "herk"

    def supports(self, problem: Problem, form: str) -> tuple[bool, str]:
        """Tell whether there is such a form, not too large for full matrices.

        And for the projection, hidden constraints.
        """
        fine, reason = super().supports(problem, form)
        if fine and len(problem.y0) > LARGEST:
            return (
                False,
                (
                    f"problem {problem.name!r} has {len(problem.y0)} unknowns; {self.name} has full matrices,"
                    f" for up to {LARGEST}"
                ),
            )
        if not fine or not self.projected:
            return fine, reason
        if problem.model is None:
            return (
                False,
                (
                    f"problem {problem.name!r} is given by callables; {self.name} needs a model to find its"
                    " hidden constraints"
                ),
            )
        index = own_index(problem.model)
        return (
            index > 1,
            (
                ""
                if index > 1
                else (
                    f"problem {problem.name!r} has index {index}: there are no hidden constraints to"
                    " project on"
                )
            ),
        )

    def prepare(self, problem: Problem, form: str) -> Ready:
        """Return the form, compiled."""
        extra: dict[str, Any] = {}
        if self.projected:
            extra |= {"top": problem.form(f"index{own_index(problem.model)}"), "whole": problem.dae}
        try:
            own: Any = problem.form(form)
            own._implicit  # noqa: B018 - compiled now, or refused
            made = Ready.of(problem, own, **extra)
        except InputError:
            made = Ready.from_other(explicit(problem, form), by_rate=True, **extra)
        self.solve(made, Settings(options={"max_steps": 1}))
        return made

    def _solve(self, prepared: Ready, settings: Settings) -> Solution:
        z0, _ = prepared.start
        points, counts = Points([], []), dict.fromkeys(COUNTERS, 0)
        if settings.t_eval is None:
            points.add(prepared.t_span[0], z0)
        if settings.step is not None:
            points.stop(
                Reason.UNSUPPORTED,
                f"{self.name} chooses its steps itself; settings.step is for methods with fixed steps.",
            )
            return _solution(prepared, points, counts)
        try:
            options = _options(self.name, {**self.options, **settings.options})
            counts = Run(prepared, settings, options, points).to_the_end()
        except InputError as error:
            points.stop(Reason.UNSUPPORTED, str(error))
        except Exception as error:  # noqa: BLE001 - functions may fail in any way
            points.stop(Reason.EXCEPTION, f"{type(error).__name__}: {error}")
        return _solution(prepared, points, counts)


def _options(solver: str, given: dict[str, Any]) -> dict[str, Any]:
    for name in set(given) - set(OPTIONS):
        raise nearest(name, OPTIONS, f"option of {solver}")
    return {**OPTIONS, **given}


def _solution(prepared: Ready, points: Points, counts: dict[str, int]) -> Solution:
    t = np.array(points.t, dtype=float)
    z = np.array(points.z, dtype=float).reshape(len(t), len(prepared.start[0])).T
    y = model_points(prepared.to_model_states, t, z)
    return Solution(t=t, y=y, reason=points.reason, message=points.message, **counts)  # type: ignore[arg-type]


SOLVERS = (
    Radau5("radau5", "irk", FORMS, 5, True, frozenset({"implicit", "stiff", "referee"})),
    Radau5(
        "radau5_projected",
        "irk",
        ("index1", "index2", "index3"),
        5,
        True,
        frozenset({"implicit", "stiff", "projected"}),
        projected=True,
    ),
)
