"""Rival solvers behind one protocol, one module each.

Packages add theirs through the entry-point group `herk.solvers`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any

from herk.core import InputError, Registry, Solver, nearest

__all__ = ["broken", "get", "names", "register"]

_registered: dict[str, Solver] = {}


def names() -> list[str]:
    """Return the names of all solvers, available here or not."""
    return sorted({*_registry().names(), *_registered})


def get(name: str) -> Solver:
    """Return a solver; an unknown name raises InputError with the nearest one."""
    if name in _registered:
        return _registered[name]
    if name not in _registry().names():
        raise nearest(name, names(), "solver")
    solver: Solver = _registry()[name]()
    return solver


def register(solver: Solver, *, replace: bool = False) -> None:
    """Add a solver for this process, or replace one that was added.

    Packages use the entry-point group `herk.solvers` instead.
    """
    if solver.name in names() and not (replace and solver.name in _registered):
        raise InputError(f"A solver named {solver.name!r} is there already.")
    _registered[solver.name] = solver


def broken() -> dict[str, str]:
    """Return plugins that could not be loaded, with the reason."""
    _registry().names()
    return dict(_registry().broken)


@cache
def _registry() -> Registry:
    own: dict[str, Callable[..., Any]] = {}
    for module in pkgutil.iter_modules(__path__, "baselines."):  # one that names SOLVERS is a rival
        solvers = getattr(import_module(module.name), "SOLVERS", ())
        own |= {solver.name: partial(_itself, solver) for solver in solvers}
    return Registry("solver", "herk.solvers", own)


def _itself(solver: Solver) -> Solver:
    return solver
