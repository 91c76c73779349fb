"""Where E and (E y' - f)_y of a large DAE may have entries: as told, or found by trying its callables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from herk.core import Dae, HerkError
from herk.core.dae import Array
from herk.jit.state import Wholes
from herk.linalg.differences import guessed_sizes
from herk.linalg.pattern import Pattern
from herk.model import evaluate
from herk.model.large import sparse_matrix

# At the start itself derivatives may vanish by chance: shifts of the unknowns, and of the time in spans
SHIFTS = ((0.0, 0.0), (1e-3, 1e-3), (-2e-3, 2.3e-3))
CLOSE = (1e-3, 2.3e-3)  # shares of sizes and of the span: sin(t) may vanish at the start,
LATER = (0.0137, 0.127, 0.383, 0.619, 0.871, 1.0)  # what is switched on later may be shown by the time alone
STEP = 1e-5  # of the size of an unknown, that shows which equations it is in,
ELSEWHERE = 1e-3  # and that shows whether E depends on any

Point = tuple[float, Array]


def e_pattern(dae: Dae, t_span: tuple[float, float], y: Array, size: Array, E: Any) -> Pattern:
    """Return where E has entries, at the start or close to it, and later where only the time is another one.

    Zeros that a sparse matrix stores count: they tell where there may be others.
    """
    given: Any = getattr(dae.generated, "sparse", None)
    if given is not None:
        return given.patterns["E"]  # type: ignore[no-any-return]
    found, (t0, t1) = Pattern.of(E), t_span
    if not callable(dae.E):
        return found
    shifts = [(share, share) for share in (0.0, *CLOSE)] + [(0.0, share) for share in LATER]
    for shift, later in shifts:
        moved = y + shift * size * np.linspace(1.0, 2.0, dae.n)
        value = _tried(lambda t, y: sparse_matrix(dae, t, y, stored=True), t0 + later * (t1 - t0), moved)
        found = found if value is None else found.union(Pattern.of(value))
    return found


def near(t: float, y: Array, span: float) -> list[Point]:
    """Return points near this one at which functions are tried."""
    random = np.random.default_rng(3).uniform(1.0, 2.0, len(y))
    return [(t + later * span, y + shift * guessed_sizes(y) * random) for shift, later in SHIFTS]


def equations_pattern(dae: Dae, points: Iterable[Point]) -> Pattern:
    """Return where (E y' - f)_y may have entries."""
    n, tried = dae.n, list(points)
    if dae.jac_f_sparsity is not None:
        found = Pattern.of(dae.jac_f_sparsity)
    else:
        found = touched(lambda t, y: evaluate.evaluate("f", dae.f, t, y, (n,)), _other_rows, n, tried)
    if callable(dae.E) and _moves(dae, tried):
        found = found.union(touched(lambda t, y: sparse_matrix(dae, t, y), _other_matrix_rows, n, tried))
    return found


def constraints_pattern(dae: Dae, points: Iterable[Point]) -> Pattern:
    """Return where g_y may have entries, by trying."""
    return touched(lambda t, y: evaluate.constraints(dae, t, y), _other_rows, dae.m, list(points))


def touched(
    function: Callable[[float, Array], Any],
    other: Callable[[Any, Any], Wholes],
    rows: int,
    points: list[Point],
) -> Pattern:
    """Return which rows change with which unknown, near one of these points."""
    from scipy.sparse import coo_array

    found, columns = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for t, y in points:
        base = _tried(function, t, y)
        for j, step in enumerate(STEP * guessed_sizes(y) if base is not None else ()):
            moved = y.copy()
            moved[j] += step
            value = _tried(function, t, moved)
            if value is None:  # the domain may end here
                moved[j] -= 2 * step
                value = _tried(function, t, moved)
            if value is not None:
                found.append(other(value, base))
                columns.append(np.full(found[-1].size, j))
    places = np.concatenate(found), np.concatenate(columns)
    return Pattern.of(coo_array((np.ones(places[0].size), places), shape=(rows, len(points[0][1]))))


def _tried(function: Callable[[float, Array], Any], t: float, y: Array) -> Any:
    """Return the value at a point, None outside the domain of the function."""
    try:
        with np.errstate(all="ignore"):
            return function(t, y)
    except HerkError:
        return None


def _other_rows(value: Array, base: Array) -> Wholes:
    return np.flatnonzero(value != base)


def _other_matrix_rows(value: Any, base: Any) -> Wholes:
    change = (value - base).tocoo()
    return np.unique(change.row[change.data != 0.0]).astype(np.int64)


def _moves(dae: Dae, points: list[Point]) -> bool:
    """Tell whether E depends on y, all of which is moved at once."""
    for t, y in points:
        moved = y + ELSEWHERE * guessed_sizes(y) * np.linspace(1.0, 2.0, dae.n)
        here, there = (_tried(lambda t, y: sparse_matrix(dae, t, y), t, point) for point in (y, moved))
        if here is None or there is None or len(_other_matrix_rows(there, here)):
            return True
    return False
