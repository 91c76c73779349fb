"""Machines that serve again: one made and checked for a start serves others, while its checks hold there.

The constraints are satisfied, no pivot is near zero, y' is determined. Otherwise all is looked at again.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from herk.core.dae import Array
from herk.integrate.options import Request
from herk.integrate.run import Run
from herk.integrate.start import finished, started
from herk.linalg.threads import one_thread

MOST_KEPT = 32
_kept: OrderedDict[tuple[Any, ...], Reusable] = OrderedDict()


class Reusable:
    """A machine, and the run it was made for as long as that was not made."""

    def __init__(self, asked: Request) -> None:
        """Check and compile everything once."""
        self.asked = asked
        self.first: Run | None = started(asked)
        self.machine = self.first.machine
        self.machine.remember()

    def run(self, asked: Request, values: Array | None) -> Run | None:
        """Return the run, made to its end; None if all must be looked at again."""
        run = self.begun(asked, values)
        if run is not None:
            with one_thread(asked.dae.n):
                run.go()
        return run

    def begun(self, asked: Request, values: Array | None) -> Run | None:
        """Return the run before its first step; None if all must be looked at again."""
        run, self.first = self.first, None
        if run is None or asked is not self.asked or values is not None:
            again = self.machine.restart(asked, values)
            run = Run(asked, self.machine, self.machine.state.y.copy()) if again else None
        return run


def made(asked: Request) -> Run:
    """Return a run, made to its end, with the machine of an earlier one where that had the same code."""
    generated: Any = asked.dae.generated
    if not hasattr(generated, "code") or asked.consistent == "project" or asked.dense_output:
        return finished(asked)  # dense output holds its machine: in use again, it would answer for others
    how = asked.generate, asked.selection, asked.newton, asked.step is None
    key = (generated.key, asked.method.mark, *how)
    known = _kept.pop(key, None)  # nobody else may use it meanwhile
    values = generated.parameters if generated.values else None
    run = known.run(asked, values) if known is not None else None
    if run is None:
        known = Reusable(asked)
        run = known.run(asked, None)
    assert known is not None
    assert run is not None
    _kept[key] = known
    while len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
    return run
