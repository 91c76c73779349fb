"""References for sensitivities: differences of runs with far smaller errors, extrapolated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import herk
from herk.core.dae import Array

TIGHT = {"rtol": 1e-13, "atol": 1e-15}


def extrapolated(model: Any, name: str, change: float, held: Sequence[str] = (), **options: Any) -> Array:
    """Return dy/dname at the end of the span: central differences with two steps, Richardson's extrapolation.

    Starts are made consistent; start values among the names `held` stay.
    """

    def end(moving: float) -> Array:
        moved, y0 = model, list(model.y0)
        fixed = [model.names.index(each[3:]) for each in {name, *held} if each.startswith("y0:")]
        if name.startswith("y0:"):
            j = model.names.index(name[3:])
            y0[j] += moving
        else:
            values = {p.name: v for p, v in model.parameters.items()}
            moved = model.with_parameters(**{name: values[name] + moving})
        start = herk.consistent_start(moved, model.t_span[0], y0, fixed=fixed)
        how = TIGHT | {"consistent": "trust", "t_eval": [model.t_span[1]]} | options
        found = herk.solve_dae(moved, y0=start, **how)
        assert found.success
        return np.asarray(found.y[:, -1])

    short, long = ((end(h) - end(-h)) / (2 * h) for h in (change, 2 * change))
    return np.asarray((4 * short - long) / 3)
