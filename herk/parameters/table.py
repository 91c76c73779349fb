"""Who the members of an ensemble are: a start and values of all parameters for each, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from herk.core import Dae, InputError, Problem, nearest
from herk.core.dae import Array
from herk.core.names import START, as_name, as_state
from herk.parameters.grid import Grid, axis


@dataclass(frozen=True)
class Table:
    """Members by rows: `y0` has nan where a value is computed, `values` are those of all parameters."""

    system: Any
    names: tuple[str, ...]
    known: tuple[str, ...]  # parameters of the model
    y0: Array
    values: Array
    given: Mapping[str, Array] = field(default_factory=dict)  # what was varied
    shape: tuple[int, ...] = ()  # of a grid

    @property
    def size(self) -> int:
        """Return the number of members."""
        return len(self.y0)

    def start(self, k: int) -> list[float | None]:
        """Return the start of a member; None is to be computed."""
        return [None if np.isnan(value) else float(value) for value in self.y0[k]]

    def parameters(self, k: int) -> dict[str, float]:
        """Return the parameters of a member."""
        return dict(zip(self.known, map(float, self.values[k]), strict=True))

    def part(self, which: Any) -> Table:
        """Return some of the members."""
        given = {name: values[which] for name, values in self.given.items()}
        return Table(self.system, self.names, self.known, self.y0[which], self.values[which], given)


def table_of(system: Any, parameters: Any, y0: Any) -> Table:
    """Return the members of an ensemble from what the user gives."""
    if isinstance(system, Problem) and system.model is not None:
        system = system.model.with_span(*reversed(system.t_span)).with_start(system.y0.tolist())
    is_model = hasattr(system, "with_parameters")
    if not is_model and not isinstance(system, Dae):
        raise InputError(
            f"solve_many takes a herk.Model, a problem of the test set or a herk.Dae, not"
            f" {type(system).__name__}."
        )
    names = tuple(system.names)
    known = tuple(p.name for p in system.parameters) if is_model else ()
    varied = _columns(parameters)
    starts = {
        as_state(name.removeprefix(START), names): varied.pop(name)
        for name in list(varied)
        if name.startswith(START)
    }
    for name in varied:
        if name not in known:
            raise nearest(name, [*known, *(START + each for each in names)], "parameter")
    starts |= _starts(y0, names)
    for name in starts:
        if name not in names:
            raise nearest(name, names, "unknown")
    count = _members({**varied, **{START + name: values for name, values in starts.items()}})
    own = list(system.y0) if is_model else [None] * len(names)
    if not is_model and set(starts) != set(names):
        raise InputError("A herk.Dae has no start: give y0, a row of values for every member.")
    rows = [
        starts.get(name, np.array([np.nan if v is None else v])) for name, v in zip(names, own, strict=True)
    ]
    values = [varied.get(p.name, np.array([v])) for p, v in system.parameters.items()] if is_model else []
    given = varied | {START + name: column for name, column in starts.items() if len(column) > 1}
    return Table(
        system,
        names,
        known,
        _matrix(rows, count),
        _matrix(values, count),
        {name: np.broadcast_to(column, count).copy() for name, column in given.items()},
        parameters.shape if isinstance(parameters, Grid) else (),
    )


def _columns(parameters: Any) -> dict[str, Array]:
    """Return the values by name, from a mapping, a grid or a frame."""
    if parameters is None:
        return {}
    if hasattr(parameters, "columns") and hasattr(parameters, "to_dict"):
        parameters = {as_name(name): parameters[name].to_numpy() for name in parameters.columns}
    if not isinstance(parameters, Mapping):
        raise InputError(
            "parameters must be a mapping from names to values, a pandas frame or a herk.grid, not"
            f" {type(parameters).__name__}."
        )
    found = {as_name(name): axis(as_name(name), values) for name, values in parameters.items()}
    for name, values in found.items():
        if not np.isfinite(values).all():
            wrong = int(np.flatnonzero(~np.isfinite(values))[0])
            raise InputError(f"The value of {name} of member {wrong} is not finite.")
    return found


def _starts(y0: Any, names: tuple[str, ...]) -> dict[str, Array]:
    """Return start values by name; nan is a value that is computed."""
    if y0 is None:
        return {}
    if isinstance(y0, Mapping):
        found = {
            as_state(name, names): axis(f"y0 of {as_name(name)}", np.nan if value is None else value)
            for name, value in y0.items()
        }
    else:
        try:
            rows = np.atleast_2d(np.array(y0, dtype=float))
        except (TypeError, ValueError):
            raise InputError("y0 must be numbers, a row for every member; None or nan is computed.") from None
        if rows.ndim != 2 or rows.shape[1] != len(names):
            raise InputError(
                f"y0 has shape {np.shape(y0)}; {len(names)} values are needed, or a row of them for every"
                " member."
            )
        if not len(rows):
            raise InputError("y0 has no rows: there is nothing to solve.")
        found = {name: rows[:, j] for j, name in enumerate(names)}
    for name, column in found.items():
        if np.isinf(column).any():
            raise InputError(f"y0 is not finite in {name}.")
    return found


def _members(columns: Mapping[str, Array]) -> int:
    """Return how many members there are: single values hold for all."""
    lengths = {name: len(column) for name, column in columns.items() if len(column) > 1}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {count}" for name, count in lengths.items())
        raise InputError(
            f"The numbers of values do not fit: {listed}. Give one for every member, or a single one."
        )
    return max(lengths.values(), default=1)


def _matrix(columns: list[Array], count: int) -> Array:
    if not columns:
        return np.zeros((count, 0))
    return np.stack([np.broadcast_to(column, count) for column in columns], axis=1)
