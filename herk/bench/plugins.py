"""Files of the user: something to solve and solvers of their own, the same file for every command."""

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

import numpy as np

import baselines
import testset
from herk.core import Dae, InputError, Problem, Solver
from herk.model.model import Model
from herk.model.start import completed_start

WANTED = (
    "It should define one of: `problem` (a herk.Problem, or a function that returns one), `model` (a"
    " herk.Model), `dae` (a herk.Dae) together with `t_span` and `y0`; or SOLVERS, a list of solvers."
    " `python -m herk.bench new problem NAME` writes a file to start from."
)
OWN = "the user's own file"
_read: dict[str, File] = {}
_makers: dict[str, Callable[..., Problem]] = {}
_own_solvers: set[str] = set()


@dataclass(frozen=True)
class Offer:
    """Something to solve, and under which name a file offers it: what the code to paste needs to know."""

    make: Callable[..., Problem]
    problem: Problem
    kind: str  # "model", "dae", "problem" or "problem()", a function that returns it
    attribute: str


@dataclass(frozen=True)
class File:
    """What a file offers, and a hash of its text: results of another text are other results."""

    path: str
    digest: str
    offer: Offer | None
    own: tuple[Solver, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """Return the name of what is to be solved, if there is any."""
        return (self.offer.problem.name,) if self.offer else ()

    @property
    def solvers(self) -> tuple[str, ...]:
        """Return the names of its solvers."""
        return tuple(solver.name for solver in self.own)


def load(paths: Iterable[str | Path]) -> list[File]:
    """Read files and let what they offer join the bench for this process."""
    found = [read(path) for path in paths]
    for each in found:
        if each.offer:
            _add_problem(each.offer.problem.name, each.offer.make)
        for solver in each.own:
            if solver.name not in _own_solvers or baselines.get(solver.name) is not solver:
                baselines.register(solver, replace=solver.name in _own_solvers)
                _own_solvers.add(solver.name)
    return found


def digests(paths: Iterable[str | Path]) -> dict[str, str]:
    """Return for every problem and solver that files define the hash of its file."""
    return {name: each.digest for each in load(paths) for name in (*each.problems, *each.solvers)}


def read(path: str | Path) -> File:
    """Run a file, once for each text it has, and return what it offers; nothing is registered."""
    path = Path(path).resolve()
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InputError(f"The file {path} cannot be read: {error.strerror}.") from None
    digest = hashlib.sha256(text).hexdigest()[:12]
    if (key := f"{path} {digest}") not in _read:
        module = _run(path, f"herk_file_{path.stem}_{digest}")
        found = File(str(path), digest, _offer(module, path), _solvers(module))
        if not found.offer and not found.own:
            models = ", ".join(_models(module))
            many = f" It defines several models: {models}; name one of them `model`." if models else ""
            raise InputError(
                f"{path.name} has nothing to run: nothing to solve and no solver.{many} {WANTED}"
            )
        _read[key] = found
    return _read[key]


def to_solve(path: str | Path) -> Offer:
    """Return what a file offers to solve."""
    if (offer := read(path).offer) is None:
        raise InputError(f"{Path(path).name} has solvers, but nothing to solve. {WANTED}")
    return offer


def _run(path: Path, name: str) -> ModuleType:
    """Return the file as a module that compiled and pickled functions can refer to."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"The file {path} is no Python file; its name must end in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))  # a file may import its neighbours
    try:
        spec.loader.exec_module(module)
    except Exception:  # noqa: BLE001 - the file of a user may fail in any way
        raise InputError(f"The file {path} cannot be run:\n{_own_traceback(path)}") from None
    finally:
        sys.path.remove(str(path.parent))
    return module


def _own_traceback(path: Path) -> str:
    """Return the traceback from the user's file on; our own frames above it say nothing to the user."""
    lines = traceback.format_exc().splitlines()
    first = next((i for i, line in enumerate(lines) if str(path) in line), 0)
    return "\n".join(["Traceback (most recent call last):", *lines[first:]])


def _offer(module: ModuleType, path: Path) -> Offer | None:
    """Return what is to be solved; the order of names is the order of how much they tell."""
    for name in ("problem", "PROBLEM"):
        if (given := getattr(module, name, None)) is not None:
            made = given() if callable(given) else given
            if not isinstance(made, Problem):
                wrong = type(made).__name__
                raise InputError(
                    f"`{name}` in {path.name} must be or return a herk.Problem, not {wrong}. {WANTED}"
                )
            return Offer(given, made, "problem()", name) if callable(given) else _fixed(made, "problem", name)
    models = _models(module)
    for name in ("model", "MODEL", *(models if len(models) == 1 else ())):
        if name in models:
            return _fixed(from_model(getattr(module, name)), "model", name)
    for name in ("dae", "DAE"):
        if isinstance(getattr(module, name, None), Dae):
            return _fixed(_from_dae(module, name, path), "dae", name)
    return None


def _fixed(problem: Problem, kind: str, attribute: str) -> Offer:
    return Offer(lambda: problem, problem, kind, attribute)


def _models(module: ModuleType) -> list[str]:
    return [name for name, value in vars(module).items() if isinstance(value, Model)]


def from_model(model: Model) -> Problem:
    """Return a model as a problem, open start values computed from the constraints."""
    y0 = model.y0
    if None in y0:
        y0 = tuple(completed_start(model.form("overdetermined"), model.t_span[0], y0))
    return Problem(model.name, model.name, model.t_span, np.array(y0), OWN, model)


def _from_dae(module: ModuleType, attribute: str, path: Path) -> Problem:
    missing = [name for name in ("t_span", "y0") if not hasattr(module, name)]
    if missing:
        raise InputError(
            f"{path.name} defines `{attribute}`, but not {' and '.join(missing)}: a herk.Dae has no span"
            " and no start."
        )
    dae, span = getattr(module, attribute), tuple(module.t_span)
    y0 = completed_start(dae, float(span[0]), module.y0)
    return Problem(path.stem, path.stem, span, y0, OWN, given_dae=dae)


def _solvers(module: ModuleType) -> tuple[Solver, ...]:
    given = getattr(module, "SOLVERS", None) or [
        each for each in (getattr(module, "SOLVER", None),) if each is not None
    ]
    solvers = tuple(each() if isinstance(each, type) else each for each in given)
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
