"""Prepared runs: what does not depend on start, span, tolerances or parameter values is done once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from herk.core import Reason, Solution, Switches, nearest
from herk.core.dae import Array
from herk.integrate.brought import breakpoints_with
from herk.integrate.checks import atol_of, rtol_of, span_of, start_of, times_of
from herk.integrate.implicit import tolerances, user_size
from herk.integrate.kept import Reusable, made
from herk.integrate.options import Request, in_order, request
from herk.integrate.outcome import concluded, in_segments
from herk.integrate.start import begun_otherwise, finished
from herk.integrate.steppers.protocol import Stepper
from herk.model.implicit import Implicit
from herk.model.plain import finite
from herk.model.switching import switches_of

OPTIONS = {
    "rtol": 1e-6, "atol": 1e-9, "step": None, "t_eval": None, "dense_output": False, "events": None,
    "first_step": None, "max_step": np.inf, "max_steps": 10_000_000, "time_limit": None,
    "consistent": "check", "callback": None, "save": None,
}  # fmt: skip


class Prepared:
    """A run ready to be made, from any start, over any span, with any tolerances and parameter values.

    It serves one thread at a time; `copy` gives another one for another thread.
    """

    def __init__(self, asked: Request) -> None:
        """Check and compile everything once."""
        model = getattr(asked.dae, "model", None)
        self.reusable = Reusable(asked)
        self.asked, self._shows = self.reusable.asked, model is not None and bool(model.in_time)
        self._names = {p.name: i for i, p in enumerate(getattr(model, "parameters", {}))}
        self._known: Array = np.array(getattr(asked.dae.generated, "values", ()), dtype=float)

    @property
    def machine(self) -> Stepper:
        """Return the machine that makes the steps."""
        return self.reusable.machine

    def copy(self) -> Prepared:
        """Return the same for another thread."""
        return Prepared(self.asked)

    def solve(
        self,
        t_span: tuple[float, float] | None = None,
        y0: Sequence[float | None] | Array | None = None,
        *,
        parameters: Mapping[str, float] | None = None,
        rtol: float | None = None,
        atol: float | Sequence[float] | Array | None = None,
        t_eval: Sequence[float] | Array | None = None,
    ) -> Solution:
        """Make the run; what is not named stays as it was prepared."""
        values = self._values(parameters)
        asked = self._shown(self._changed(t_span, y0, rtol, atol, t_eval), parameters)
        if asked.segmented:
            return in_segments(self._with(asked, parameters))
        # Dense output holds its machine: one that runs again would answer for the later run.
        run = self.reusable.run(asked, values) if not asked.dense_output else None
        if run is None:
            whole = self._with(asked, parameters)
            run = self.reusable.repaired(asked, values, whole.dae) if not asked.dense_output else None
            if run is None:
                return concluded(finished(whole))
        if run.goes_on or run.reason is not Reason.FINISHED:
            run.request = self._with(asked, parameters)  # what goes on needs the values the machine was given
        return concluded(begun_otherwise(run, made))

    def _changed(self, t_span: Any, y0: Any, rtol: Any, atol: Any, t_eval: Any) -> Request:
        """Return what is asked for now, checked."""
        changes: dict[str, Any] = {}
        if t_span is not None:
            changes["t0"], changes["t1"] = span_of(t_span)
        if y0 is not None:
            changes["y0"] = self._start(in_order(self.asked.dae, y0))
        if rtol is not None:
            changes["rtol"] = rtol_of(rtol)
        if atol is not None:
            changes["atol"] = tolerances(self.asked.dae, atol_of(atol, user_size(self.asked.dae)))
        times = self.asked.t_eval if t_eval is None else t_eval
        if times is not None and (t_eval is not None or t_span is not None):
            ends = changes.get("t0", self.asked.t0), changes.get("t1", self.asked.t1)
            changes["t_eval"] = times_of(times, *ends)
        return self.asked.changed(**changes) if changes else self.asked

    def _start(self, y0: Any) -> tuple[float | None, ...]:
        """Return the start, checked; of F = 0 it is that of y, and y' is computed."""
        dae = self.asked.dae
        if not isinstance(dae, Implicit):
            return start_of(y0, dae)
        return start_of(dae.start(y0, None), dae)

    def _shown(self, asked: Request, parameters: Mapping[str, float] | None) -> Request:
        """Return the request with the breakpoints the model shows for this span and these values."""
        if not self._shows or not (parameters or (asked.t0, asked.t1) != (self.asked.t0, self.asked.t1)):
            return asked
        model: Any = asked.dae.model  # type: ignore[attr-defined]
        model = model.with_parameters(**(parameters or {}))
        longest = min(asked.max_step, asked.step or np.inf)
        found = breakpoints_with(asked.told, model, (asked.t0, asked.t1), longest)
        return replace(asked, breakpoints=found) if found != asked.breakpoints else asked

    def _values(self, parameters: Mapping[str, float] | None) -> Array | None:
        """Return the values of all parameters, None if those prepared stay."""
        if not parameters:
            return None
        for name in parameters:
            if name not in self._names:
                raise nearest(name, self._names, "parameter")
        if len(self._known) != len(self._names):  # inserted, since their structure is a special one
            return np.zeros(1)
        values = self._known.copy()
        for name, value in parameters.items():
            values[self._names[name]] = finite(value, f"Parameter {name}")
        return values

    def _with(self, asked: Request, parameters: Mapping[str, float] | None) -> Request:
        """Return the request for other values of the parameters."""
        if not parameters:
            return asked
        model = self.asked.dae.model.with_parameters(**parameters)  # type: ignore[attr-defined]
        switches = None if asked.switches is None else _switches(model, asked.switches)
        return replace(asked, dae=model.form("overdetermined"), switches=switches)


def _switches(model: Any, known: Switches) -> Switches | None:
    """Return the same switches for other values of the parameters, where they are those of the model."""
    labels = {getattr(event, "label", None) for event in known.events}
    found = [each for each in model.conditions if str(each) in labels]
    return switches_of(model, found, unasked=known.unasked) if len(found) == len(known.events) else known


def prepare(
    system: Any,
    t_span: tuple[float, float] | None = None,
    y0: Sequence[float | None] | Array | None = None,
    *,
    method: Any = "auto",
    parameters: Mapping[str, float] | None = None,
    **options: Any,
) -> Prepared:
    """Return a run that can be made again and again, for other starts, spans, tolerances and parameters.

    Each run gives what `solve_dae` gives, to the last bit; with Radau on more than a hundred unknowns only as
    exactly as was asked for, since rows and orders of pivots are those of the first start while they serve.

    Parameters
    ----------
    system, t_span, y0, method, parameters, **options
        What `solve_dae` takes.

    Returns
    -------
    Prepared
        ``run.solve(t_span=, y0=, parameters=, rtol=, atol=)`` makes a run; what is not given stays.

    Examples
    --------
    >>> import herk
    >>> model = herk.Model.from_equations(
    ...     "decay", ["x' = -k*x"], parameters={"k": 1.0}, start={"x": 1}, t_span=(0, 1)
    ... )
    >>> run = herk.prepare(model, rtol=1e-9)
    >>> [round(float(run.solve(parameters={"k": k})["x"][-1]), 6) for k in (1.0, 2.0)]
    [0.367879, 0.135335]

    """
    extra = {name: options.pop(name) for name in list(options) if name not in OPTIONS}
    given = {name: extra.pop(name) for name in ("breakpoints", "switches", "yp0") if name in extra}
    asked = request(system, t_span, y0, method, OPTIONS | options, extra, parameters=parameters, **given)
    made = Prepared(asked)
    made.machine.spent(np.inf, 0.0)  # it will be worth the quickest code
    return made


def outcome(asked: Request) -> Solution:
    """Carry out a request."""
    return in_segments(asked) if asked.segmented else concluded(made(asked))
