"""A long list of operations in doubles, those of one kind that do not wait for each other at one stroke."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from herk.core.dae import Array

LONG = 400  # operations from which this is quicker than one after the other
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "atan2": np.arctan2,
}


class Groups:
    """Operations (kind, function, operands), each for the next place behind `inputs` numbers, in groups."""

    def __init__(
        self, inputs: int, operations: Sequence[tuple[Hashable, Callable[..., float], tuple[int, ...]]]
    ) -> None:
        """Put together what has the same kind, number of operands and depth."""
        depth = [0] * inputs
        groups: dict[tuple[int, Any, int], list[int]] = {}
        for place, (kind, _, operands) in enumerate(operations, inputs):
            depth.append(1 + max((depth[i] for i in operands), default=0))
            key = kind if vector(kind) is not None else place
            groups.setdefault((depth[-1], key, len(operands)), []).append(place)
        self._count = inputs + len(operations)
        self._steps: list[tuple[Callable[..., Any], Any, Any]] = []
        for (_, kind, _), places in sorted(groups.items(), key=lambda item: item[0][0]):
            sources = np.array([operations[p - inputs][2] for p in places], dtype=int).T
            plain = operations[places[0] - inputs][1]
            self._steps.append((vector(kind) or plain, sources, np.array(places)))

    def __call__(self, values: Sequence[float]) -> Array:
        """Return the inputs and the results of all operations; what has no value is not a number."""
        done = np.empty(self._count)
        done[: len(values)] = values
        with np.errstate(all="ignore"):
            for function, operands, places in self._steps:
                if len(places) > 1 or len(operands) == 0:
                    done[places] = function(*done[operands])
                else:
                    done[places] = function(*[float(v) for v in done[operands[:, 0]]])
        return done


def vector(kind: Any) -> Callable[..., Any] | None:
    """Return the function on arrays for a kind of operation, None if there is none."""
    if not isinstance(kind, tuple):
        return None
    name, detail = kind
    if name == "sum":
        return lambda *terms: sum(terms[1:], terms[0])
    if name == "product":
        return _product
    if name == "power":
        return lambda base: base**detail
    if name == "root":
        return lambda base: np.sqrt(base) ** detail
    return _FUNCTIONS.get(detail) if name == "function" else None


def _product(*factors: Array) -> Array:
    total = factors[0]
    for factor in factors[1:]:
        total = total * factor
    return total
