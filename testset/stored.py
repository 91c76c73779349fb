"""References kept as data: end values with the parameters they belong to, where they come from and how they were checked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from herk.core import Reference
from herk.core.dae import Array

FOLDER = Path(__file__).with_name("references")


def stored(name: str, t_end: float, **parameters: float) -> Reference | None:
    """Return the stored reference, or None if it belongs to another end time or other parameter values."""
    data = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    if t_end != data["t"] or any(value != data["parameters"][key] for key, value in parameters.items()):
        return None
    published = data.get("published_y")
    return Reference(
        t_end,
        _numbers(data["y"]),
        float(data["digits"]),
        data["source"],
        how=data["how"],
        published=None if published is None else _numbers(published),
        published_digits=data.get("published_digits"),
        published_note=data.get("published_note", ""),
    )


def _numbers(texts: list[str | None]) -> Array:
    """Return numbers; what was not printed is NaN."""
    return np.array([float("nan" if text is None else text) for text in texts])
