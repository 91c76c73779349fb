"""Curves over time and in the phase plane, by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def over_time(t: Array, rows: Mapping[str, Array], ax: Any = None) -> Any:
    """Draw every row over t and return the axes."""
    ax = ax if ax is not None else new_axes()
    for label, row in rows.items():
        ax.plot(t, row, label=label)
    ax.set_xlabel("t")
    if len(rows) == 1:
        ax.set_ylabel(next(iter(rows)))
    else:
        ax.legend()
    return ax


def phase(x: tuple[str, Array], y: tuple[str, Array], ax: Any = None) -> Any:
    """Draw one row over another, both axes to the same scale, and return the axes."""
    ax = ax if ax is not None else new_axes()
    ax.plot(x[1], y[1])
    ax.set_xlabel(x[0])
    ax.set_ylabel(y[0])
    ax.set_aspect("equal", adjustable="datalim")
    return ax


def new_axes() -> Any:
    """Return new axes to draw on."""
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]
