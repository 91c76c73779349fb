"""The test set: problems with equations as written, consistent starts, references one can trust.

Invariants and sources.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from herk.core import InputError, Problem, Registry, nearest

__all__ = ["further", "get", "names", "register"]

_OTHERS = ("__init__", "stored", "pulses", "mosfet", "wheelset_contact", "chain_entries", "make_references")
_MODULES = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in _OTHERS)


def _make(name: str, **changes: Any) -> Problem:
    problem: Problem = _maker(name)(**changes)
    return problem


def _maker(name: str) -> Callable[..., Problem]:
    maker: Callable[..., Problem] = import_module(f"testset.{name}").problem
    return maker


_registry = Registry("problem", "herk.problems", {name: partial(_make, name) for name in _MODULES})
_registered: dict[str, Callable[..., Problem]] = {}


def names(tag: str | None = None) -> list[str]:
    """Return the names of all problems, or of those with this tag."""
    known = sorted({*_registry.names(), *_registered})
    return known if tag is None else [name for name in known if tag in _tags(name)]


def further(name: str) -> bool:
    """Tell whether a problem of ours takes part only where it is named, not in studies of every problem."""
    return name in _registry.own and "further" in _tags(name)


def get(name: str, **changes: Any) -> Problem:
    """Return a problem; `t_end` and the parameters of its model can be changed.

    `testset.get("pendulum", t_end=200.0, g=9.81)`.

    A reference that does not hold for the changed problem is computed anew where there is a formula, and left
    out otherwise.
    """
    maker = _lookup(name)
    known = inspect.signature(maker).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in known.values()):
        for change in changes:
            if change not in known:
                raise nearest(change, known, f"parameter of problem {name!r}")
    return maker(**changes)


def register(name: str, maker: Callable[..., Problem]) -> None:
    """Add a problem for this process; packages use the entry-point group `herk.problems` instead."""
    if name in names():
        raise InputError(f"A problem named {name!r} is there already.")
    _registered[name] = maker


def _lookup(name: str) -> Callable[..., Problem]:
    if name in _registered:
        return _registered[name]
    if name in _registry.own:  # before any plugin is looked for, which takes time
        return _maker(name)
    if name not in _registry.names():
        raise nearest(name, names(), "problem")
    return _registry[name]


def _tags(name: str) -> frozenset[str]:
    if name in _registry.own and name not in _registered:
        return frozenset(import_module(f"testset.{name}").TAGS)
    return get(name).tags
