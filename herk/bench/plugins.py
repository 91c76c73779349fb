"""Files of the user: problems and solvers that join the bench for one process.

Without a package and without touching ours.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import baselines
import testset
from herk.core import InputError, Problem, Solver

_makers: dict[str, Callable[..., Problem]] = {}
_loaded: dict[str, Loaded] = {}
_own_solvers: set[str] = set()


@dataclass(frozen=True)
class Loaded:
    """What a file has added, and a hash of its text: results of another text are other results."""

    path: str
    digest: str
    problems: tuple[str, ...]
    solvers: tuple[str, ...]


def load(paths: Iterable[str | Path]) -> list[Loaded]:
    """Run each file and register what it defines: `problem` (a function) or PROBLEM, SOLVERS or SOLVER."""
    return [_load(Path(path).resolve()) for path in paths]


def digests(paths: Iterable[str | Path]) -> dict[str, str]:
    """Return for every problem and solver that files define the hash of its file."""
    return {name: each.digest for each in load(paths) for name in (*each.problems, *each.solvers)}


def _load(path: Path) -> Loaded:
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InputError(f"The file {path} cannot be read: {error.strerror}.") from None
    digest = hashlib.sha256(text).hexdigest()[:12]
    key = f"{path} {digest}"
    if key not in _loaded:
        module = _run(path, f"herk_file_{path.stem}_{digest}")
        makers, solvers = _problems(module), _solvers(module)
        if not makers and not solvers:
            raise InputError(
                f"The file {path} defines neither problem() or PROBLEM nor SOLVERS: there is nothing to run."
            )
        for name, maker in makers.items():
            _add_problem(name, maker)
        for solver in solvers:
            baselines.register(solver, replace=solver.name in _own_solvers)
            _own_solvers.add(solver.name)
        _loaded[key] = Loaded(str(path), digest, tuple(makers), tuple(solver.name for solver in solvers))
    return _loaded[key]


def _run(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"The file {path} is no Python file; its name must end in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look there
    try:
        spec.loader.exec_module(module)
    except Exception:  # noqa: BLE001 - the file of a user may fail in any way
        raise InputError(f"The file {path} cannot be run:\n{traceback.format_exc(limit=-1)}") from None
    return module


def _problems(module: ModuleType) -> dict[str, Callable[..., Problem]]:
    given: Any = getattr(module, "problem", None) or getattr(module, "PROBLEM", None)
    if given is None:
        return {}
    made = given() if callable(given) else given
    if not isinstance(made, Problem):
        raise InputError(
            f"problem() of {module.__file__} must return a herk.Problem, not {type(made).__name__}."
        )
    return {made.name: given if callable(given) else lambda: made}


def _solvers(module: ModuleType) -> list[Solver]:
    given = getattr(module, "SOLVERS", None) or [
        each for each in (getattr(module, "SOLVER", None),) if each is not None
    ]
    solvers = [each() if isinstance(each, type) else each for each in given]
    for solver in solvers:
        if not isinstance(solver, Solver):
            raise InputError(
                f"SOLVERS of {module.__file__} holds {solver!r}, which lacks a part of the protocol"
                " herk.core.Solver."
            )
    return solvers


def _add_problem(name: str, maker: Callable[..., Problem]) -> None:
    """Register a problem; a later version of a file replaces the earlier."""
    if name not in _makers:
        testset.register(name, _indirect(name, maker))
    _makers[name] = maker


def _indirect(name: str, maker: Callable[..., Problem]) -> Callable[..., Problem]:
    def make(**changes: Any) -> Problem:
        return _makers[name](**changes)

    make.__wrapped__ = maker  # type: ignore[attr-defined] # the test set looks at the parameters
    return make
