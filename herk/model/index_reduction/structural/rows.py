"""The equations of a system as formulas of few shapes, row by row."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from herk.codegen.shapes import Catalogue, Formula
from herk.codegen.values import Batch, Space
from herk.core.dae import Array

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


def equations(model: Model) -> Callable[[float, Array], tuple[Any, Array]]:
    """Return E, sparse, and f of a model as a function of a point, from the formulas as written."""
    from scipy.sparse import csr_array

    found = rows(model)
    space = Space(found.catalogue, model.values)
    places = [(i, j) for i, row in enumerate(found.leading) for j in row]
    ends = tuple(np.array(places, dtype=np.int64).reshape(-1, 2).T)
    E = Batch(space, [e for row in found.leading for e in row.values()])
    f = Batch(space, found.right)
    shape = (model.n, model.n)
    return lambda t, y: (csr_array((E(t, y), ends), shape=shape), f(t, y))
