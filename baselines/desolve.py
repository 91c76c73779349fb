"""R's package deSolve: daspk (BDF) and radau (Radau IIA of order 5) on compiled functions.

Residual, right-hand side and exact Jacobians are written in C from the formulas of the form and loaded by R,
which its users do where time counts; R does nothing while they run. Tolerances: the weighted RMS of the local
error, weights 1/(rtol |z| + atol), is kept below 1 in each step. In forms of index 2 and 3 unknowns are
handed over in the order of their index with their numbers (`nind`), and radau scales their errors by powers
of the step. Steps and evaluations are what deSolve reports. Time is R's own, around the call alone. No steps
of its own are handed out: without t_eval only start and end are returned.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from baselines.formulas import Written, statements, written
from baselines.other_process import END, OWN_CLOCK, OtherProcess, Outside, Program, missing, outside
from baselines.prepared import implicit
from herk.core import Problem

COMMAND = "Rscript"
INSTALL = "apt-get install r-cran-desolve gcc, or tools/install_rivals.sh"
BUILD = ("cc", "-O2", "-shared", "-fPIC", "-o", "rival.so", "rival.c", "-lm")

CALLS = {
    "daspk": """daspk(y = z, times = times, dy = zp, parms = NULL, res = "residual",
      jacres = "residual_jacobian", jactype = "fullusr", nind = nind, rtol = rtol, atol = atol,
      dllname = "rival", initfunc = NULL, maxsteps = 1e7)""",
    "radau": """radau(y = z, times = times, func = "right", parms = NULL, jacfunc = "right_jacobian",
      jactype = "fullusr", mass = mass, nind = nind, rtol = rtol, atol = atol, dllname = "rival",
      initfunc = NULL, maxsteps = 1e7)""",
}
SCRIPT = """
suppressMessages(library(deSolve))
dyn.load("rival.so")
options(warn = 1)
n <- {n}; nind <- c({nind}); mass <- matrix(c({mass}), n, n)
requests <- file("stdin", "r")
cat("\\n{end}\\n"); flush(stdout())
while (length(line <- readLines(requests, 1)) > 0) {{
  a <- as.numeric(strsplit(line, " ", fixed = TRUE)[[1]])
  rtol <- a[1]; atol <- a[2:(n + 1)]; z <- a[(n + 2):(2 * n + 1)]; zp <- a[(2 * n + 2):(3 * n + 1)]
  times <- a[(3 * n + 3):length(a)]
  complaint <- ""; seconds <- 0; counts <- c(0, 0, 0); out <- matrix(0, 0, n + 1)
  withCallingHandlers(
    tryCatch({{
      started <- Sys.time()
      out <- {call}
      seconds <- as.numeric(difftime(Sys.time(), started, units = "secs"))
      state <- attr(out, "istate")
      counts <- state[c(2, 3, {jacobians})]
      if (state[1] < 0) complaint <- paste(complaint, "deSolve ended with state", state[1])
    }}, error = function(e) complaint <<- paste(complaint, conditionMessage(e))),
    warning = function(w) {{
      complaint <<- paste(complaint, conditionMessage(w)); invokeRestart("muffleWarning")
    }}
  )
  cat(sprintf("\\nseconds %.9g\\ncounts %s\\n", seconds, paste(counts, collapse = " ")))
  if (nchar(complaint) > 0) cat("complaint", gsub("[\\r\\n]+", " ", complaint), "\\n")
  rows <- apply(out, 1, function(row) paste(sprintf("%.17g", row), collapse = " "))
  if (length(rows) > 0) cat(paste("point", rows), sep = "\\n")
  cat("\\n{end}\\n"); flush(stdout())
}}
"""
C_TEXT = """
#include <math.h>
void residual(double *time, double *z, double *zp, double *cj, double *r, int *ires, double *out, int *ip)
{{ double t = *time; {residual} }}
void residual_jacobian(double *time, double *z, double *zp, double *j, double *cj, double *out, int *ip)
{{ double t = *time, c = *cj; {residual_jacobian} }}
void right(int *n, double *time, double *z, double *r, double *out, int *ip)
{{ double t = *time; {right} }}
void right_jacobian(int *n, double *time, double *z, int *ml, int *mu, double *j, int *rows, double *out,
                    int *ip)
{{ double t = *time; {right_jacobian} }}
"""


@cache
def installed() -> tuple[bool, str]:
    """Tell whether R, deSolve and a C compiler are there; the version, or what is missing."""
    for command in (COMMAND, BUILD[0]):
        there, why = missing(command, INSTALL)
        if not there:
            return False, why
    asked = 'cat(as.character(getRversion()), as.character(packageVersion("deSolve")))'
    done = subprocess.run([COMMAND, "-e", asked], capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        return False, f"R has no package deSolve; {INSTALL}"
    return True, "R {}, deSolve {}".format(*done.stdout.split())


def c_text(system: Written) -> str:
    """Return residual and right-hand side with their Jacobians, matrices by columns."""
    import sympy as sp

    n, c = len(system.states), sp.Symbol("c")
    names = {system.t: "t"}
    names |= {symbol: f"z[{j}]" for j, symbol in enumerate(system.states)}
    names |= {symbol: f"zp[{j}]" for j, symbol in enumerate(system.rates)}
    by_states, by_rates = system.jacobian(system.states), system.jacobian(system.rates)
    both = [by_states[i][j] + c * by_rates[i][j] for j in range(n) for i in range(n)]
    inner = [row.diff(symbol) for symbol in system.states for row in system.f]
    values = {
        "residual": (system.residual(), "r"),
        "residual_jacobian": (both, "j"),
        "right": (list(system.f), "r"),
        "right_jacobian": (inner, "j"),
    }
    bodies = {}
    for name, (formulas, target) in values.items():
        lines, results = statements(formulas, names, sp.ccode, "double {} = {};")
        bodies[name] = " ".join([*lines, *(f"{target}[{i}] = {text};" for i, text in enumerate(results))])
    return C_TEXT.format(**bodies)


@dataclass(frozen=True)
class DeSolve(OtherProcess):
    """One function of deSolve."""

    function: str = ""

    def available(self) -> tuple[bool, str]:
        """Tell whether R, deSolve and a C compiler are there."""
        there, words = installed()
        return there, "" if there else words

    @property
    def version(self) -> str:
        """Return the versions of R and deSolve."""
        there, words = installed()
        return words if there else ""

    def supports(self, problem: Problem, form: str) -> tuple[bool, str]:
        """Refuse matrices E that change, where the solver takes a constant one, and an index above 3."""
        supported, why = super().supports(problem, form)
        if not supported:
            return supported, why
        own: Any = problem.form(form)
        if self.function == "radau" and callable(own.E):
            return False, f"{self.name} takes a constant matrix E, which problem {problem.name!r} has not"
        if max(own.variable_index) > 3:
            return False, f"{self.name} takes unknowns of index 1 to 3; those of {problem.name!r} have more"
        return True, ""

    def prepare(self, problem: Problem, form: str) -> Outside:
        """Return the form with its program, compiled."""
        base = implicit(problem, form)
        levels = np.array(base.form.variable_index)
        order = np.argsort(levels, kind="stable").tolist()
        matrix = np.eye(base.form.n) if callable(base.form.E) else np.asarray(base.form.E)[:, order]
        text = SCRIPT.format(
            n=base.form.n,
            nind=", ".join(str((levels == index).sum()) for index in (1, 2, 3)),
            mass=", ".join(f"{value:.17g}" for value in matrix.T.ravel()),
            call=CALLS[self.function],
            jacobians=4,
            end=END,
        )
        files = {"rival.R": text, "rival.c": c_text(written(base.form, order))}
        return outside(base, Program((COMMAND, "--vanilla", "rival.R"), files, (BUILD,)), order)


FORMS = ("index1", "ggl", "index2", "index3")
TAGS = frozenset({"implicit", "stiff", "ends_only", OWN_CLOCK, "rival"})
SOLVERS = (
    DeSolve("desolve_daspk", "desolve", ("index1",), 5, True, TAGS | {"multistep"}, function="daspk"),
    DeSolve("desolve_radau", "desolve", FORMS, 5, True, TAGS, function="radau"),
)
