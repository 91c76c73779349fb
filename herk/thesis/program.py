"""herkosidae: the program of 2017 under its own parameter names, rules included."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from herk.core import Dae, HerkError, InputError, Problem
from herk.core.dae import Array
from herk.integrate.callables import Functions, bind
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.integrate.steppers.half_explicit.tableaus import get
from herk.jit.compiled import interpreted
from herk.jit.pointers import address
from herk.model.evaluate import linearise
from herk.thesis import memory as at
from herk.thesis.drive import advance
from herk.thesis.memory import Integers, integers, members, starts
from herk.thesis.solvers import solver

METHODS = {
    1: "euler",
    2: "heun",
    3: "kutta3",
    4: "rk4",
    5: "herk3",
    6: "hem4",
    7: "rk38",
}  # numbers of the original's getRKmethod
COUNTERS = ("REJECTED", "UPDATES", "SOLVES", "RELUCTANT", "ILL", "BEYOND")
CHUNK = 65536  # accepted steps between two looks at the keyboard
REASONS = {
    at.NEWTON: (
        "Newton's iteration does not converge: 99 updates did not bring |g_1 + ... + g_m| below tol = {tol:g}"
    ),
    at.NOT_FINITE: "the error estimate or the solution is not a finite number",
    at.UNDERFLOW: "the step has become so small that it no longer changes t",
    at.IRREDUCIBLE: (
        "E is not regularly reducible (its non-zero columns depend on each other), or more components are"
        " free than g has rows"
    ),
}


class ThesisWarning(UserWarning):
    """A warning of the original program."""


class ThesisError(HerkError):
    """The run ended early; X, T and H hold the points reached, t is the stage time at which it happened."""

    def __init__(self, message: str, t: float, X: Array, T: Array, H: Array) -> None:
        """Keep the points reached."""
        super().__init__(message)
        self.t, self.X, self.T, self.H = t, X, T, H


class NewtonAbort(ThesisError):  # noqa: N818 - the name says what happened
    """Newton's iteration failed, which ends the integration.

    The program makes no second attempt with a smaller step.
    """


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A run with everything the studies want to know.

    Points, counters, selections, and how it ended (`failure` is 0 if well).
    """

    X: Array
    T: Array
    H: Array
    failure: int
    message: str
    t_failed: float
    rejected: int
    updates: int
    solves: int
    reluctant: int
    ill: int
    beyond: int
    masks: Integers

    @property
    def selections(self) -> list[tuple[float, tuple[int, ...]]]:
        """Return the start times of the steps at which the algebraic components changed.

        And the components; the first step counts.
        """
        changed = np.flatnonzero(np.diff(self.masks, prepend=-1))
        return [(float(self.T[k]), members(int(self.masks[k]), len(self.X))) for k in changed]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The parameters of the program, and what studies add.

    max_norm stops Newton by max |g_i|, keep_fine keeps the value of the half steps, interpret runs everything
    in plain Python.
    """

    method: int | str | Tableau = 6
    h0: float = 0.01
    ssc: int = 1
    eps0: float = 1e-7
    beta: float = 0.7
    tol: float = 1e-13
    ptol: float = 1e-15
    delta: float = 1e-14
    Jopt: int = 0
    Estat: int = 0
    Nopt: int = 1
    max_norm: bool = False
    keep_fine: bool = False
    interpret: bool = False

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("h0", "eps0", "beta", "tol", "ptol", "delta"):
            object.__setattr__(self, name, _positive(getattr(self, name), name))

    @property
    def adaptive(self) -> bool:
        """Tell whether steps are doubled; only the number 1 does it."""
        return not isinstance(self.ssc, str) and self.ssc == 1

    @property
    def tableau(self) -> Tableau:
        """Return the method."""
        if isinstance(self.method, (int, np.integer)) and not isinstance(self.method, bool):
            if self.method not in METHODS:
                raise InputError(f"Methods are numbered 1 to {len(METHODS)}, not {self.method}.")
            return get(METHODS[int(self.method)])
        return get(self.method)  # type: ignore[arg-type]


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
    """Integrate E x' = f, 0 = g from t0 to tf as HERKosiDAE 1.0 does.

    Return approximations X (n x points), times T and steps H.

    dae      a herk.Dae (callables (t, x)), or a model or problem, of which the overdetermined form is taken
    method   1 Euler, 2 Heun, 3 Kutta, 4 classical, 5 Brasey-Hairer of 3 stages, 6 HEM4, 7 the 3/8 rule; or a
             name of herk.METHODS
    h0       first step; with ssc = 0 every step, and N = round((tf - t0)/h0) of them: tf is hit only if h0
             divides the span
    ssc      1: step doubling; anything else: constant steps (the original takes the word 'adaptive' for
             constant steps too)
    eps0     accuracy: a step is accepted if the 2-norm of the difference, all components alike, is at most
             (2^p - 1) eps0
    beta     safety factor of the step size
    tol      Newton stops as soon as the absolute value of the *signed sum* of the residuals is below; reduced
             to eps0 if larger
    ptol     a smaller pivot ends the search for algebraic components
    delta    absolute increment of the difference quotients
    Jopt     1: dg/dx is the dae's jac_g; 0: difference quotients
    Estat    1: E is evaluated and factored once, at the start; 0: at every stage (a constant matrix once all
             the same)
    Nopt     1: simplified Newton (a Jacobian per stage, QR), 0: classical (a Jacobian per update, LU)

    The defaults are the settings of Section 4.3 of the thesis. The coarse value of the step doubling is kept;
    H[0] = h0, then H[j] is the step *proposed* after the j-th acceptance. A failing Newton iteration raises
    NewtonAbort, with the points reached.

    Not copied, because no published number depends on it: index errors of the selection where required
    components are not the last ones, T with n equal rows for constant steps, answers for an E that is not
    regularly reducible, and endless trials when the estimate is not a number. Warnings come once, with how
    often there was reason for them.
    """
    settings = Settings(
        method=method,
        h0=h0,
        ssc=ssc,
        eps0=eps0,
        beta=beta,
        tol=tol,
        ptol=ptol,
        delta=delta,
        Jopt=Jopt,
        Estat=Estat,
        Nopt=Nopt,
    )
    outcome = integrate(dae, t0, tf, x0, settings)
    if outcome.failure:
        kind = NewtonAbort if outcome.failure == at.NEWTON else ThesisError
        raise kind(outcome.message, outcome.t_failed, outcome.X, outcome.T, outcome.H)
    _warn(outcome, settings)
    return outcome.X, outcome.T, outcome.H


def integrate(dae: Any, t0: float, tf: float, x0: Sequence[float] | Array, settings: Settings) -> Outcome:
    """Run the program and return all that is known, failures too."""
    system = _system(dae)
    t0, tf, x = _number(t0, "t0"), _number(tf, "tf"), _start(x0, system)
    if not tf > t0:
        raise InputError(f"The program goes forward only: tf = {tf} must be larger than t0 = {t0}.")
    linearise(system, t0, x)  # says what is wrong with a callable, shapes included
    functions = bind(system, interpret=settings.interpret)
    if settings.Jopt == 1 and not functions.have_jacobian:
        raise InputError("Jopt = 1 takes dg/dx from the dae, but it has no jac_g; give one, or use Jopt = 0.")
    return _Run(system, functions, t0, tf, x, settings).go()


class _Run:
    """The arrays of one run and the points it collects."""

    def __init__(
        self, dae: Dae, functions: Functions, t0: float, tf: float, x: Array, settings: Settings
    ) -> None:
        tableau = settings.tableau
        n, m, s = dae.n, dae.m, tableau.stages
        self.functions = functions  # alive as long as their addresses are in use
        self.advance = advance if functions.compiled else interpreted(advance)
        self.control = np.zeros(at.CONTROL_SIZE)
        tol = min(settings.tol, settings.eps0) if settings.adaptive else settings.tol
        limit = 100 * max(tol, settings.eps0 if settings.adaptive else tol)
        self.control[: at.T_FAILED] = (
            t0,
            settings.h0,
            t0,
            tf,
            settings.delta,
            tol,
            settings.ptol,
            settings.eps0,
            settings.beta,
            limit,
        )
        e, f, g, jac = (address(function) for function in functions.in_place[:4])
        self.solver = None if settings.Jopt == 1 else solver(functions.in_place[2], n, m)
        self.ints = integers(
            {
                at.N: n,
                at.M: m,
                at.STAGES: s,
                at.ORDER: tableau.order,
                at.ADAPTIVE: settings.adaptive,
                at.JOPT: settings.Jopt == 1,
                at.ESTAT: settings.Estat == 1 or not callable(dae.E),
                at.NOPT: settings.Nopt == 1,
                at.MAX_NORM: settings.max_norm,
                at.KEEP_FINE: settings.keep_fine,
                at.STEPS: math.floor((tf - t0) / settings.h0 + 0.5),
                at.F_AT: f,
                at.G_AT: g,
                at.JAC_AT: jac,
                at.E_AT: e if callable(dae.E) else 0,
                at.SOLVER_AT: address(self.solver) if self.solver else 0,
            },
            n,
        )
        self.at = starts(n, m, s)
        self.mem = np.zeros(self.at[-1])
        self.mem[:n] = x
        if not callable(dae.E):
            self.mem[self.at[at.LEADING] :] = np.ravel(dae.E)
        self.weights, self.nodes = np.vstack([tableau.A, tableau.b]), np.append(tableau.c, 1.0)
        self.points = [(x[None, :], np.array([t0]), np.array([settings.h0]), np.zeros(0, np.int64))]

    def go(self) -> Outcome:
        """Advance stretch by stretch, so that a run can be interrupted."""
        n, size, state = int(self.ints[at.N]), 256, at.FULL
        while state == at.FULL:
            arrays = np.empty((size, n)), np.empty(size), np.empty(size), np.empty(size, np.int64)
            with np.errstate(all="ignore"):  # interpreted code meets what compiled code passes over
                state = self.advance(
                    self.control, self.ints, self.at, self.weights, self.nodes, self.mem, *arrays
                )
            count = int(self.ints[at.ACCEPTED])
            self.points.append(tuple(array[:count] for array in arrays))  # type: ignore[arg-type]
            size = min(4 * size, CHUNK)
        return self._outcome(state)

    def _outcome(self, state: int) -> Outcome:
        X, T, H, masks = (np.concatenate(parts) for parts in zip(*self.points, strict=True))
        failure, t_failed = (
            min(state, 0),
            float(self.control[at.T_FAILED if state in (at.NEWTON, at.IRREDUCIBLE) else at.T]),
        )
        message = (
            f"At t = {t_failed:.6g} {REASONS[failure].format(tol=self.control[at.TOL])}." if failure else ""
        )
        counts = {name.lower(): int(self.ints[getattr(at, name)]) for name in COUNTERS}
        return Outcome(
            X=X.T, T=T, H=H, masks=masks, failure=failure, message=message, t_failed=t_failed, **counts
        )


def _warn(outcome: Outcome, settings: Settings) -> None:
    """Issue the warnings of the original that say something about the result, each once."""
    texts = []
    if settings.adaptive and settings.tol > settings.eps0:
        texts.append(f"tol = {settings.tol:g} is larger than eps0 = {settings.eps0:g} and was set to it.")
    if settings.adaptive and settings.delta > settings.eps0:
        texts.append(
            f"delta = {settings.delta:g} is larger than eps0 = {settings.eps0:g}; Newton may converge slowly."
        )
    if outcome.reluctant:
        texts.append(
            f"{outcome.reluctant} times Newton stopped after 99 updates with a residual between tol and 10"
            " tol."
        )
    if outcome.ill:
        texts.append(f"{outcome.ill} Jacobians of the simplified Newton iteration had |R_11/R_mm| > 1e5.")
    if outcome.beyond:
        texts.append(
            f"Inhomogeneity not fulfilled: {outcome.beyond} times rows of f where E has none were above 100"
            " max(tol, eps0); check the model: these rows are constraints, and g does not keep them."
        )
    for text in texts:
        warnings.warn(text, ThesisWarning, stacklevel=3)


def _system(dae: Any) -> Dae:
    if isinstance(dae, Dae):
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


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not math.isfinite(value):
        raise InputError(f"{name} must be a finite number, not {value!r}.")
    return float(value)


def _positive(value: Any, name: str) -> float:
    number = _number(value, name)
    if not number > 0:
        raise InputError(f"{name} must be a positive number, not {value!r}.")
    return number
