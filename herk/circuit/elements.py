"""What a circuit is made of: elements with nodes and values, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

GROUND = ("0", "gnd", "GND", "Gnd")


@dataclass(frozen=True)
class Element:
    """One line of a netlist: R, C, L, V, I, D, K, or X with the kind OPAMP or TRANSFORMER.

    `value` is a resistance, a capacity, ..., `wave` the name of a source's shape with its `numbers`,
    `options` what was written as NAME=number, `partners` the inductors that a K couples.
    """

    kind: str
    name: str
    nodes: tuple[str, ...]
    value: float | None = None
    wave: str = "DC"
    numbers: tuple[float, ...] = ()
    options: Mapping[str, float] = field(default_factory=dict)
    partners: tuple[str, ...] = ()

    @property
    def initial(self) -> float | None:
        """Return the value at the start, IC in SPICE's words."""
        return self.options.get("IC")


@dataclass(frozen=True)
class Netlist:
    """All elements in order, and the end of time if the netlist names it (.tran)."""

    elements: tuple[Element, ...]
    t_end: float | None = None

    def of(self, *kinds: str) -> list[Element]:
        """Return the elements of some kinds, in order."""
        return [each for each in self.elements if each.kind in kinds]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the nodes in order, without ground."""
        found = dict.fromkeys(node for each in self.elements for node in each.nodes)
        return tuple(node for node in found if node not in GROUND)
