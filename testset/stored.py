"""References kept as data: end values with the parameters they belong to, where they come from and how they were checked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from herk.core import Reference

FOLDER = Path(__file__).with_name("references")


def stored(name: str, t_end: float, **parameters: float) -> Reference | None:
    """Return the stored reference, or None if it belongs to another end time or other parameter values."""
    data = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    if t_end != data["t"] or any(value != data["parameters"][key] for key, value in parameters.items()):
        return None
    return Reference(t_end, np.array([float(text) for text in data["y"]]), float(data["digits"]), f"{data['source']}; {data['how']}")
