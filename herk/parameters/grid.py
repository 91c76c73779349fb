"""Grids of parameter values: every combination of the values given for each name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from herk.core import InputError
from herk.core.dae import Array


class Grid(Mapping[str, Array]):
    """Values of every member by name, the last name changing fastest; `axes` are the values as given."""

    def __init__(self, axes: Mapping[str, Array]) -> None:
        """Combine the values."""
        self.axes = dict(axes)
        self.shape = tuple(len(values) for values in self.axes.values())
        meshes = np.meshgrid(*self.axes.values(), indexing="ij")
        self._values = {name: mesh.ravel() for name, mesh in zip(self.axes, meshes, strict=True)}

    def __getitem__(self, name: str) -> Array:
        """Return the value of every member."""
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._values)

    @property
    def size(self) -> int:
        """Return the number of members."""
        return int(np.prod(self.shape))

    def __repr__(self) -> str:
        """Return names and sizes."""
        return f"Grid({' x '.join(f'{name}: {len(v)}' for name, v in self.axes.items())})"


def grid(**values: Any) -> Grid:
    """Return all combinations of the values given for each name.

    Parameters
    ----------
    **values
        Numbers by name of a parameter: ``herk.grid(l=[0.5, 1, 2], g=np.linspace(9, 10, 5))`` are 15 members.
        Start values are written as ``**{"y0:x": [...]}``.

    Returns
    -------
    Grid
        What `solve_many` takes as parameters; the last name changes fastest.

    Examples
    --------
    >>> import herk
    >>> points = herk.grid(l=[1, 2], g=[9, 10, 11])
    >>> points["l"], points["g"]
    (array([1., 1., 1., 2., 2., 2.]), array([ 9., 10., 11.,  9., 10., 11.]))

    """
    if not values:
        raise InputError("A grid needs at least one name with values, such as herk.grid(l=[1, 2]).")
    return Grid({name: axis(name, given) for name, given in values.items()})


def axis(name: str, given: Any) -> Array:
    """Return the values of one name, checked."""
    try:
        values: Array = np.atleast_1d(np.array(given, dtype=float))
    except (TypeError, ValueError):
        raise InputError(f"The values of {name} must be numbers, not {given!r}.") from None
    if values.ndim != 1:
        raise InputError(f"The values of {name} have shape {values.shape}; a sequence of numbers is needed.")
    if not values.size:
        raise InputError(f"No values are given for {name}: there is nothing to solve.")
    return values
