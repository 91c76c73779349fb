"""Start values left open for which several values fit: the user is asked, or told, which is meant.

F(t, y, y') = 0 with F nonlinear in y' may hold for several y' at one point (x'^2 = 1 - x^2), each the start
of another solution: they are looked for by Newton's method from many places, and refused. Of other unknowns
one is taken; where another one is found at once, a note says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from herk.core import Dae, HerkError, InputError
from herk.core.dae import Array
from herk.model.approach import Task, guesses_of, sizes_of
from herk.model.implicit import Implicit
from herk.model.large_start import determined, slopes
from herk.model.start import newton, start_vector, touched

PLACES = 24  # from which values are looked for
APART = 1e-6  # relative to their sizes: values that differ by less are one
NEGLIGIBLE = 1e-3  # beside the size that makes the terms of the constraints balance
SHOWN = 4
TINY = 1e-300


@dataclass(frozen=True)
class Several:
    """Values that were taken for what a start leaves open, and others that fit as well."""

    which: tuple[tuple[int, str], ...]  # components and their names
    found: Array
    other: Array

    @property
    def words(self) -> str:
        """Return what to say of this start."""
        return self._said(self.found, f"{self._values(self.other)} fits as well")

    def elsewhere(self, y: Array) -> str:
        """Return what to say of a start like it, where nobody looked."""
        return self._said(y, "others may fit as well")

    def _said(self, y: Array, others: str) -> str:
        return (
            f"Several values may fit what the start leaves open: {self._values(y)} was taken, {others}."
            ' Give the one you mean in the start; with consistent="project" a value near it is enough.'
        )

    def _values(self, y: Array) -> str:
        return ", ".join(f"{name} = {y[i]:.6g}" for i, name in self.which[:SHOWN])


def open_derivatives(dae: Dae, y0: Sequence[float | None]) -> list[int]:
    """Return the components that are derivatives, enter nonlinearly and have no start value."""
    if isinstance(dae, Implicit):
        places: Sequence[int] = range(dae.known, dae.n)
    else:
        places = getattr(getattr(dae, "model", None), "implicit", ())
    return [i for i in places if y0[i] is None]


def refuse_several(dae: Dae, t: float, y0: Sequence[float | None], found: Array) -> None:
    """Raise if derivatives left open could have other values than those found."""
    wanted = open_derivatives(dae, y0)
    if not wanted:
        return
    fits = [found]
    y, unknown = start_vector(dae, y0)
    typical = sizes_of(dae, t, y, unknown)
    least = NEGLIGIBLE * typical[[unknown.index(i) for i in wanted]]
    task = Task(dae, t, touched(dae, t, guesses_of(dae, t, y, unknown), unknown), unknown, [])
    for other in _reached(task, _places(y, unknown, typical)):
        size = np.maximum(np.abs(other[wanted]), least)
        if all((np.abs(other - each)[wanted] > APART * size).any() for each in fits):
            fits.append(other)
    if len(fits) > 1:
        names = [dae.names[i] for i in wanted]
        listed = [
            ", ".join(f"{name} = {y[i]:.6g}" for name, i in zip(names, wanted, strict=True)) for y in fits
        ]
        more = " or others" if len(fits) > SHOWN else ""
        where = "yp0" if isinstance(dae, Implicit) else "start"
        raise InputError(
            f"Several values fit, each the start of another solution: {' or '.join(listed[:SHOWN])}{more}."
            f' Give the one you mean in {where}; with consistent="project" a value near it is enough.'
        )


def another_start(dae: Dae, t: float, y0: Sequence[float | None], found: Array) -> Several | None:
    """Return what to say if other values than those found are seen to fit what was left open.

    Only where constraints are not linear in that, and only from a few places: it is to cost next to nothing.
    """
    if dae.large or all(value is not None for value in y0):
        return None
    y, unknown = start_vector(dae, y0)
    with suppress(HerkError), np.errstate(all="ignore"):
        bent = _opposite(dae, t, found, unknown)
        if not bent:
            return None
        opposite, mirrored = found.copy(), found.copy()
        opposite[list(bent)] = list(bent.values())
        mirrored[list(bent)] *= -1.0
        task = Task(dae, t, touched(dae, t, (found, mirrored), unknown), unknown, [])
        more = islice(guesses_of(dae, t, y, unknown), 1, 3)
        for other in _reached(task, chain([opposite, mirrored], more)):
            apart = np.abs(other - found) > APART * np.maximum(np.abs(other), np.abs(found))
            if apart[list(bent)].any() and determined(slopes(dae, t, other)[:, unknown]):
                return Several(tuple((i, dae.names[i]) for i in unknown if apart[i]), found, other)
    return None


def _opposite(dae: Dae, t: float, y: Array, unknown: list[int]) -> dict[int, float]:
    """Return the components left open in which the constraints are not linear, and where to look for others.

    Slopes beside tell of both: a parabola is zero again twice as far as its vertex.
    """
    beside, here = y.copy(), slopes(dae, t, y)[:, unknown]
    beside[unknown] += 0.25 * y[unknown] + 0.125 * (y[unknown] == 0.0)
    tops = np.abs(here).max(axis=1, initial=0.0, keepdims=True)
    change = slopes(dae, t, beside)[:, unknown] - here
    found = {}
    for k, i in enumerate(unknown):
        rows = np.flatnonzero(np.abs(change[:, k]) > APART * tops[:, 0])
        if rows.size:
            row = rows[np.argmax(np.abs(change[rows, k]) / np.maximum(tops[rows, 0], TINY))]
            found[i] = float(y[i] - 2.0 * here[row, k] * (beside[i] - y[i]) / change[row, k])
    return found


def _places(y: Array, unknown: list[int], size: Array) -> Iterator[Array]:
    """Yield places of all signs and sizes."""
    rng = np.random.default_rng(3)
    for k in range(PLACES):
        place = y.copy()
        signs = rng.choice([-1.0, 1.0], len(unknown)) if k > 1 else 1.0 - 2.0 * k
        place[unknown] = signs * size * 10.0 ** rng.uniform(-1.0, 1.0, len(unknown))
        yield place


def _reached(task: Task, places: Iterable[Array]) -> Iterator[Array]:
    """Yield solutions of the constraints for the components left open, as Newton's method finds them."""
    for place in places:
        try:
            with np.errstate(all="ignore"):
                found, _ = newton(task, place)
        except HerkError:
            continue
        if found is not None:
            yield found
