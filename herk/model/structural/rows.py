"""The equations of a system as formulas of few shapes, row by row."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from herk.model.structural.shapes import Catalogue, Formula

if TYPE_CHECKING:
    from herk.model.model import Model


@dataclass(frozen=True)
class Rows:
    """E y' = f: the entries of every row by columns, and the right sides."""

    catalogue: Catalogue
    leading: tuple[dict[int, Formula], ...]
    right: tuple[Formula, ...]


def rows(model: Model) -> Rows:
    """Return the rows of a model."""
    catalogue = Catalogue(model.t, model.states, model.parameters)
    leading = tuple({j: catalogue.read(e) for j, e in row.items()} for row in model.leading)
    return Rows(catalogue, leading, tuple(catalogue.read(e) for e in model.f))


def digest(model: Model) -> str:
    """Return a hash of the equations, the same in every process."""
    catalogue, found = Catalogue(model.t, model.states, model.parameters), hashlib.sha256()
    symbols = (model.t, *model.states, *model.parameters)
    found.update(repr([(s.name, sorted(s.assumptions0.items())) for s in symbols]).encode())
    for entries, right in zip(model.leading, model.f, strict=True):
        words = [f"{j} {catalogue.key(e)}" for j, e in entries.items()]
        found.update(f"{words} {catalogue.key(right)}\n".encode())
    return found.hexdigest()[:16]
