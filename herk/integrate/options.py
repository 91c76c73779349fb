"""What solve_dae was asked for, checked: every wrong input ends here with a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from herk.core import Dae, InputError, Problem, Switches, nearest
from herk.core.dae import Array
from herk.integrate.controller import shortest_first
from herk.integrate.methods import Method, method_of
from herk.integrate.steps import INFINITE, Loop
from herk.model.plain import ordered

EPS = float(np.finfo(float).eps)
NUMBERS = (bool, int, float, np.bool_, np.number)
CONSISTENT = ("check", "trust", "project")
NEWTON = ("simplified", "full")
SELECTION = ("sparse", "complete")
METHOD_OPTIONS = ("newton", "selection", "generate", "project_output")


@dataclass(frozen=True)
class Request:
    """A checked call of solve_dae."""

    dae: Dae
    t0: float
    t1: float
    y0: tuple[float | None, ...]
    tableau: Method
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
    breakpoints: tuple[float, ...] = ()
    switches: Switches | None = None
    muted: int | None = None  # an event that is zero at the start and not looked at in the first step

    @property
    def segmented(self) -> bool:
        """Tell whether the run ends and begins anew on the way."""
        resets = any(getattr(event, "reset", None) is not None for event in self.events or ())
        inside = any(min(self.t0, self.t1) < b <= max(self.t0, self.t1) for b in self.breakpoints)
        return inside or resets or self.switches is not None


def system(given: Any, t_span: Any, y0: Any, parameters: Any = None) -> tuple[Dae, Any, Any]:
    """Return DAE, span and start from a Dae, a Model or a Problem.

    What the call names wins over what they bring.
    """
    dae: Dae
    span: Any
    start: Any
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
        raise InputError(
            "solve_dae takes a herk.Dae, herk.Model or a problem of the test set, not"
            f" {type(given).__name__}."
        )
    y0 = in_order(dae, y0)
    span, start = span if t_span is None else t_span, start if y0 is None else y0
    if span is None or start is None:
        raise InputError("A herk.Dae brings no span and no start: call solve_dae(dae, t_span, y0).")
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
    return given.with_parameters(**{str(name): value for name, value in parameters.items()})


def request(
    given: Any,
    t_span: Any,
    y0: Any,
    method: str | Method,
    options: dict[str, Any],
    extra: dict[str, Any],
    parameters: Any = None,
    breakpoints: Any = (),
    switches: Any = None,
) -> Request:
    """Check every argument and return the request."""
    for name in extra:
        if name not in METHOD_OPTIONS:
            raise nearest(name, METHOD_OPTIONS, "option")
    dae, span, start = system(given, t_span, y0, parameters)
    t0, t1 = span_of(span)
    atol = options["atol"]
    if isinstance(given, Switches):
        switches = given
    if isinstance(given, Problem):
        breakpoints, switches = breakpoints or given.kinks, switches or given.switches
        atol = given.atol(atol) if given.sizes and np.ndim(atol) == 0 else atol
    elif not breakpoints:
        model = getattr(dae, "model", None)
        if model is not None and model.t_span != (t0, t1):
            model = model.with_span(t1, t0)
        breakpoints = getattr(model, "breakpoints", ())
    tableau = method_of(method)
    step = _positive(options["step"], "step", none=True)
    if step is None and not tableau.adaptive:
        raise InputError(
            f"Method {tableau.name!r} has no error estimate; give step=h, or choose an adaptive pair such as"
            " 'dopri5'."
        )
    _choice(options["consistent"], CONSISTENT, "consistent")
    _choice(extra.get("newton", "simplified"), NEWTON, "newton")
    _choice(extra.get("selection", "sparse"), SELECTION, "selection")
    rtol = rtol_of(options["rtol"])
    if step is not None and not 16 * EPS * max(abs(t0), abs(t1)) < step < math.inf:
        raise InputError(f"step = {step:g} is not a step from {t0} to {t1} in double precision.")
    if options["callback"] is not None and not callable(options["callback"]):
        raise InputError("callback must be a callable (t, y); it stops the run by returning True.")
    return Request(
        dae=dae,
        t0=t0,
        t1=t1,
        y0=start_of(start, dae),
        tableau=tableau,
        rtol=rtol,
        atol=atol_of(atol, dae.n),
        step=step,
        t_eval=times_of(options["t_eval"], t0, t1),
        dense_output=bool(options["dense_output"]),
        events=_events(options["events"]),
        first_step=_positive(options["first_step"], "first_step", none=True),
        max_step=_positive(options["max_step"], "max_step"),
        max_steps=_count(options["max_steps"]),
        time_limit=_positive(options["time_limit"], "time_limit", none=True),
        consistent=options["consistent"],
        callback=options["callback"],
        newton=extra.get("newton", "simplified"),
        selection=extra.get("selection", "sparse"),
        generate=bool(extra.get("generate", True)),
        project_output=bool(extra.get("project_output", True)),
        breakpoints=_breakpoints(breakpoints),
        switches=_switches(switches, dae),
    )


def rtol_of(value: Any) -> float:
    """Return the relative tolerance, checked."""
    rtol = float(_positive(value, "rtol"))
    if not 1e-15 <= rtol < math.inf:
        raise InputError(
            f"rtol = {rtol:g} makes no sense in double precision; use a finite number of at least 1e-15."
        )
    return rtol


def span_of(span: Any) -> tuple[float, float]:
    """Return both ends of the span, checked."""
    try:
        t0, t1 = (float(value) for value in ordered(span, "t_span must be two numbers"))
    except (TypeError, ValueError):
        raise InputError(f"t_span must be two numbers (t0, t_end), not {span!r}.") from None
    if not (math.isfinite(t0) and math.isfinite(t1)):
        raise InputError(f"t_span = ({t0}, {t1}) is not finite.")
    if t0 == t1:
        raise InputError(f"t_span has length zero: both ends are {t0}.")
    return t0, t1


def start_of(y0: Any, dae: Dae) -> tuple[float | None, ...]:
    """Return the start values, checked; None stands for one to be computed."""
    try:
        values = tuple(
            None if value is None else float(value) for value in ordered(y0, "y0 must be a sequence")
        )
    except (TypeError, ValueError):
        values = ()
    if not values:
        raise InputError(
            f"y0 must be a sequence of {dae.n} numbers (None for one to be computed), not {y0!r}."
        )
    if len(values) != dae.n:
        raise InputError(f"y0 has {len(values)} entries; the DAE has n = {dae.n} unknowns.")
    wrong = [dae.names[i] for i, value in enumerate(values) if value is not None and not math.isfinite(value)]
    if wrong:
        raise InputError(f"y0 is not finite in {', '.join(wrong)}.")
    return values


def _positive(value: Any, name: str, none: bool = False) -> Any:
    if value is None and none:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not float(value) > 0:
        raise InputError(f"{name} must be a positive number, not {value!r}.")
    return float(value)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"max_steps must be a whole number of at least 1, not {value!r}.")
    return int(value)


def _choice(value: Any, known: Sequence[str], name: str) -> None:
    if value not in known:
        raise nearest(value, known, f"choice of {name}")


def atol_of(atol: Any, n: int) -> Array:
    """Return an absolute tolerance for every component, checked."""
    try:
        array = np.array(atol, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"atol must be a number or {n} numbers, not {atol!r}.") from None
    if array.shape not in ((), (n,)):
        raise InputError(
            f"atol has shape {array.shape}; give one number or one for each of the {n} unknowns."
        )
    if not (np.isfinite(array).all() and (array > 0).all()):
        raise InputError("atol must be positive and finite in every component.")
    return np.broadcast_to(array, (n,)).copy()


def times_of(t_eval: Any, t0: float, t1: float) -> Array | None:
    """Return the output times, checked."""
    if t_eval is None:
        return None
    try:
        times: Array = np.array(t_eval, dtype=float)
    except (TypeError, ValueError):
        raise InputError("t_eval must be a sequence of times, all of them numbers.") from None
    if times.ndim != 1 or not times.size:
        raise InputError("t_eval must be a non-empty sequence of times.")
    if not ((times >= min(t0, t1)) & (times <= max(t0, t1))).all():
        raise InputError(f"t_eval has times outside the span from {t0} to {t1}.")
    if times.size > 1 and not (np.diff(times) * np.sign(t1 - t0) > 0).all():
        raise InputError("t_eval must be strictly monotone in the direction of integration.")
    return times


def _breakpoints(times: Any) -> tuple[float, ...]:
    try:
        found = tuple(sorted({float(time) for time in times}))
    except (TypeError, ValueError):
        raise InputError(f"breakpoints must be a sequence of times, not {times!r}.") from None
    if not all(map(math.isfinite, found)):
        raise InputError("breakpoints must be finite times.")
    return found


def _switches(switches: Any, dae: Dae) -> Switches | None:
    if switches is None:
        return None
    if not isinstance(switches, Switches):
        raise InputError(f"switches must be a herk.core.Switches, not {type(switches).__name__}.")
    if switches.dae.n != dae.n + len(switches.events):
        wanted = f"{dae.n} and a mode for each of {len(switches.events)} events are needed"
        raise InputError(f"The DAE of the switches has {switches.dae.n} unknowns; {wanted}.")
    return switches


def _events(events: Any) -> tuple[Callable[[float, Array], float], ...] | None:
    if events is None:
        return None
    try:
        listed = (events,) if callable(events) else tuple(events)
    except TypeError:
        raise InputError(
            f"events must be a callable (t, y) -> float or several, not {type(events).__name__}."
        ) from None
    for event in listed:
        if not callable(event):
            raise InputError(f"events must be callables (t, y) -> float, not {type(event).__name__}.")
        terminal, direction = getattr(event, "terminal", None), getattr(event, "direction", 0)
        if terminal is not None and not (
            isinstance(terminal, NUMBERS) and int(terminal) == terminal and terminal >= 0
        ):
            raise InputError(
                "The attribute terminal of an event must be True, False or a whole number of events to end"
                " after."
            )
        if getattr(event, "reset", None) is not None and not callable(event.reset):
            raise InputError("The attribute reset of an event must be a function (t, y) -> new y.")
        if not isinstance(direction, NUMBERS) or direction != direction:
            raise InputError(
                "The attribute direction of an event must be a number, of which the sign counts, not"
                f" {direction!r}."
            )
    return listed


def fill(request: Request, loop: Loop) -> None:
    """Tell the loop what is asked for."""
    span = request.t1 - request.t0
    loop.t, loop.t_start, loop.t_end = request.t0, request.t0, request.t1
    loop.h_max, loop.rtol, loop.old_error = min(request.max_step, INFINITE), request.rtol, 1e-4
    loop.atol[:] = request.atol
    loop.fixed, loop.h = request.step is not None, 0.0
    if request.step is not None:
        loop.total = max(1, int(np.ceil(abs(span) / request.step * (1 - 1e-9))))
        loop.h = np.copysign(request.step, span)
    elif request.first_step is not None:
        first = max(request.first_step, shortest_first(request.t0, span))
        loop.h = np.copysign(min(first, abs(span)), span)
