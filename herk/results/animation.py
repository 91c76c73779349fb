"""Planar points that move, joined by lines, written to a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
WRITERS = {".gif": "pillow", ".png": "pillow", ".webp": "pillow", ".mp4": "ffmpeg", ".html": "html"}


def animate(path: str | Path, points: Sequence[tuple[Array, Array]], fps: int, title: str = "") -> Path:
    """Write a file in which the points move, each joined to the next, one frame for every column."""
    from matplotlib.animation import FuncAnimation
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    path = Path(path)
    x, y = np.array([p[0] for p in points]), np.array([p[1] for p in points])
    figure = Figure(figsize=(4, 4), layout="constrained")
    FigureCanvasAgg(figure)  # no window, whatever the backend
    ax = figure.subplots()
    _frame(ax, x, y)
    ax.set_title(title)
    trail = ax.plot([], [], lw=0.8, alpha=0.5)[0]
    chain = ax.plot([], [], "o-", color="black")[0]

    def draw(k: int) -> tuple[Any, Any]:
        chain.set_data(x[:, k], y[:, k])
        trail.set_data(x[-1, : k + 1], y[-1, : k + 1])
        return chain, trail

    FuncAnimation(figure, draw, frames=x.shape[1], interval=1000 / fps).save(
        path, writer=WRITERS[path.suffix.lower()], fps=fps
    )
    return path


def _frame(ax: Any, x: Array, y: Array) -> None:
    """Fix a square that holds every point at every time."""
    half = 0.55 * max(np.ptp(x), np.ptp(y), 1e-300)
    for values, limits in ((x, ax.set_xlim), (y, ax.set_ylim)):
        middle = (values.min() + values.max()) / 2
        limits(middle - half, middle + half)
    ax.set_aspect("equal")
