"""`python -m herk`, also the command `herk`: shows what herk offers, and leads to the bench."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from herk import __version__

WORDS = f"""\
herk {__version__}: differential-algebraic equations, with every constraint satisfied at every step

In Python
  import herk
  model = herk.Model.from_equations("pendulum",
      ["x'' = -2*x*lam", "y'' = -2*y*lam - 9.81", "0 = x**2 + y**2 - 1"],
      start={{"x": 1, "y": 0, "x'": 0, "y'": 0}}, t_span=(0, 10))
  sol = herk.solve_dae(model)
  sol.plot("x", "y")

Commands
  herk                         show this text (python -m herk)
  herk bench [...]             run solvers side by side, write a report (python -m herk.bench)
  herk bench list              list problems, solvers, methods and studies
  herk bench recommend FILE    find the best solver for the model in FILE
  herk bench new problem NAME  write a template to start from
  herk --version               show the version

More: help(herk.solve_dae), help(herk.Model.from_equations), help(herk.circuit.model)
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command line and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["bench"]:
        from herk.bench.cli import main as bench

        return int(bench(words[1:]))
    if words in (["--version"], ["-V"]):
        sys.stdout.write(f"{__version__}\n")
        return 0
    if words and words not in (["--help"], ["-h"], ["help"]):
        sys.stderr.write(f"There is no command {words[0]!r}; known are bench, help and --version.\n")
        return 2
    sys.stdout.write(WORDS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
