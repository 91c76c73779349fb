"""One solution for given values of what is free, with its sensitivities: what fits and gradients repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from herk.core import InputError, Problem, Solution
from herk.core.dae import Array
from herk.integrate.options import request
from herk.integrate.prepared import OPTIONS
from herk.integrate.sensitivity.solve import differentiated
from herk.model.start import consistent_start

TINY = 1e-15
NOT_HERE = ("t_eval", "save", "consistent", "sensitivities", "parameters", "y0")


@dataclass(frozen=True)
class Trial:
    """A model over a span, looked at at given times, differentiated with respect to these names."""

    model: Any
    span: tuple[float, float]
    times: Array | None
    names: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    def solve(self, parameters: Mapping[str, float], starts: Mapping[str, float]) -> Solution:
        """Solve from a start that is consistent with these values; those of free start values are kept."""
        # Zero would be a structure of its own, without the terms that are to be differentiated.
        model = self.model.with_parameters(**{name: value or TINY for name, value in parameters.items()})
        given = list(model.y0)
        held = [model.names.index(name) for name in starts]
        for j, value in zip(held, starts.values(), strict=True):
            given[j] = value
        dae = model.form("overdetermined")
        y0 = consistent_start(dae, self.span[0], given, fixed=held)
        how = dict(self.options)
        method = how.pop("method", "auto")
        extra = {name: how.pop(name) for name in list(how) if name not in OPTIONS}
        apart = {name: extra.pop(name) for name in ("breakpoints", "switches") if name in extra}
        whole = OPTIONS | how | {"t_eval": self.times, "consistent": "trust"}
        asked = request(model, self.span, y0, method, whole, extra, **apart)
        return differentiated(asked, self.names, given=given)


def model_of(system: Any, caller: str) -> Any:
    """Return the model of what a user gives."""
    if isinstance(system, Problem) and system.model is not None:
        return system.model.with_span(*reversed(system.t_span)).with_start(system.y0.tolist())
    if not hasattr(system, "with_parameters"):
        raise InputError(
            f"{caller} takes a herk.Model, or a problem of the test set that has one, not"
            f" {type(system).__name__}: callables cannot be differentiated."
        )
    return system


def checked_options(options: Mapping[str, Any], caller: str, more: Sequence[str] = ()) -> None:
    """Refuse options that mean nothing here."""
    for name in (*NOT_HERE, *more):
        if name in options:
            raise InputError(f"{caller} does not take {name}=; it follows from the other arguments.")
