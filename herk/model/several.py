"""Derivatives that are unknowns: where several values fit the start, the user is asked which one is meant.

F(t, y, y') = 0 with F nonlinear in y' may hold for several y' at one point (x'^2 = 1 - x^2), each the start
of another solution. They are looked for by Newton's method from many places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from herk.core import Dae, HerkError, InputError
from herk.core.dae import Array
from herk.model.approach import Task, guesses_of, sizes_of
from herk.model.implicit import Implicit
from herk.model.start import newton, start_vector, touched

PLACES = 24  # from which values are looked for
APART = 1e-6  # relative to their sizes: values that differ by less are one
NEGLIGIBLE = 1e-3  # beside the size that makes the terms of the constraints balance
SHOWN = 4


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
    for other in _others(dae, t, y, unknown, typical):
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


def _others(dae: Dae, t: float, y: Array, unknown: list[int], size: Array) -> Iterator[Array]:
    """Yield solutions of the constraints for the components left open, from places of all signs and sizes."""
    task = Task(dae, t, touched(dae, t, guesses_of(dae, t, y, unknown), unknown), unknown, [])
    rng = np.random.default_rng(3)
    for k in range(PLACES):
        place = y.copy()
        signs = rng.choice([-1.0, 1.0], len(unknown)) if k > 1 else 1.0 - 2.0 * k
        place[unknown] = signs * size * 10.0 ** rng.uniform(-1.0, 1.0, len(unknown))
        try:
            with np.errstate(all="ignore"):
                found, _ = newton(task, place)
        except HerkError:
            continue
        if found is not None:
            yield found
