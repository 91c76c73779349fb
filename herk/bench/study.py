"""A study as data: which solvers on which forms of which problems at which settings."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from herk.core import InputError, nearest

FOLDER = Path(__file__).with_name("studies")
QUARTER = 4  # tolerances per decade, because the error of a single run scatters


@dataclass(frozen=True)
class Case:
    """Problems, solvers and forms by patterns.

    Patterns are those of a shell: * ? [ab]. Every match of all three is run, with every change of parameters.

    `tag` asks for solvers that have it, `adaptive` for those with or without control of their step; `options`
    are handed to the solver. `rtol` and `steps` replace those of the study: a solver that needs seconds where
    others need milliseconds is asked for fewer tolerances, a method of order 1 for more steps.
    """

    problem: tuple[str, ...]
    solver: tuple[str, ...]
    form: tuple[str, ...] = ("*",)
    tag: str = ""
    changes: tuple[Mapping[str, Any], ...] = ({},)
    adaptive: bool | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    rtol: tuple[float, ...] = ()
    steps: tuple[int, ...] = ()


@dataclass(frozen=True)
class Study:
    """Cases with their settings; `timed` studies want a core for themselves.

    A run is repeated until there are `repeats` of it, or they have taken `repeat_seconds` together.
    `grid` is the number of output intervals or "steps". `stand_in` names, for a solver that not everybody
    has, another one that takes part where it is not installed.
    """

    name: str
    title: str
    case: tuple[Case, ...]
    rtol: tuple[float, ...] = ()
    atol_per_rtol: float = 1.0
    steps: tuple[int, ...] = ()
    timed: bool = False
    repeats: int = 1
    repeat_seconds: float = 0.2
    time_limit: float = 10.0
    grid: int | str = 50
    series_rtol: tuple[float, ...] = ()
    trajectories: tuple[str, ...] = ()
    stand_in: Mapping[str, str] = field(default_factory=dict)


def names() -> list[str]:
    """Return the names of the studies that come with the bench."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name: str, quick: bool = False) -> Study:
    """Return a study by its name, or by the path of a TOML file."""
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if path.parent == FOLDER and not path.exists():
        raise nearest(name, names(), "study")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"The study {path} cannot be read: {error}.") from None
    return parse({"name": path.stem, **content}, quick)


def parse(content: Mapping[str, Any], quick: bool = False) -> Study:
    """Return the study that a table of a TOML file describes; its part `quick` replaces what it names.

    `problem` and `changes` above the cases hold for those that do not say otherwise; with several tables `on`
    such cases are run on each of them.
    """
    table = dict(content)
    shorter = table.pop("quick", {})
    table |= shorter if quick else {}
    shared = {name: table.pop(name) for name in ("problem", "changes") if name in table}
    places = table.pop("on", [{}])
    _known(table, {f.name for f in fields(Study)}, "a study")
    for name in ("name", "case"):
        if not table.get(name):
            raise InputError(f"A study needs {'at least one [[case]]' if name == 'case' else 'a name'}.")
    several = [each for each in table["case"] if "problem" not in each]
    alone = [each for each in table["case"] if "problem" in each]
    multiplied = [{**place, **each} for place in places for each in several]
    table["case"] = tuple(_case({**shared, **each}) for each in [*multiplied, *alone])
    table["rtol"] = _tolerances(table.get("rtol", ()))
    table["steps"] = _counts(table.get("steps", ()))
    if bool(table["rtol"]) == bool(table["steps"]):
        raise InputError(
            f"Study {table['name']!r} needs tolerances (rtol) or numbers of steps (steps), and not both."
        )
    for name in ("series_rtol", "trajectories"):
        table[name] = tuple(table.get(name, ()))
    return Study(**{"title": table["name"], **table})


def with_settings(study: Study, **settings: Any) -> Study:
    """Return the study with the settings that are not None replaced."""
    return replace(study, **{name: value for name, value in settings.items() if value is not None})


def _case(table: Mapping[str, Any]) -> Case:
    _known(table, {f.name for f in fields(Case)}, "a case of a study")
    table = {"solver": "*", **table} if "tag" in table else table
    if "problem" not in table or "solver" not in table:
        raise InputError("A case of a study needs problem and solver: lists of names or patterns.")
    lists = {name: _texts(table[name], name) for name in ("problem", "solver", "form") if name in table}
    changes = tuple(table.get("changes", [{}]))
    others = {name: table[name] for name in ("adaptive", "options", "tag") if name in table}
    own = {"rtol": _tolerances(table.get("rtol", ())), "steps": _counts(table.get("steps", ()))}
    return Case(**lists, changes=changes, **own, **others)


def _texts(value: Any, name: str) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, (list, tuple)) or not all(isinstance(each, str) for each in values):
        raise InputError(f"{name} must be a name or a list of names, not {value!r}.")
    return tuple(values)


def _known(table: Mapping[str, Any], allowed: Iterable[str], what: str) -> None:
    for name in table:
        if name not in allowed:
            raise nearest(name, allowed, f"key of {what}")


def _tolerances(value: Any) -> tuple[float, ...]:
    """Return tolerances, loose ones first: a list, or {from, to, per_decade}."""
    if isinstance(value, Mapping):
        _known(value, ("from", "to", "per_decade"), "rtol")
        per_decade = value.get("per_decade", QUARTER)
        first, last = (round(per_decade * math.log10(value[name])) for name in ("from", "to"))
        value = [
            10.0 ** (k / per_decade)
            for k in range(first, last + (1 if last > first else -1), 1 if last > first else -1)
        ]
    return tuple(sorted((rounded(each) for each in value), reverse=True))


def _counts(value: Any) -> tuple[int, ...]:
    """Return numbers of steps: a list, or {from, to}, doubled or with `per_doubling` in between."""
    if isinstance(value, Mapping):
        _known(value, ("from", "to", "per_doubling"), "steps")
        per = value.get("per_doubling", 1)
        last = int(per * math.log2(value["to"] / value["from"]) + 1e-9)
        value = {round(value["from"] * 2 ** (k / per)) for k in range(last + 1)}
    return tuple(sorted(int(each) for each in value))


def rounded(value: float) -> float:
    """Return a tolerance with four digits, so that it is read and written alike everywhere."""
    return float(f"{value:.4g}")
