"""How a solution is shown: curves, a film, a summary, and what a terminal or a notebook prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from herk.core.dae import Array
from herk.core.errors import InputError
from herk.core.names import as_name
from herk.results import tables

if TYPE_CHECKING:
    from herk.core.solution import Solution

SMOOTH = 1000  # points of a curve where dense output gives as many as one likes


def plot(sol: Solution, names: Sequence[Any], phase: tuple[Any, Any] | None, ax: Any) -> Any:
    """Draw components over time, or one over another, and return the axes."""
    from herk.results import curves

    t, values = _drawn(sol)
    if phase is not None:
        if not _is_pair(phase):
            raise InputError(f"phase must be two names, such as ('x', 'y'), not {phase!r}.")
        x, y = (np.asarray(values[sol.row(name)]) for name in phase)
        return curves.phase((as_name(phase[0]), x), (as_name(phase[1]), y), ax)
    rows = {as_name(name): np.asarray(values[sol.row(name)]) for name in names or sol.labels}
    return curves.over_time(t, rows, ax)


def _drawn(sol: Solution) -> tuple[Array, Array]:
    """Return times and values that give smooth curves, where dense output can."""
    if sol.sol is None or len(sol.t) < 2 or len(sol.t) > SMOOTH:
        return sol.t, sol.y
    t = np.union1d(sol.t, np.linspace(sol.t[0], sol.t[-1], SMOOTH))
    t = t if sol.t[-1] >= sol.t[0] else t[::-1]
    return t, sol.sol(t)


def animate(sol: Solution, path: Any, points: Sequence[Any], fps: int, seconds: float | None) -> Path:
    """Write an animation of points, each a pair of names or numbers, and return its path."""
    from herk.results import animation

    if Path(str(path)).suffix.lower() not in animation.WRITERS:
        kinds = ", ".join(animation.WRITERS)
        raise InputError(f"An animation is written to a file of the kind {kinds}, not to {str(path)!r}.")
    if len(sol.t) < 2 or not points or not all(_is_pair(each) for each in points):
        raise InputError(
            "An animation needs at least two times, and points that are pairs of names or numbers, such as"
            " [(0, 0), ('x', 'y')]."
        )
    length = abs(sol.t[-1] - sol.t[0]) if seconds is None else seconds
    times = np.linspace(sol.t[0], sol.t[-1], max(2, round(fps * length) + 1))
    paths = [(_at(sol, x, times), _at(sol, y, times)) for x, y in points]
    return animation.animate(path, paths, fps, sol.system)


def _is_pair(point: Any) -> bool:
    return isinstance(point, Sequence) and not isinstance(point, str) and len(point) == 2


def _at(sol: Solution, what: Any, times: Array) -> Array:
    """Return a component at these times, or a number that stays."""
    if isinstance(what, Real):
        return np.full(len(times), float(what))
    if sol.sol is not None:
        return np.asarray(sol.sol(times)[sol.row(what)])
    order = np.argsort(sol.t, kind="stable")
    return np.interp(times, sol.t[order], sol[what][order])


def _unknowns(sol: Solution) -> str:
    return f"{len(sol.y)} unknowns" if sol.unknowns is None else f"{len(sol.y)} of {sol.unknowns} unknowns"


def facts(sol: Solution) -> dict[str, str]:
    """Return what was solved, how it ended and what it took, in few words."""
    span = f"t = {sol.t[0]:.6g} to {sol.t[-1]:.6g}" if len(sol.t) else "no points"
    rows = {"solved": ", ".join(filter(None, (sol.system, span, _unknowns(sol))))}
    rows["ended"] = f"{sol.message} ({sol.reason.value})"
    rows["steps"] = f"{sol.nstep} accepted, {sol.nreject} rejected"
    rows["calls"] = f"f {sol.nfev}, g {sol.ngev}, Jacobians {sol.njev}"
    rows["residual"] = f"{sol.residual:.2g}, the largest of any constraint at any step"
    if sol.method:
        rows["method"] = _method(sol)
    if sol.seconds is not None:
        rows["time"] = f"{sol.seconds:.3g} s"
    if sol.notes:
        rows["notes"] = " ".join(sol.notes)
    return rows


def _method(sol: Solution) -> str:
    """Return the method asked for, and which one made the steps if that is another."""
    used = [use.method for use in sol.methods]
    if len(used) > 1:
        changes = [f"{use.method} from t = {use.t:.6g}" for use in sol.methods[: tables.MOST]]
        return f"{sol.method}: {', '.join(changes)}"
    return f"{sol.method}: {used[0]}" if used and used[0] != sol.method else sol.method


def components(sol: Solution) -> list[tuple[str, ...]]:
    """Return the range of every component as a table."""
    return tables.components(dict(zip(sol.labels, sol.y, strict=True)))


def text(sol: Solution) -> str:
    """Return SciPy's fields, arrays shortened, after what was solved and how it ended."""
    rows = {
        "message": sol.message,
        "success": str(sol.success),
        "status": str(sol.status),
        "reason": sol.reason.value,
    }
    if sol.system or sol.names:
        rows |= {"system": sol.system, "names": ", ".join(sol.labels[: tables.MOST])}
    if sol.method:
        rows["method"] = _method(sol)
    rows |= {name: _short(getattr(sol, name)) for name in ("t", "y")}
    rows |= {each.name: str(getattr(sol, each.name)) for each in fields(sol.stats)}
    rows["residual"] = f"{sol.residual:.3g}"
    if sol.seconds is not None:
        rows["seconds"] = f"{sol.seconds:.3g}"
    rows["selections"] = f"{len(sol.selections)} (first {sol.selections[0]})" if sol.selections else "none"
    if sol.notes:
        rows["notes"] = " ".join(sol.notes)
    return tables.as_text(rows)


def _short(values: Array) -> str:
    return np.array2string(np.asarray(values), threshold=8, edgeitems=2, precision=6).replace(
        "\n", "\n" + " " * 12
    )
