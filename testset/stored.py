"""References kept as data: end values with the parameters they belong to.

Where they come from and how they were checked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from herk.core import Reference
from herk.core.dae import Array

FOLDER = Path(__file__).with_name("references")
INHERITED = ("source", "how", "digits")  # what further end times in the same file need not repeat


@dataclass(frozen=True)
class Curve:
    """The polynomial through values at Chebyshev points of a span, by the barycentric formula."""

    places: Array
    values: Array

    @classmethod
    def read(cls, stored: dict[str, Any]) -> Curve:
        """Return the curve that testset/extended/curves.py has stored."""
        return cls(np.array(stored["t"]), np.array([_numbers(each) for each in stored["y"]]))

    def __call__(self, t: float) -> Array:
        """Return the solution at a time of the span."""
        away = t - self.places
        if not away.all():
            return np.array(self.values[np.flatnonzero(away == 0)[0]])
        share = (-1.0) ** np.arange(len(away)) / away
        share[[0, -1]] /= 2
        return np.asarray(share @ self.values / share.sum())


def stored(name: str, t_end: float, **parameters: float) -> Reference | None:
    """Return the stored reference.

    Or None if there is none for this end time or for these parameter values.
    """
    data = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    if any(value != data["parameters"][key] for key, value in parameters.items()):
        return None
    shared = {key: data[key] for key in INHERITED}
    entries = (data, *({**shared, **other} for other in data.get("also", ())))
    return next((_reference(entry) for entry in entries if entry["t"] == t_end), None)


def _reference(entry: dict[str, Any]) -> Reference:
    published = entry.get("published_y")
    return Reference(
        entry["t"],
        _numbers(entry["y"]),
        float(entry["digits"]),
        entry["source"],
        exact=Curve.read(entry["curve"]) if "curve" in entry else None,
        how=entry["how"],
        published=None if published is None else _numbers(published),
        published_digits=entry.get("published_digits"),
        published_note=entry.get("published_note", ""),
    )


def _numbers(texts: list[str | None]) -> Array:
    """Return numbers; what was not printed is NaN."""
    return np.array([float("nan" if text is None else text) for text in texts])
