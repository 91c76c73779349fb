"""With respect to what a solution is differentiated: parameters and start values by name, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from herk.core import Dae, InputError, nearest
from herk.core.dae import Array
from herk.core.names import START, as_name, as_varied


@dataclass(frozen=True)
class Directions:
    """Names, and for each the number of its parameter or of its component, -1 for neither.

    `given` is the start as the user wrote it, None for what follows from the rest; modes stand behind it.
    """

    names: tuple[str, ...]
    parameters: tuple[int, ...]
    states: tuple[int, ...]
    given: tuple[float | None, ...]
    estimated: bool = False  # whether the error of S in a step is wanted too
    modes: tuple[int, ...] = ()  # components that are 0 or 1, and do not change with anything

    @property
    def many(self) -> int:
        """Return how many there are."""
        return len(self.names)

    def of(self, dae: Dae, y0: Array) -> Directions:
        """Return the same for a segment of a run, whose equations may have modes behind the unknowns."""
        count = len(self.given)
        there = directions_of(dae, self.names, [*self.given, *y0[count:]])
        return replace(there, estimated=self.estimated, modes=tuple(range(count, dae.n)))

    def units(self, values: Array, y0: Array) -> Array:
        """Return the sizes of what is varied, 1 where it is zero."""
        sizes = [
            abs(values[k]) if k >= 0 else abs(y0[j])
            for k, j in zip(self.parameters, self.states, strict=True)
        ]
        return np.array([size if size > 0.0 else 1.0 for size in sizes])


@dataclass(frozen=True)
class Followed:
    """S along a run (point, component, direction), at its end, and its largest error in a step."""

    points: Array
    last: Array
    error: float = 0.0


def directions_of(dae: Dae, wanted: Any, given: Sequence[float | None]) -> Directions:
    """Return the directions of these names."""
    generated: Any = dae.generated
    if not hasattr(generated, "code"):
        raise InputError("sensitivities need a herk.Model; callables cannot be differentiated.")
    names = [as_varied(name, dae.names) for name in names_of(wanted)]
    known = [p.name for p in generated.code.equations.parameters]
    own = [p.name for p in getattr(getattr(dae, "model", None), "parameters", {})]
    parameters, states = [], []
    for name in names:
        start = name.removeprefix(START) if name.startswith(START) else None
        if start is not None and start not in dae.names:
            raise nearest(start, dae.names, "unknown")
        if start is None and name not in known:
            if name in own:
                raise InputError(
                    f"The equations have a different structure at this very value of {name}, so there is no"
                    " derivative. Choose a value beside it, such as 1e-15 for 0."
                )
            raise nearest(name, [*own, *(START + each for each in dae.names)], "parameter")
        parameters.append(-1 if start is not None else known.index(name))
        states.append(-1 if start is None else dae.names.index(start))
    return Directions(tuple(names), tuple(parameters), tuple(states), tuple(given))


def names_of(wanted: Any) -> Sequence[str]:
    """Return names of parameters and start values as texts: one, or several."""
    given = [wanted] if isinstance(wanted, str) or hasattr(wanted, "name") else wanted
    try:
        names = [as_name(each) if hasattr(each, "name") else each for each in given]
    except TypeError:
        names = []
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(
            f'sensitivities must be names of parameters, or "y0:x" for a start value, not {wanted!r}.'
        )
    if len(set(names)) < len(names):
        raise InputError(f"sensitivities must not contain a name twice: {', '.join(sorted(names))}.")
    return names
