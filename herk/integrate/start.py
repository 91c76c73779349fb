"""One smooth stretch: the start settled and checked, the machine made ready, the run made.

Its outcome put into words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from herk.core import HerkError, InputError, MethodUse, Solution
from herk.core.dae import Array
from herk.integrate.impulses import carried
from herk.integrate.options import Request
from herk.integrate.run import Run
from herk.integrate.slopes import Slopes
from herk.integrate.steppers.half_explicit import ready as half_explicit
from herk.integrate.steppers.protocol import Stepper
from herk.integrate.steppers.radau import ready as radau
from herk.integrate.steppers.radau.layout import RadauMethod
from herk.linalg.threads import one_thread
from herk.model.contradiction import at_fault, contradictions, in_other_steps
from herk.model.evaluate import Linearisation, linearise
from herk.model.forms.forms import Form, analysed_anew, analysis
from herk.model.several import another_start, refuse_several
from herk.model.start import completed_start, consistent_start, inconsistency, undetermined

ASKED = "asked for"  # why a method is in use at the start


def finished(asked: Request) -> Run:
    """Return the run, made to its end."""
    with one_thread(asked.dae.n):
        run = started(asked)
        run.go()
    return begun_otherwise(run, finished)


def begun_otherwise(run: Run, making: Callable[[Request], Run]) -> Run:
    """Return the run of the other method if that is to begin, otherwise the run itself."""
    if not run.declined or run.change is None:
        return run
    asked, plan = run.request, run.change.plan
    assert asked.plan is not None
    try:
        made = making(asked.changed(method=asked.plan.partner, plan=plan))
        made.before = run.before
    except HerkError:  # it cannot
        made = making(asked.changed(plan=asked.plan._replace(cost=plan.cost)))
    made.least = run.least
    return made


def started(asked: Request) -> Run:
    """Return the run; ranks that were decided for other values of the parameters and do not hold.

    For these are decided anew.
    """
    try:
        return _start(asked)
    except HerkError:
        dae = asked.dae
        if not isinstance(dae, Form) or dae.form != "overdetermined":
            raise
        other = analysed_anew(dae.model.with_start(asked.y0).with_span(t_end=asked.t1, t0=asked.t0))
        if other is None:
            raise
        return _start(replace(asked, dae=other))


def _derived_here(asked: Request) -> bool:
    """Tell whether the constraints were derived by the program for this very start.

    Then they are not put on trial again.
    """
    dae = asked.dae
    if not isinstance(dae, Form) or dae.form != "overdetermined":
        return False
    model = analysis(dae.model).model
    return bool(model.values == dae.model.values and model.y0 == asked.y0 and model.t_span[0] == asked.t0)


def _start(asked: Request) -> Run:
    """Settle the start values, check that the problem is well posed there, and make the machine ready."""
    dae = asked.dae
    y = (
        consistent_start(dae, asked.t0, asked.y0)
        if asked.consistent == "project"
        else completed_start(dae, asked.t0, asked.y0)
    )
    least, led = y, carried(asked, dae, y) if asked.consistent == "project" else None
    y = y if led is None else led
    here = linearise(dae, asked.t0, y, asked.t1, asked.atol / asked.rtol)
    if asked.consistent == "check":
        _check_start(asked, y, here)
        refuse_several(dae, asked.t0, asked.y0, y)
    wrong = undetermined(dae, here)
    if wrong:
        raise InputError(wrong)
    machine = _machine(asked, y, here)
    run = Run(asked, machine, machine.state.y.copy() if isinstance(asked.method, RadauMethod) else y)
    run.least = None if led is None else least
    run.several = another_start(dae, asked.t0, asked.y0, y)
    run.said = () if run.several is None else (run.several.words,)
    return run


def _machine(asked: Request, y: Array, here: Linearisation) -> Stepper:
    """Return the stepper of the method asked for, ready for its first step."""
    if isinstance(asked.method, RadauMethod):
        return radau.ready(asked, y, here)
    machine = half_explicit.ready(asked, y, here)
    machine.slot(machine.first_selection(here) if asked.dae.m else ())
    return machine


def _check_start(asked: Request, y: Array, here: Linearisation) -> None:
    wrong = inconsistency(asked.dae, asked.t0, y, asked.rtol, asked.atol, here)
    if wrong:
        raise InputError(
            f'{wrong} Repair it with consistent="project" or herk.consistent_start, or insist with'
            ' consistent="trust".'
        )
    contrary = [] if _derived_here(asked) else contradictions(here, asked.t0)
    other = in_other_steps(asked.dae, asked.t0, y, here, asked.atol / asked.rtol) if contrary else None
    if contrary and (other is None or contradictions(other, asked.t0)):
        raise InputError(
            f'{" ".join(contrary)} Correct {at_fault(contrary)}, or insist with consistent="trust".'
        )


def _parameters(run: Run) -> Array | None:
    """Return the values of parameters the run was made with."""
    known = getattr(run.machine.state, "parameters", None)
    return None if known is None else known.copy()


def solution_of(run: Run) -> Solution:
    """Return what a finished run found."""
    t_events, y_events = run.watch.results() if run.watch else (None, None)
    t, y = run.output.results()
    asked, machine = run.request, run.machine
    values = {
        "t": t,
        "y": y,
        "reason": run.reason,
        "message": run.message,
        "sol": run.output.dense() if asked.dense_output else None,
        "slopes": Slopes(asked, _parameters(run)),
        "t_events": t_events,
        "y_events": y_events,
        "residual": machine.residual,
        "selections": tuple(run.output.selections),
        "nstep": run.output.steps,
        "notes": (*run.said, *machine.notes()),
        "names": asked.dae.names,
        "system": getattr(getattr(asked.dae, "model", None), "name", ""),
        "method": asked.method.name if asked.plan is None else "auto",
        "methods": _from_start(asked.t0, asked.method.name, ASKED if asked.plan is None else asked.plan.why),
        "seconds": run.seconds,
        **run.counts(),
    }
    return Solution.of(values)


@lru_cache(maxsize=64)
def _from_start(t0: float, name: str, why: str) -> tuple[MethodUse, ...]:
    """Return that a method made all steps."""
    return (MethodUse(t0, name, why),)
