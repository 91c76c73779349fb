"""Many curves in one picture: all of them, or bands that hold given parts of them; data beside a curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from herk.results.curves import new_axes, over_time

Array = NDArray[np.float64]
FAINT = 0.25


def curves(t: Array, rows: Array, label: str, ax: Any = None) -> Any:
    """Draw every row over t, faintly, and return the axes."""
    ax = ax if ax is not None else new_axes()
    ax.plot(t, rows.T, color="C0", alpha=max(FAINT, 1.0 / max(len(rows), 1)), linewidth=0.8)
    ax.set_xlabel("t")
    ax.set_ylabel(label)
    return ax


def fan(t: Array, quantiles: Array, label: str, ax: Any = None) -> Any:
    """Draw five quantiles as two bands and a line and return the axes."""
    ax = over_time(t, {label: quantiles[2]}, ax)
    ax.fill_between(t, quantiles[0], quantiles[4], color="C0", alpha=0.15, linewidth=0, label="9 of 10")
    ax.fill_between(t, quantiles[1], quantiles[3], color="C0", alpha=FAINT, linewidth=0, label="half")
    ax.legend()
    return ax


def data_and_fit(t: Array, pairs: Mapping[str, tuple[Array, Array]], ax: Any = None) -> Any:
    """Draw measured values as dots and fitted ones as lines of the same colour and return the axes."""
    ax = ax if ax is not None else new_axes()
    for i, (name, (measured, fitted)) in enumerate(pairs.items()):
        ax.plot(t, measured, "o", ms=4, color=f"C{i}", label=f"{name}, data")
        ax.plot(t, fitted, color=f"C{i}", label=f"{name}, fit")
    ax.set_xlabel("t")
    ax.legend()
    return ax
