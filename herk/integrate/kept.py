"""Machines that serve again: one made and checked for a start serves others, while its checks hold there.

The constraints are satisfied, no pivot is near zero, y' is determined. Otherwise all is looked at again.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from herk.core import Dae, HerkError
from herk.core.dae import Array
from herk.integrate.impulses import carried
from herk.integrate.options import Request
from herk.integrate.run import Run
from herk.integrate.start import begun_otherwise, finished, started
from herk.linalg.threads import one_thread
from herk.model.several import another_start, open_derivatives
from herk.model.start import consistent_start

MOST_KEPT = 32
_kept: OrderedDict[tuple[Any, ...], Reusable] = OrderedDict()


class Reusable:
    """A machine, and the run it was made for as long as that was not made."""

    def __init__(self, asked: Request) -> None:
        """Check and compile everything once."""
        self.first: Run | None = started(asked)
        self.asked = asked
        self.machine = self.first.machine
        # Analysed for one start and its values alone, which are numbers in its code: it takes no others.
        self.special = self.first.request.dae is not asked.dae
        self.machine.remember()
        # None stands for the values it was made with: a run asked for with the very same is no other.
        own = values_of(self.first.request.dae)
        self.own = b"" if own is None else own.tobytes()
        self.several = {_opened(asked): self.first.several}  # by what starts left open
        self.declined: tuple[Run, bytes] | None = None  # the last run left to another method, and its values

    def run(self, asked: Request, values: Array | None) -> Run | None:
        """Return the run, made to its end; None if all must be looked at again."""
        known = self.own if values is None else values.tobytes()
        run, of = self.declined or (None, b"")
        if (
            run is not None
            and not (self.special and values is not None)
            and of == known
            and _begins_like(asked, run)
        ):
            run.request = asked
            return run
        run = self.begun(asked, values)
        if run is not None:
            with one_thread(asked.dae.n):
                run.go()
            self.declined = (run, known) if run.declined else None
        return run

    def repaired(self, asked: Request, values: Array | None, dae: Dae) -> Run | None:
        """Return the run from the start as the constraints of this DAE allow it, if it may be repaired."""
        if asked.consistent != "project":
            return None
        try:
            y = consistent_start(dae, asked.t0, asked.y0)
        except HerkError:  # said, or helped by another analysis, where all is looked at again
            return None
        least, led = y, carried(asked, dae, y)
        y = y if led is None else led
        run = self.run(asked.changed(y0=tuple(y.tolist()), consistent="check"), values)
        if run is not None:
            run.least = None if led is None else least
            several = another_start(dae, asked.t0, asked.y0, y)
            run.said = () if several is None else (several.words,)
        return run

    def begun(self, asked: Request, values: Array | None) -> Run | None:
        """Return the run before its first step; None if all must be looked at again."""
        if self.special and values is not None:
            return None
        run, self.first = self.first, None
        first = run is not None and asked is self.asked and values is None
        settled = first or not open_derivatives(asked.dae, asked.y0)
        if settled and self.machine.restart(asked, values):  # the first time too: no run depends on others
            return self._told(Run(asked, self.machine, self.machine.state.y.copy()), values)
        if not first:
            return None
        self.machine.rewind()
        return run

    def _told(self, run: Run, values: Array | None) -> Run:
        """Return the run with what is to be said of other values that may fit its start; looked for once."""
        asked, which = run.request, _opened(run.request)
        if not which:
            return run
        if which not in self.several:
            own = values_of(asked.dae)
            if values is not None and (own is None or own.tobytes() != values.tobytes()):
                return run  # the DAE at hand has other values
            self.several[which] = another_start(asked.dae, asked.t0, asked.y0, run.y0)
        run.several = self.several[which]
        if run.several is not None:
            same = np.array_equal(run.several.found, run.y0)
            run.said = (run.several.words if same else run.several.elsewhere(run.y0),)
        return run


def _opened(asked: Request) -> tuple[int, ...]:
    """Return which components a start leaves open."""
    return tuple(i for i, value in enumerate(asked.y0) if value is None)


def _begins_like(asked: Request, run: Run) -> bool:
    """Tell whether a run begins just as another one that was left to another method."""
    other = run.request
    where = asked.plan is other.plan and asked.y0 == other.y0 and asked.events is other.events is None
    return where and asked.consistent == other.consistent and asked.steps_like(other)


def values_of(dae: Dae) -> Array | None:
    """Return the values of the parameters that generated code is given; None if there are none."""
    generated: Any = dae.generated
    return generated.parameters if getattr(generated, "values", None) else None


def made(asked: Request) -> Run:
    """Return a run, made to its end, with the machine of an earlier one where that had the same code."""
    generated: Any = asked.dae.generated
    if not hasattr(generated, "code") or asked.dense_output:
        return finished(asked)  # dense output holds its machine: in use again, it would answer for others
    how = asked.generate, asked.selection, asked.newton, asked.step is None
    key = (generated.key, asked.method.mark, *how)
    known = _kept.pop(key, None)  # nobody else may use it meanwhile
    values = values_of(asked.dae)
    run = known.run(asked, values) or known.repaired(asked, values, asked.dae) if known is not None else None
    if run is None:
        known = Reusable(asked)
        run = known.run(known.asked, None)
    assert known is not None
    assert run is not None
    _kept[key] = known
    while len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
    return begun_otherwise(run, made)
