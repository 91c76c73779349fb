"""What is integrated to recompute a reference.

An ODE, smooth or in modes, with a start, a span and the way back to the problem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from testset.extended.methods import Rate, Vector
from testset.extended.stiff import Quadratic


@dataclass(frozen=True)
class Switches:
    """Modes, each on (True) while its value is positive.

    The rate of a system with switches takes the modes first.
    """

    count: int
    values: Callable[[Any, Vector, Vector], Vector]  # t, y, modes


@dataclass(frozen=True)
class System:
    """y' = rate(t, y), or rate(t, y, modes) with switches.

    `whole` returns the unknowns of the problem, with the same arguments.
    """

    rate: Callable[..., Vector]
    start: Vector
    t_end: Any
    whole: Callable[..., Vector]
    parameters: dict[str, float] = field(default_factory=dict)
    source: str = ""
    switches: Switches | None = None
    quadratic: Quadratic | None = None  # the same rate for the methods for stiff systems

    def rate_in(self, modes: Vector) -> Rate:
        """Return the rate in some modes."""
        return self.rate if self.switches is None else lambda t, y: self.rate(t, y, modes)
