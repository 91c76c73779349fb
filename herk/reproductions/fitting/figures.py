"""The figure of the study `fitting`: time and solutions needed by exact derivatives and by differences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from herk.reproductions import style
from herk.reproductions.fitting import Study

FIGURES = {"cost": "Processor time and solutions computed by herk.fit and by SciPy with finite differences"}
WAYS = ("herk.fit", "finite differences")


def cost(study: Study) -> Figure:
    """Draw two bars for every experiment, time on the left, solutions on the right."""
    drawn = style.figure(8.0, 3.2)
    left, right = drawn.subplots(1, 2)
    names = [case.name.replace("_", " ") for case in study.cases]
    places = np.arange(len(names))
    for k, (way, colour) in enumerate(zip(WAYS, style.COLOURS, strict=False)):
        left.bar(places + 0.4 * k, [1e3 * c.seconds[k] for c in study.cases], 0.38, color=colour, label=way)
        right.bar(places + 0.4 * k, [c.trials[k] for c in study.cases], 0.38, color=colour, label=way)
    for axes, title in ((left, "milliseconds"), (right, "solutions computed")):
        axes.set_xticks(places + 0.2, names)
        axes.set_title(title)
    left.legend()
    return drawn


DRAWINGS: dict[str, Callable[[Study], Figure]] = {"cost": cost}


def draw(study: Study, folder: Path) -> list[Path]:
    """Draw every figure as SVG and PNG."""
    return style.draw(DRAWINGS, study, folder)
