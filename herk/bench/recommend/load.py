"""A user's Python file -> a Problem: the file offers a model, a Dae with span and start, or a problem."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from herk.core import Dae, InputError, Problem
from herk.model.model import Model
from herk.model.start import completed_start

WANTED = (
    "It should define one of: `model` (a herk.Model), `problem` (a herk.Problem, or a function that returns"
    " one), or `dae` (a herk.Dae) together with `t_span` and `y0`. `python -m herk.bench new problem NAME`"
    " writes a file to start from."
)


@dataclass(frozen=True)
class Loaded:
    """The problem, and under which name the file offers it: what the code to paste needs to know."""

    problem: Problem
    kind: str  # "model", "dae", "problem" or "problem()", a function that returns it
    attribute: str


def load(path: str | Path) -> Loaded:
    """Run the file as a module and return what it offers; whatever the file raises is let through."""
    return find(run(Path(path)), Path(path))


def run(path: Path) -> ModuleType:
    """Return the file as a module that compiled and pickled functions can refer to."""
    if not path.is_file():
        raise InputError(f"There is no file {str(path)!r}.")
    name = f"herk_user_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path.name} is not a Python file. {WANTED}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.resolve().parent))  # a file may import its neighbours
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


def find(module: ModuleType, path: Path) -> Loaded:
    """Return what the module offers; the order of names is the order of how much they tell."""
    for attribute in ("problem", "PROBLEM"):
        if hasattr(module, attribute):
            offered = getattr(module, attribute)
            return Loaded(_problem(offered, path), "problem()" if callable(offered) else "problem", attribute)
    for attribute in ("model", "MODEL"):
        if isinstance(getattr(module, attribute, None), Model):
            return Loaded(from_model(getattr(module, attribute)), "model", attribute)
    for attribute in ("dae", "DAE"):
        if isinstance(getattr(module, attribute, None), Dae):
            return Loaded(_from_dae(module, attribute, path), "dae", attribute)
    models = [name for name, value in vars(module).items() if isinstance(value, Model)]
    if len(models) == 1:
        return Loaded(from_model(getattr(module, models[0])), "model", models[0])
    many = f" It defines several models: {', '.join(models)}; name one of them `model`." if models else ""
    raise InputError(f"{path.name} has nothing to solve.{many} {WANTED}")


def _problem(offered: Any, path: Path) -> Problem:
    problem = offered() if callable(offered) else offered
    if not isinstance(problem, Problem):
        raise InputError(
            f"`problem` in {path.name} gives {type(problem).__name__}, not a herk.Problem. {WANTED}"
        )
    return problem


def from_model(model: Model) -> Problem:
    """Return a model as a problem, open start values computed from the constraints."""
    y0 = model.y0
    if None in y0:
        y0 = tuple(completed_start(model.form("overdetermined"), model.t_span[0], y0))
    return Problem(
        name=model.name,
        title=model.name,
        t_span=model.t_span,
        y0=np.array(y0),
        source="the user's own file",
        model=model,
    )


def _from_dae(module: ModuleType, attribute: str, path: Path) -> Problem:
    missing = [name for name in ("t_span", "y0") if not hasattr(module, name)]
    if missing:
        raise InputError(
            f"{path.name} defines `{attribute}`, but not {' and '.join(missing)}: a herk.Dae brings no span"
            " and no start."
        )
    dae, span = getattr(module, attribute), module.t_span
    y0 = completed_start(dae, float(span[0]), module.y0)
    return Problem(
        name=path.stem,
        title=path.stem,
        t_span=tuple(span),
        y0=y0,
        source="the user's own file",
        given_dae=dae,
    )
