"""solve_dae: integrate E(t,y) y' = f(t,y), 0 = g(t,y) with SciPy's manners and every constraint kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from herk.core import Solution, Switches
from herk.core.dae import Array
from herk.integrate.defect import examined
from herk.integrate.methods import Auto, Method
from herk.integrate.options import Request, request
from herk.integrate.prepared import outcome
from herk.integrate.progress import Progress
from herk.integrate.saved import refuse_with
from herk.model.index_reduction.clock import within


def solve_dae(
    system: Any,
    t_span: tuple[float, float] | None = None,
    y0: Sequence[float | None] | Array | None = None,
    *,
    method: str | Method | Auto = "auto",
    rtol: float = 1e-6,
    atol: float | Sequence[float] | Array = 1e-9,
    step: float | None = None,
    t_eval: Sequence[float] | Array | None = None,
    dense_output: bool = False,
    save: Any = None,
    events: Callable[[float, Array], float] | Sequence[Callable[[float, Array], float]] | None = None,
    first_step: float | None = None,
    max_step: float = np.inf,
    max_steps: int = 10_000_000,
    time_limit: float | None = None,
    consistent: str = "check",
    callback: Callable[[float, Array], Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    breakpoints: Sequence[float] = (),
    switches: Switches | bool | None = None,
    yp0: Sequence[float | None] | Array | None = None,
    progress: bool = False,
    defect: bool = False,
    error_estimate: bool = False,
    sensitivities: Sequence[str] | None = None,
    sensitivity_errors: bool = False,
    **method_options: Any,
) -> Solution:
    """Integrate a DAE: half-explicit Runge-Kutta, or Radau IIA where it is stiff.

    All constraints hold to rounding at every point returned, hidden ones too.

    Parameters
    ----------
    system : Dae, Model or Problem
        What to solve; the hidden constraints of a model are found.
    t_span, y0 : optional
        (t0, t_end), t_end < t0 allowed, and the start: values in order, or by name for a model. Entries that
        are None are computed from the constraints.
    method : str or Tableau, optional
        "auto" takes dop853, and radau5 where stability limits the steps or stages cost more, from the start
        or later, and goes back; ``sol.methods`` tells when and why. A name in ``herk.METHODS`` or a tableau:
        half-explicit, for problems that are not stiff. "radau5": implicit, of order 5 in every component
        whatever the index; "radau9", "radau13"; "radau": the one of them that suits each step.
    rtol, atol : float, array
        Tolerances of the local error in every component, multipliers too.
    step : float, optional
        A fixed step; the last one is shortened to hit t_end.
    t_eval, dense_output : optional
        Times to return instead of the accepted points; True lets the solution be called with a time.
    save : sequence, optional
        Names or numbers of the components to keep, in this order: ``sol.y`` has these rows and no others, and
        memory is theirs. Dense output is then that of ``project_output=False``.
    events : callable or sequence, optional
        Functions (t, y) -> float by SciPy's rules, with attributes ``terminal`` (True or a count) and
        ``direction``. A change of sign in a jump of the equations, at a breakpoint or a switch, is an event
        with the state behind it. An attribute ``reset``, a function (t, y) -> new y, lets the run go on from
        there, made consistent: an impact; a count in ``terminal`` ends the run behind that reset. Of events
        at one time every reset is made, in their order. Signs that a reset changes are no events; a start at
        which an event is zero is reset only if it then goes on in its ``direction``.
    first_step, max_step, max_steps, time_limit : optional
        Limits; the run ends with a reason and the points reached.
    consistent : {"check", "project", "trust"}
        An inconsistent start is refused with the rows at fault, repaired, or taken as it is.
    callback : callable, optional
        callback(t, y) after every accepted step; returning True stops.
    parameters : mapping, optional
        Values for this run, by name; nothing is derived or compiled again for them.
    breakpoints : sequence of float, optional
        Times at which the equations are not smooth: no step leads across, algebraic components may jump.
        They come on top of those a problem brings and of those a model shows.
    switches : Switches or bool, optional
        Equations that change where functions of the state change sign. Unless it is False, conditions in a
        model (Piecewise, sign, Heaviside) at which the equations jump are found, located and restarted at;
        True: kinks (Abs, Max, Min) too. A problem brings its own.
    yp0 : sequence, optional
        y' at the start of a Dae given by F, None where it is to be computed; needed where several fit.
    progress : bool, optional
        True: a long run says on one line of the terminal how far it is.
    defect : bool, optional
        ``sol.defect`` becomes the largest E y' - f along the dense output beside the size of its terms, from
        the formulas as written, not from the code that was run.
    error_estimate : bool, optional
        A second run at a tenth of the tolerances: ``sol.error_estimate`` is the largest difference of every
        component at the points of the first.
    sensitivities : sequence of str, optional
        Names of parameters, and "y0:x" for the start value of x: ``sol.dyd("l")`` is dy/dl, the derivative of
        the discrete solution, so that g_y dy/dl + dg/dl = 0 holds to rounding. Start values that are not
        named move so that the start stays consistent.
    sensitivity_errors : bool, optional
        The tolerances hold for sensitivities too, beside the sizes of parameters.
    **method_options
        ``newton="simplified"`` or ``"full"``, half-explicit methods; ``selection="sparse"`` or ``"complete"``
        (Procedure 3.11 to the letter, at every step); ``generate=False``: a model is solved as if it were
        given by callables; ``project_output=False``: values between steps are polynomials through the run,
        not put on g = 0, and need neither f nor g afterwards.

    Returns
    -------
    Solution
        ``t``, ``y``, ``success``, ``message`` and more, by SciPy's names.

    Raises
    ------
    InputError
        Where the call cannot be carried out. Ctrl-C raises KeyboardInterrupt as ever; the points reached are
        its attribute ``solution``.

    Examples
    --------
    >>> import herk
    >>> pendulum = herk.Model.from_equations(
    ...     "pendulum",
    ...     ["x'' = -2*x*lam", "y'' = -2*y*lam - g", "0 = x**2 + y**2 - 1"],
    ...     parameters={"g": 9.81},
    ...     start={"x": 1, "y": 0, "x'": 0, "y'": 0},
    ...     t_span=(0, 10),
    ... )
    >>> sol = herk.solve_dae(pendulum, rtol=1e-8, parameters={"g": 1.62})
    >>> sol.success, sol.residual < 1e-12
    (True, True)

    """
    options = {
        "rtol": rtol, "atol": atol, "step": step, "t_eval": t_eval, "dense_output": dense_output,
        "events": events, "first_step": first_step, "max_step": max_step, "max_steps": max_steps,
        "time_limit": time_limit, "consistent": consistent, "callback": callback, "save": save,
    }  # fmt: skip
    given = {"parameters": parameters, "breakpoints": breakpoints, "switches": switches, "yp0": yp0}
    with within(time_limit):  # finding hidden constraints takes time as well
        asked = request(system, t_span, y0, method, options, method_options, **given)
        refuse_with(asked, sensitivities=sensitivities, defect=defect)
        sol = _solved(asked, defect, progress, sensitivities, sensitivity_errors)
    return examined(asked, sol, defect=defect, error_estimate=error_estimate)


def _solved(
    asked: Request, dense: bool, progress: bool, sensitivities: Sequence[str] | None, controlled: bool
) -> Solution:
    """Carry out a request, with what was asked for beside it."""
    shown = Progress(asked.t0, asked.t1) if progress else None
    whole = asked.changed(dense_output=asked.dense_output or dense, progress=shown)
    try:
        if sensitivities is None:
            return outcome(whole)
        from herk.integrate.sensitivity.solve import differentiated

        return differentiated(whole, sensitivities, controlled=controlled)
    finally:
        if shown is not None:
            shown.close()
