"""How runs end: a solution; an interrupt carries what was reached."""

from __future__ import annotations

from herk.core import Reason, Solution
from herk.integrate.implicit import answered
from herk.integrate.options import Request
from herk.integrate.relief import wanted
from herk.integrate.renewal import ENDS, renewed
from herk.integrate.run import Run
from herk.integrate.saved import kept
from herk.integrate.segments import solve_segments
from herk.integrate.start import solution_of


def in_segments(asked: Request) -> Solution:
    """Carry out a request whose run ends and begins anew on the way."""
    return _raised(asked, *solve_segments(asked))


def concluded(run: Run) -> Solution:
    """Return the solution of a run that ended; where others go on, they do."""
    failed = run.reason is not Reason.FINISHED
    if run.goes_on or (failed and (wanted(run, 1) or (run.reason in ENDS and renewed(run)))):
        return _raised(run.request, *solve_segments(run.request, run))
    return _raised(run.request, solution_of(run), run.interrupted)


def _raised(asked: Request, found: Solution, interrupted: KeyboardInterrupt | None) -> Solution:
    solution = kept(asked, answered(asked.dae, found))
    if interrupted is not None:
        interrupted.solution = solution  # type: ignore[attr-defined]
        raise interrupted
    return solution
