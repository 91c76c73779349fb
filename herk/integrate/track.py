"""The accepted points of a run, in arrays that grow so that memory is hardly ever touched twice."""

from __future__ import annotations

import numpy as np

from herk.core.dae import Array

GROWTH = 4  # memory that is not used is not touched, so room costs nothing; copying does


class Track:
    """Points by rows: times, states, and the slot of the selection each was reached with."""

    def __init__(self, n: int, capacity: int) -> None:
        """Make room for `capacity` points of n components."""
        self.count = 0
        self._t, self._y, self._slots = (
            np.empty(capacity),
            np.empty((capacity, n)),
            np.empty(capacity, dtype=np.int64),
        )

    def begin(self, t: float, y: Array) -> None:
        """Put the start there."""
        self._t[0], self._y[0], self._slots[0] = t, y, 0
        self.count = 1

    def room(self, size: int) -> tuple[Array, Array, np.ndarray]:
        """Return arrays for up to `size` further points; they count when `count` is raised."""
        needed = self.count + size
        if needed > len(self._t):
            capacity = max(GROWTH * len(self._t), needed)
            for name in ("_t", "_y", "_slots"):
                old = getattr(self, name)
                new = np.empty((capacity, *old.shape[1:]), dtype=old.dtype)
                new[: self.count] = old[: self.count]
                setattr(self, name, new)
        return self._t[self.count : needed], self._y[self.count : needed], self._slots[self.count : needed]

    def stretch(self, first: int, last: int) -> tuple[Array, Array, np.ndarray]:
        """Return the points first .. last - 1, those in the last room included."""
        return self._t[first:last], self._y[first:last], self._slots[first:last].copy()

    def steps(self, count: int) -> tuple[Array, np.ndarray]:
        """Return where the next `count` steps begin, and their slots."""
        first = self.count
        return self._t[first - 1 : first - 1 + count], self._slots[first : first + count]

    def restart(self) -> None:
        """Forget all points but the last."""
        last = self.count - 1
        self._t[0], self._y[0], self._slots[0] = self._t[last], self._y[last], self._slots[last]
        self.count = 1

    @property
    def t(self) -> Array:
        """Return the times."""
        return self._t[: self.count]

    @property
    def y(self) -> Array:
        """Return the states by rows."""
        return self._y[: self.count]

    @property
    def slots(self) -> np.ndarray:
        """Return the slots."""
        return self._slots[: self.count]
