"""herkosidae: the program of 2017 under its own parameter names, rules included.

The defaults are the settings of Section 4.3 of the thesis. The coarse value of the step doubling is kept;
H[0] = h0, then H[j] is the step *proposed* after the j-th acceptance. A failing Newton iteration raises
NewtonAbort, with the points reached.

Not copied, because no published number depends on it: index errors of the selection where required
components are not the last ones, T with n equal rows for constant steps, answers for an E that is not
regularly reducible, and endless trials when the estimate is not a number. Warnings come once, with how
often there was reason for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from herk.core import Dae, InputError, Problem
from herk.core.dae import Array
from herk.integrate.callables import bound
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.model.evaluate import linearise
from herk.thesis import layout
from herk.thesis.outcome import NewtonAbort, Outcome, ThesisError, warn
from herk.thesis.run import Run
from herk.thesis.settings import Settings, number


def herkosidae(
    dae: Any,
    t0: float,
    tf: float,
    x0: Sequence[float] | Array,
    *,
    method: int | str | Tableau = 6,
    h0: float = 0.01,
    ssc: int = 1,
    eps0: float = 1e-7,
    beta: float = 0.7,
    tol: float = 1e-13,
    ptol: float = 1e-15,
    delta: float = 1e-14,
    Jopt: int = 0,
    Estat: int = 0,
    Nopt: int = 1,
) -> tuple[Array, Array, Array]:
    """Integrate E x' = f, 0 = g from t0 to tf; return points X (n x points), times T and steps H.

    dae      a herk.Dae (callables (t, x)), or a model or problem, of which the overdetermined form is taken
    method   1 Euler, 2 Heun, 3 Kutta, 4 classical, 5 Brasey-Hairer of 3 stages, 6 HEM4, 7 the 3/8 rule; or a
             name of herk.METHODS
    h0       first step; with ssc = 0 every step, round((tf - t0)/h0) of them, even if that misses tf
    ssc      1: step doubling; anything else: constant steps (the original's word 'adaptive', too)
    eps0     a step is accepted if the 2-norm of the difference is at most (2^p - 1) eps0
    beta     safety factor of the step size
    tol      Newton stops if |the *signed sum* of the residuals| is below; reduced to eps0 if larger
    ptol     a smaller pivot ends the search for algebraic components
    delta    absolute increment of the difference quotients
    Jopt     1: dg/dx is the dae's jac_g; 0: difference quotients
    Estat    1: E is evaluated and factored once, at the start; 0: at every stage (a constant matrix once)
    Nopt     1: simplified Newton (a Jacobian per stage, QR), 0: classical (a Jacobian per update, LU)
    """
    settings = Settings(method, h0, ssc, eps0, beta, tol, ptol, delta, Jopt, Estat, Nopt)
    outcome = integrate(dae, t0, tf, x0, settings)
    if outcome.failure:
        kind = NewtonAbort if outcome.failure == layout.NEWTON else ThesisError
        raise kind(outcome.message, outcome.t_failed, outcome.X, outcome.T, outcome.H)
    warn(outcome, settings)
    return outcome.X, outcome.T, outcome.H


def integrate(dae: Any, t0: float, tf: float, x0: Sequence[float] | Array, settings: Settings) -> Outcome:
    """Run the program and return all that is known, failures too."""
    system = _system(dae)
    t0, tf, x = number(t0, "t0"), number(tf, "tf"), _start(x0, system)
    if not tf > t0:
        raise InputError(f"The program goes forward only: tf = {tf} must be larger than t0 = {t0}.")
    linearise(system, t0, x)  # says what is wrong with a callable, shapes included
    functions = bound(system)
    if settings.Jopt == 1 and not functions.have_jacobian:
        raise InputError("Jopt = 1 takes dg/dx from the dae, but it has no jac_g; give one, or use Jopt = 0.")
    return Run(system, functions, t0, tf, x, settings).go()


def _system(dae: Any) -> Dae:
    if isinstance(dae, Dae):
        dae.refuse_implicit("herkosidae")
        return dae
    if isinstance(dae, Problem):
        return dae.dae
    if hasattr(dae, "form"):
        form: Dae = dae.form("overdetermined")
        return form
    raise InputError(f"herkosidae integrates a herk.Dae, a model or a problem, not {type(dae).__name__}.")


def _start(x0: Any, dae: Dae) -> Array:
    try:
        x = np.array(x0, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"x0 must be {dae.n} numbers, not {x0!r}.") from None
    if x.shape != (dae.n,) or not np.isfinite(x).all():
        raise InputError(f"x0 must be {dae.n} finite numbers, one for each of {', '.join(dae.names)}.")
    return x
