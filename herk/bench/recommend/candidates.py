"""Which solvers on which forms are tried, in which order.

First those that referee, then the likely winners, then all others.
"""

from __future__ import annotations

import baselines
from herk.bench.recommend.examine import Facts
from herk.bench.recommend.underlying import SOLVERS
from herk.core import Solver

Candidate = tuple[str, str]  # solver, form

# Four codes that share nothing: explicit of order 8, BDF, and two of Radau IIA on different forms.
REFEREES: tuple[Candidate, ...] = (
    ("herk_dop853", "overdetermined"),
    ("ida_sundae_jac", "index1"),
    ("scipy_radau", "ode"),
    ("solve_dae_radau", "index1"),
)
# An ordinary differential equation has no form of index 1: Radau IIA twice, and BDF as LSODA has it.
ODE_REFEREES: tuple[Candidate, ...] = (
    ("herk_dop853", "overdetermined"), ("radau5", "ode"), ("scipy_lsoda", "ode"), ("scipy_radau", "ode"),
)  # fmt: skip
LIKELY: tuple[Candidate, ...] = (
    ("herk_dopri5", "overdetermined"),
    ("radau5", "index1"),
    ("scipy_lsoda", "ode"),
    ("scipy_dop853", "ode"),
    ("radau5", "ode"),
    ("ida_sundae_jac", "ggl"),
    ("scipy_bdf", "ode"),
    ("solve_dae_radau", "ggl"),
    ("solve_dae_radau", "index3"),
    ("ida_sundae_jac", "index2"),
    ("ida_sundae_jac", "index3"),
    ("solve_dae_bdf", "index1"),
    ("scipy_rk45", "ode"),
)
CALLABLES: tuple[Candidate, ...] = (
    ("herk_dop853", "overdetermined"),
    *((solver.name, "underlying") for solver in SOLVERS),
    ("herk_dopri5", "overdetermined"),
)
MANY_STEPS = 1e4
LATER = (
    "scikits",
    "casadi",
    "herk",
)  # twins of what was tried already, and kernels that take long to compile


def solver(name: str) -> Solver:
    """Return a solver by its name."""
    return next((each for each in SOLVERS if each.name == name), None) or baselines.get(name)


def kind(name: str) -> str:
    """Return what kind of method a solver is; two of the same kind do not vouch for each other."""
    tags = solver(name).tags
    return "explicit" if "explicit" in tags else "multistep" if "multistep" in tags else "implicit one-step"


def referees(facts: Facts) -> tuple[Candidate, ...]:
    """Return the candidates whose agreement makes the reference.

    Where stability asks explicit ones for many steps they come last.
    """
    chosen = CALLABLES[:3] if facts.index is None else REFEREES if facts.index else ODE_REFEREES
    return tuple(
        sorted(chosen, key=lambda pair: facts.stability_steps > MANY_STEPS and kind(pair[0]) == "explicit")
    )


def candidates(facts: Facts) -> list[Candidate]:
    """Return every adaptive solver on every form it takes, in the order of trying.

    Slow twins in plain Python are left out, and rivals in programs of their own, which nobody can paste.

    Where stability asks explicit methods for many steps they come after the implicit ones.
    """
    first = CALLABLES if facts.index is None else (*REFEREES, *LIKELY)
    every = [
        (name, form)
        for name in baselines.names()
        if (each := baselines.get(name)).adaptive
        and not {"interpreted", "own_clock"} & each.tags
        and each.available()[0]
        for form in each.forms
        if _exists(form, facts)
    ]
    present = [pair for pair in first if pair in every or pair[1] == "underlying"]
    if facts.stability_steps > MANY_STEPS:
        present.sort(key=lambda pair: kind(pair[0]) == "explicit")
    rest = sorted(
        set(every) - set(first),
        key=lambda pair: ([word in pair[0] for word in LATER], pair[1] != "overdetermined", pair),
    )
    return [*present, *rest]


def _exists(form: str, facts: Facts) -> bool:
    """Tell whether a model of this index can have the form; callables are overdetermined already."""
    if facts.index is None:
        return form == "overdetermined"
    least = {
        "overdetermined": 0,
        "ode": 0,
        "index1": 1,
        "index2": 2,
        "index3": 3,
        "ggl": 3,
        "baumgarte": 2,
        "second_order": 3,
    }
    return facts.index >= least.get(form, 0)
