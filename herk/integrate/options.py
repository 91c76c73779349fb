"""What solve_dae was asked for, checked: every wrong input ends here with a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from herk.core import Dae, InputError, Problem, Switches, nearest
from herk.core.dae import Array
from herk.core.names import as_name
from herk.integrate.brought import breakpoints_with, brought
from herk.integrate.checks import (
    atol_of,
    breakpoints_of,
    callback_of,
    choice,
    count,
    events_of,
    positive,
    rtol_of,
    span_of,
    start_of,
    switches_of,
    times_of,
)
from herk.integrate.controller import LEAST, shortest_first
from herk.integrate.implicit import asked_of, extended, tolerances
from herk.integrate.methods import Auto, Method, Plan, method_of
from herk.integrate.progress import Progress
from herk.integrate.saved import saved_of
from herk.integrate.steppers.radau.layout import RadauMethod
from herk.integrate.steps import INFINITE, Loop
from herk.model.rounding import without_rounding

EPS = float(np.finfo(float).eps)
CONSISTENT = ("check", "trust", "project")
NEWTON, SELECTION = ("simplified", "full"), ("sparse", "complete")
METHOD_OPTIONS = ("newton", "selection", "generate", "project_output")


@dataclass(frozen=True)
class Request:
    """A checked call of solve_dae."""

    dae: Dae
    t0: float
    t1: float
    y0: tuple[float | None, ...]
    method: Method
    rtol: float
    atol: Array
    step: float | None
    t_eval: Array | None
    dense_output: bool
    events: tuple[Callable[[float, Array], float], ...] | None
    first_step: float | None
    max_step: float
    max_steps: int
    time_limit: float | None
    consistent: str
    callback: Callable[[float, Array], Any] | None
    newton: str
    selection: str
    generate: bool
    project_output: bool
    breakpoints: tuple[float, ...] = ()  # all of them,
    told: tuple[float, ...] = ()  # and those that the call or a problem names
    switches: Switches | None = None
    left: Switches | None = None  # conditions on the state that are left to the control of errors
    plan: Plan | None = None  # method="auto": what the run may be changed for
    progress: Progress | None = None  # where it is told how far the run is
    save: tuple[int, ...] | None = None  # components to keep
    min_step: float = 0.0  # shorter ones end the run
    behind: tuple[float, Array] | None = None  # the last point of a run before; the equations may jump since

    def changed(self, **others: Any) -> Request:
        """Return the same with other values, which were checked before; quicker than `replace`."""
        made = object.__new__(Request)
        made.__dict__.update(self.__dict__)
        made.__dict__.update(others)
        return made

    def steps_like(self, other: Request) -> bool:
        """Tell whether span, tolerances and everything that sets the steps are the same."""
        return (
            (self.t0, self.t1, self.rtol, self.step) == (other.t0, other.t1, other.rtol, other.step)
            and (self.first_step, self.min_step, self.max_step)
            == (other.first_step, other.min_step, other.max_step)
            and (self.atol is other.atol or self.atol.tolist() == other.atol.tolist())
            and self.newton == other.newton
            and self.patience == other.patience
        )

    @property
    def patience(self) -> int:
        """Return how many steps stability may seem to limit before another method is considered; 0: all."""
        return 0 if self.plan is None else self.plan.patience

    @property
    def segmented(self) -> bool:
        """Tell whether the run ends and begins anew on the way."""
        if self.switches is not None or not (self.events or self.breakpoints):
            return self.switches is not None
        resets = any(getattr(event, "reset", None) is not None for event in self.events or ())
        return resets or any(min(self.t0, self.t1) < b <= max(self.t0, self.t1) for b in self.breakpoints)


def system(given: Any, t_span: Any, y0: Any, parameters: Any = None) -> tuple[Dae, Any, Any]:
    """Return DAE, span and start from a Dae, a Model or a Problem.

    What the call names wins over what they bring.
    """
    dae: Dae
    if parameters is not None:
        given = _with_parameters(given, parameters)
    if isinstance(given, Problem):
        dae, span, start = given.dae, given.t_span, given.y0
    elif isinstance(
        given, Switches
    ):  # its unknowns without the modes; the equations are those of the switches
        n = given.dae.n - len(given.events)
        dae, span, start = Dae(E=np.eye(n), f=given.dae.f, n=n, names=given.dae.names[:n]), None, None
    elif isinstance(given, Dae):
        dae, span, start = given, getattr(given, "t_span", None), getattr(given, "y0", None)
    elif hasattr(given, "form"):
        dae, span, start = given.form("overdetermined"), given.t_span, given.y0
    else:
        what = type(given).__name__
        raise InputError(f"solve_dae takes a herk.Dae, herk.Model or a problem of the test set, not {what}.")
    y0 = in_order(dae, y0)
    span, start = span if t_span is None else t_span, start if y0 is None else y0
    if span is None or start is None:
        raise InputError("A herk.Dae has no span and no start: call solve_dae(dae, t_span, y0).")
    return dae, span, start


def in_order(dae: Dae, y0: Any) -> Any:
    """Return a start given by names in the order of the model; any other as it is."""
    if not isinstance(y0, Mapping):
        return y0
    from herk.model.written import start

    model = getattr(dae, "model", None)
    if model is None:
        raise InputError("y0 by name needs a herk.Model; a herk.Dae takes its values in order.")
    return start.in_order(model, y0)


def _with_parameters(given: Any, parameters: Any) -> Any:
    """Return a model with these values; the start of a problem becomes that of its model."""
    if isinstance(given, Problem) and given.model is not None:
        given = given.model.with_span(*reversed(given.t_span)).with_start(given.y0.tolist())
    if not hasattr(given, "with_parameters"):
        raise InputError(
            "parameters= needs a herk.Model, or a problem of the test set that has one: callables keep their"
            " values themselves."
        )
    if not isinstance(parameters, Mapping):
        raise InputError(f"parameters must be a mapping from names to numbers, not {parameters!r}.")
    return given.with_parameters(**{as_name(name): value for name, value in parameters.items()})


def request(
    given: Any,
    t_span: Any,
    y0: Any,
    method: Any,
    options: dict[str, Any],
    extra: dict[str, Any],
    parameters: Any = None,
    breakpoints: Any = (),
    switches: Any = None,
    yp0: Any = None,
) -> Request:
    """Check every argument and return the request."""
    _refuse_unknown(extra)
    dae, span, start = system(given, t_span, y0, parameters)
    model, (t0, t1) = getattr(dae, "model", None), span_of(span)
    atol, told, switches = brought(given, dae, options["atol"], breakpoints_of(breakpoints), switches)
    limits = _limits(options)
    rtol, atol = rtol_of(options["rtol"]), atol_of(atol, dae.n)
    dae, start = extended(dae, (t0, t1), start, yp0, atol / rtol)
    chosen, plan = _method(method, dae, step := _step(options["step"], t0, t1))
    y0, atol = start_of(start, dae), tolerances(dae, atol)
    return Request(
        dae=without_rounding(dae, (t0, t1), y0, atol / rtol),
        t0=t0,
        t1=t1,
        y0=y0,
        method=chosen,
        plan=plan,
        rtol=rtol,
        atol=atol,
        step=step,
        t_eval=times_of(options["t_eval"], t0, t1),
        dense_output=bool(options["dense_output"]),
        events=asked_of(dae, events_of(options["events"])),
        **limits,
        consistent=choice(options["consistent"], CONSISTENT, "consistent"),
        callback=_told(dae, callback_of(options["callback"])),
        **_of_methods(extra),
        breakpoints=breakpoints_with(told, model, (t0, t1), min(limits["max_step"], step or math.inf)),
        told=told,
        switches=switches_of(switches, dae),
        save=saved_of(options.get("save"), dae),
    )


def _refuse_unknown(extra: Mapping[str, Any]) -> None:
    for name in extra:
        if name not in METHOD_OPTIONS:
            raise nearest(name, METHOD_OPTIONS, "option")


def _told(dae: Dae, callback: Any) -> Any:
    return None if callback is None else asked_of(dae, (callback,))[0]


def _step(value: Any, t0: float, t1: float) -> float | None:
    step: float | None = positive(value, "step", none=True)
    if step is not None and not 16 * EPS * max(abs(t0), abs(t1)) < step < math.inf:
        raise InputError(f"step = {step:g} is too small or too large for a span from {t0} to {t1}.")
    return step


def _method(given: Any, dae: Dae, step: float | None) -> tuple[Method, Plan | None]:
    """Return the method, and the one it may be changed for; fixed steps are made with one method."""
    chosen = method_of(given)
    if isinstance(chosen, Auto):
        both = step is None and chosen.implicit.takes(dae)
        return chosen.explicit, chosen.plan if both else None
    if step is None and not chosen.adaptive:
        raise InputError(
            f"Method {chosen.name!r} has no error estimate; give step=h, or choose an adaptive pair such as"
            " 'dopri5'."
        )
    if step is not None and isinstance(chosen, RadauMethod) and chosen.fewest < chosen.most:
        raise InputError(
            f"Method {chosen.name!r} changes its order with the steps; for fixed ones use 'radau5', 'radau9'"
            " or 'radau13'."
        )
    return chosen, None


def _of_methods(extra: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "newton": choice(extra.get("newton", "simplified"), NEWTON, "newton"),
        "selection": choice(extra.get("selection", "sparse"), SELECTION, "selection"),
        "generate": bool(extra.get("generate", True)),
        "project_output": bool(extra.get("project_output", True)),
    }


def _limits(options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "first_step": positive(options["first_step"], "first_step", none=True),
        "max_step": positive(options["max_step"], "max_step"),
        "max_steps": count(options["max_steps"]),
        "time_limit": positive(options["time_limit"], "time_limit", none=True),
    }


def fill(request: Request, loop: Loop) -> None:
    """Tell the loop what is asked for."""
    span = request.t1 - request.t0
    loop.t, loop.t_start, loop.t_end = request.t0, request.t0, request.t1
    loop.h_min, loop.h_max = request.min_step, min(request.max_step, INFINITE)
    loop.rtol, loop.old_log = request.rtol, LEAST
    loop.atol[:] = request.atol
    loop.fixed, loop.h = request.step is not None, 0.0
    if request.step is not None:
        loop.total = max(1, int(np.ceil(abs(span) / request.step * (1 - 1e-9))))
        loop.h = np.copysign(request.step, span)
    elif request.first_step is not None:
        first = max(request.first_step, shortest_first(request.t0, span))
        loop.h = np.copysign(min(first, abs(span)), span)
