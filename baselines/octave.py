"""GNU Octave's dassl, daspk and ode15i on F(t, z, z') = 0 of index 1, in Octave's own language.

Residual and exact Jacobian are functions of Octave, written from the formulas of the form and interpreted, as
its users write them. Tolerances: the weighted RMS of the local error, weights 1/(rtol |z| + atol), is kept
below 1 in each step, for all unknowns. Evaluations and trial steps are counted in the residual (a few per
cent of its time). Time is Octave's own, around the call alone. dassl and daspk hand out no steps of their
own; daspk gives up after 500 steps between output times, so it is asked for many where none are wanted.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from functools import cache

from baselines.formulas import Written, statements, written
from baselines.other_process import END, OWN_CLOCK, OtherProcess, Outside, Program, missing, outside
from baselines.prepared import implicit
from herk.core import Problem

COMMAND = "octave-cli"
INSTALL = "apt-get install octave, or tools/install_rivals.sh"
MANY_TIMES = 200  # output times, so that daspk's 500 steps between two of them are enough

CALLS = {
    "dassl": """
  dassl_options("relative tolerance", rtol * ones(n, 1));
  dassl_options("absolute tolerance", atol);
  dassl_options("step limit", 10000000);
  started = tic; [z, zp, state, words] = dassl({@residual, @jacobian}, z, zp, times); seconds = toc(started);
  if state < 0, complaint = words; end
""",
    "daspk": """
  daspk_options("relative tolerance", rtol * ones(n, 1));
  daspk_options("absolute tolerance", atol);
  times = unique([times; linspace(times(1), times(end), MANY_TIMES)']);
  started = tic; [z, zp, state, words] = daspk({@residual, @jacobian}, z, zp, times); seconds = toc(started);
  if state < 0, complaint = words; end
""",
    "ode15i": """
  set = odeset("RelTol", rtol, "AbsTol", atol, "Jacobian", @derivatives);
  turned = @(t, z, zp) residual(z, zp, t);
  lastwarn("");
  started = tic; [times, z] = ode15i(turned, times, z, zp, set); seconds = toc(started);
  complaint = lastwarn();
""",
}
FRAME = """1;
global nfev njev trials last
function r = residual(z, zp, t)
  global nfev trials last
  nfev += 1;
  if t != last, trials += 1; last = t; end
{residual}
end
function j = jacobian(z, zp, t, c)
  global njev
  njev += 1;
{jacobian}
end
function [a, b] = derivatives(t, z, zp)
  a = jacobian(z, zp, t, 0);
  b = jacobian(z, zp, t, 1) - a;
end
warning("off", "all");
n = {n};
printf("\\n{end}\\n"); fflush(stdout);
while true  # not fgetl, which waits for the line behind
  a = sscanf(input("", "s"), "%f");
  rtol = a(1); atol = a(2:n+1); z = a(n+2:2*n+1); zp = a(2*n+2:3*n+1); times = a(3*n+3:end);
  nfev = njev = trials = 0; last = NaN; seconds = 0; complaint = "";
  try
{call}
  catch problem
    complaint = strrep(problem.message, "\\n", " "); z = zeros(0, n); times = [];
  end
  times = times(1:rows(z));
  printf("\\nseconds %.9g\\ncounts %d %d %d\\n", seconds, trials, nfev, njev);
  if ! isempty(complaint), printf("complaint %s\\n", complaint); end
  if rows(z) > 0, printf(["point" repmat(" %.17g", 1, n + 1) "\\n"], [times, z]'); end
  printf("{end}\\n");
  fflush(stdout);
end
"""


@cache
def octave_version() -> str:
    """Return the version of Octave."""
    said = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
    found = re.search(r"version (\S+)", said)
    return f"GNU Octave {found[1]}" if found else ""


def script(system: Written, function: str) -> str:
    """Return the program for one of Octave's solvers."""
    from sympy import Symbol, octave_code

    n, c = len(system.states), Symbol("c")
    names = {system.t: "t"}
    names |= {symbol: f"z({j + 1})" for j, symbol in enumerate(system.states)}
    names |= {symbol: f"zp({j + 1})" for j, symbol in enumerate(system.rates)}
    lines, values = statements(system.residual(), names, octave_code)
    residual = [*lines, f"r = [{'; '.join(values)}];"]
    matrix = [
        a + c * b
        for left, right in zip(system.jacobian(system.states), system.jacobian(system.rates), strict=True)
        for a, b in zip(left, right, strict=True)
    ]
    lines, values = statements(matrix, names, octave_code)
    by_rows = "; ".join(", ".join(values[i * n : (i + 1) * n]) for i in range(n))
    call = CALLS[function].replace("MANY_TIMES", str(MANY_TIMES))
    return FRAME.format(
        residual="\n".join(residual),
        jacobian="\n".join([*lines, f"j = [{by_rows}];"]),
        n=n,
        call=call,
        end=END,
    )


@dataclass(frozen=True)
class Octave(OtherProcess):
    """One of Octave's functions for implicit equations."""

    function: str = ""

    def available(self) -> tuple[bool, str]:
        """Tell whether there is an Octave."""
        return missing(COMMAND, INSTALL)

    @property
    def version(self) -> str:
        """Return the version of Octave."""
        return octave_version() if self.available()[0] else ""

    def prepare(self, problem: Problem, form: str) -> Outside:
        """Return the form with its program."""
        base = implicit(problem, form)
        text = script(written(base.form), self.function)
        program = Program((COMMAND, "--norc", "--no-history", "--quiet", "rival.m"), {"rival.m": text})
        return outside(base, program)


TAGS = frozenset({"implicit", "stiff", "multistep", "interpreted", "ends_only", OWN_CLOCK, "rival"})
SOLVERS = tuple(
    Octave(f"octave_{name}", "octave", ("index1",), 5, True, TAGS, function=name) for name in CALLS
)
