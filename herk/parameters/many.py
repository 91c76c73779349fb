"""solve_many: one model with many starts and values of its parameters, in threads of compiled code."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from herk.core import InputError
from herk.integrate.checks import span_of, times_of
from herk.parameters.cluster import spread
from herk.parameters.crew import Crew
from herk.parameters.ensemble import Ensemble
from herk.parameters.table import Table, table_of

POINTS = 101  # equidistant ones, where no times are asked for


def solve_many(
    system: Any,
    parameters: Any = None,
    y0: Any = None,
    t_span: tuple[float, float] | None = None,
    *,
    t_eval: Any = None,
    jobs: int | None = None,
    progress: bool | None = None,
    client: Any = None,
    **options: Any,
) -> Ensemble:
    """Solve a model for many values of its parameters and many starts.

    Parameters
    ----------
    system : Model, Problem or Dae
        What to solve; of a Dae only starts can be varied.
    parameters : mapping, frame or grid, optional
        Values by name: single ones hold for all members; a pandas frame has a row for every member;
        ``herk.grid`` makes all combinations. "y0:x" names the start value of x.
    y0 : optional
        Starts: one for all, a row for each member, or values by name; None and nan are computed. A start
        that is off the constraints is put on them.
    t_span, t_eval : optional
        The span, that of the model if not given, and the times at which all members are returned, 101
        equidistant ones if not given.
    jobs : int, optional
        Threads, as many as there are processors if not given; the results do not depend on it.
    progress : bool, optional
        True shows a bar, None shows it on a terminal.
    client : optional
        A Dask client: its workers share the members, a worker that is lost loses nothing.
    **options
        What `solve_dae` takes: method, rtol, atol, events, max_steps, time_limit (of each member) and so on.

    Returns
    -------
    Ensemble
        ``y`` (member, component, time) and more. A member that fails is a row with its reason and the values
        it reached; the others go on. Ctrl-C raises KeyboardInterrupt; its attribute ``solution`` is the
        ensemble with all that was computed.

    Examples
    --------
    >>> import herk
    >>> model = herk.Model.from_equations(
    ...     "decay", ["x' = -k*x"], parameters={"k": 1.0}, start={"x": 1}, t_span=(0, 1)
    ... )
    >>> found = herk.solve_many(model, {"k": [1.0, 2.0]}, t_eval=[1.0])
    >>> found["x"].round(4)
    array([[0.3679],
           [0.1353]])

    """
    table = table_of(system, parameters, y0)
    span = _span(table, t_span)
    times = times_of(np.linspace(*span, POINTS) if t_eval is None else t_eval, *span)
    assert times is not None
    threads = _threads(jobs)
    for name in ("dense_output", "sensitivities", "save"):
        if name in options:
            raise InputError(f"solve_many does not take {name}=; it keeps values at t_eval only.")
    if client is not None:
        return spread(client, table, span, times, options, _shown(progress))
    return Crew(table, span, times, options, _shown(progress)).work(threads)


def _span(table: Table, t_span: Any) -> tuple[float, float]:
    own = getattr(table.system, "t_span", None)
    if t_span is None and own is None:
        raise InputError("A herk.Dae has no span: give t_span=(t0, t_end).")
    return span_of(own if t_span is None else t_span)


def _threads(jobs: Any) -> int:
    if jobs is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(jobs, bool) or not isinstance(jobs, (int, np.integer)) or jobs < 1:
        raise InputError(f"jobs must be a whole number of at least 1, not {jobs!r}.")
    return int(jobs)


def _shown(progress: bool | None) -> bool:
    import sys

    return sys.stderr.isatty() if progress is None else bool(progress)
