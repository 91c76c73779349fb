"""SciPy on the flow in plain numbers.

A second opinion on a Dae given by callables, which rivals cannot derive forms from. Its constraints drift.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from baselines.flow import Flow
from baselines.scipy_ivp import SciPy
from herk.core import Problem, Settings, Solution
from herk.core.dae import Array
from herk.model.forms.to_model_states import ToModelStates


@dataclass(frozen=True)
class Numbers:
    """The underlying ODE of one run."""

    t_span: tuple[float, float]
    start: tuple[Array, None]
    to_model_states: ToModelStates
    rate: Callable[[float, Array], Array]
    rate_jacobian: None = None
    sizes: tuple[float, ...] = ()


@dataclass(frozen=True)
class Underlying(SciPy):
    """One class of scipy.integrate on what no other rival takes."""

    def supports(self, problem: Problem, form: str) -> tuple[bool, str]:
        """Take callables only."""
        return problem.model is None and form in self.forms, "the forms of a model are better than this one"

    def prepare(self, problem: Problem, form: str) -> Any:  # noqa: ARG002
        """Return the problem as it is."""
        return problem

    def solve(self, prepared: Any, settings: Settings) -> Solution:
        """Solve, and complete every point; the flow begins anew in each run, because it remembers points."""
        flow = Flow(prepared.dae, prepared.t_span[0], np.array(prepared.y0))
        back = ToModelStates(flow.dae.n, tuple(flow.bound))
        found = self._solve(Numbers(prepared.t_span, (flow.start, None), back, flow.rate), settings)
        points = [flow.complete(t, y[flow.bound]) for t, y in zip(found.t, found.y.T, strict=True)]
        return replace(found, y=np.array(points).T if points else found.y)


def _solver(method: str, order: int, *tags: str) -> Underlying:
    name, tagged = f"underlying_{method.lower()}", frozenset({"referee", *tags})
    return Underlying(name, "scipy", ("underlying",), order, True, tagged, {"jac": None}, method=method)


SOLVERS = (_solver("DOP853", 8, "explicit"), _solver("Radau", 5, "implicit", "stiff"))
