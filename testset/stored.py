"""References kept as data: end values with the parameters they belong to.

Where they come from and how they were checked.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from herk.core import Reference
from herk.core.dae import Array

FOLDER = Path(__file__).with_name("references")
INHERITED = ("source", "how", "digits")  # what further end times in the same file need not repeat


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
        how=entry["how"],
        published=None if published is None else _numbers(published),
        published_digits=entry.get("published_digits"),
        published_note=entry.get("published_note", ""),
    )


def _numbers(texts: list[str | None]) -> Array:
    """Return numbers; what was not printed is NaN."""
    return np.array([float("nan" if text is None else text) for text in texts])
