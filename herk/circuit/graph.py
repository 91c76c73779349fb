"""Loops of capacitors and voltage sources, cutsets of inductors and current sources: what makes index 2.

Without controlled sources the index is 2 exactly if there is one of them (Estevez Schwarz and Tischendorf,
2000); the ideal op-amp counts as an edge without voltage and current between its inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from herk.circuit.elements import GROUND, Element, Netlist
from herk.core import InputError


class Edge(NamedTuple):
    """Two nodes that an element joins."""

    a: str
    b: str
    name: str
    kind: str


@dataclass(frozen=True)
class Topology:
    """Loops and cutsets by names of elements, and which start values follow from the others."""

    loops: tuple[tuple[str, ...], ...]
    cutsets: tuple[tuple[str, ...], ...]
    dependent: frozenset[str]
    behind_diodes: tuple[str, ...] = ()
    behind_both: tuple[str, ...] = ()  # diodes and inductors: their currents die away while diodes block

    def sentences(self) -> tuple[str, ...]:
        """Return what they mean, one sentence each."""
        loops = [
            f"{_listed(loop)} form a loop of capacitors and voltage sources: their currents follow from the"
            " derivative of a voltage, which makes the index 2."
            for loop in self.loops
        ]
        cutsets = [
            f"{_listed(cut)} form a cutset of inductors and current sources: their voltages follow from the"
            " derivative of a current, which makes the index 2."
            for cut in self.cutsets
        ]
        floating = [
            f"Nothing but {what} connects {', '.join(nodes)} with ground: while the diodes block, the"
            " voltages there are next to undetermined; a large resistor to ground, such as 1g, gives them a"
            " value."
            for what, nodes in (("diodes", self.behind_diodes), ("diodes and inductors", self.behind_both))
            if nodes
        ]
        return (*loops, *cutsets, *floating)


def topology(net: Netlist) -> Topology:
    """Return the loops and cutsets of a circuit; refuse what has no unique solution, by name."""
    edges = [edge for each in net.elements for edge in _edges(each)]
    _refuse_floating(net, edges)
    loops, closing = _loops(edges, {each.name for each in net.of("C") if each.initial is not None})
    cutsets, tree = _cutsets(edges, {each.name for each in net.of("L") if each.initial is not None})
    behind = _beyond(net, edges, ("D",))
    ends = {node for edge in edges if edge.kind == "D" for node in (edge.a, edge.b)}
    both = [node for node in _beyond(net, edges, ("D", "L")) if node not in behind and node in ends]
    return Topology(tuple(loops), tuple(cutsets), frozenset((*closing, *tree)), tuple(behind), tuple(both))


def _beyond(net: Netlist, edges: Sequence[Edge], kinds: tuple[str, ...]) -> list[str]:
    """Return the nodes that only elements of these kinds connect with ground."""
    forest = _Forest([edge for edge in edges if edge.kind not in kinds])
    return [node for node in net.nodes if node not in GROUND and forest.path(node, "0") is None]


def _edges(element: Element) -> Iterator[Edge]:
    nodes = _grounded(element)
    if element.kind == "OPAMP":
        yield Edge(nodes[0], nodes[1], element.name, "nullator")
        yield Edge(nodes[2], "0", element.name, "norator")
    elif element.kind == "TRANSFORMER":
        yield Edge(nodes[0], nodes[1], element.name, "winding")
        yield Edge(nodes[2], nodes[3], element.name, "winding")
    elif nodes:
        yield Edge(nodes[0], nodes[1], element.name, element.kind)


def _refuse_floating(net: Netlist, edges: Sequence[Edge]) -> None:
    """Refuse nodes that nothing connects to ground; a transformer's sides are joined for this purpose."""
    if not any(node in GROUND for each in net.elements for node in each.nodes):
        raise InputError("The circuit has no ground; call one of its nodes 0.")
    sides = [
        Edge(_grounded(each)[1], _grounded(each)[3], each.name, "winding") for each in net.of("TRANSFORMER")
    ]
    forest = _Forest([*edges, *sides])
    lost = [node for node in net.nodes if forest.path(node, "0") is None]
    if lost:
        raise InputError(f"Nothing connects {', '.join(lost)} with ground; give every node a path to node 0.")


def _grounded(element: Element) -> list[str]:
    return ["0" if node in GROUND else node for node in element.nodes]


def _loops(edges: Sequence[Edge], given: set[str]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Return the loops, and of each the capacitor whose voltage follows from the others."""
    rank = {"V": 0, "nullator": 1}
    wanted = [edge for edge in edges if edge.kind in ("V", "nullator", "C")]
    forest = _Forest([])
    loops, closing = [], []
    for edge in sorted(wanted, key=lambda e: (rank.get(e.kind, 2 + (e.name not in given)),)):
        path = forest.path(edge.a, edge.b)
        if path is None:
            forest.add(edge)
            continue
        names = tuple(dict.fromkeys(each.name for each in (*path, edge)))
        if edge.kind == "V":
            raise InputError(f"{_listed(names)} form a loop of voltage sources alone; take one of them out.")
        if edge.kind == "C":
            loops.append(names)
            closing.append(edge.name)
    return loops, closing


def _cutsets(edges: Sequence[Edge], given: set[str]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Return the cutsets, and of each the inductor whose current follows from the others."""
    others = [edge for edge in edges if edge.kind not in ("L", "I", "nullator")]
    forest = _Forest(others)
    wanted = [edge for edge in edges if edge.kind in ("L", "I")]
    tree = []
    for edge in sorted(wanted, key=lambda e: (e.kind == "I", e.name in given)):
        if forest.path(edge.a, edge.b) is None:
            forest.add(edge)
            tree.append(edge)
    cutsets = []
    for edge in tree:
        without = _Forest([*others, *(each for each in tree if each is not edge)])
        crossing = [each for each in wanted if without.path(each.a, each.b) is None]
        names = tuple(each.name for each in crossing)
        if all(each.kind == "I" for each in crossing):
            raise InputError(
                f"{_listed(names)} form a cutset of current sources alone: their currents have no other way;"
                " take one of them out or put a resistor beside it."
            )
        cutsets.append(names)
    return cutsets, [edge.name for edge in tree]


class _Forest:
    """Edges without loops; finds the path between two nodes."""

    def __init__(self, edges: Sequence[Edge]) -> None:
        self.at: dict[str, list[Edge]] = {}
        for edge in edges:
            if self.path(edge.a, edge.b) is None:
                self.add(edge)

    def add(self, edge: Edge) -> None:
        """Take an edge that closes no loop."""
        self.at.setdefault(edge.a, []).append(edge)
        self.at.setdefault(edge.b, []).append(edge)

    def path(self, a: str, b: str) -> list[Edge] | None:
        """Return the edges between two nodes, None if there is no way."""
        come: dict[str, list[Edge]] = {a: []}
        waiting = [a]
        while waiting:
            node = waiting.pop()
            if node == b:
                return come[node]
            for edge in self.at.get(node, ()):
                other = edge.b if edge.a == node else edge.a
                if other not in come:
                    come[other] = [*come[node], edge]
                    waiting.append(other)
        return None


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
