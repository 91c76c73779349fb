"""Modified nodal analysis: a netlist becomes E y' = f with voltages of nodes and the currents it needs.

States are the voltages u_C1 of capacitors and currents i_L1 of inductors, then voltages v_out of nodes, and
the currents i_C1, i_V1, i_X1 of capacitors, voltage sources, op-amps and transformers.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from herk.circuit.elements import GROUND, Element, Netlist
from herk.circuit.waves import wave

THERMAL = 1.380649e-23 * 300.15 / 1.602176634e-19  # k T / q at 27 degrees Celsius, in volts


class Equations:
    """Rows of E and f, gathered element by element; currents leave a node with a plus sign."""

    def __init__(self, net: Netlist, t: sp.Symbol) -> None:
        self.t, self.net = t, net
        self.states = states_of(net)
        self.balance = dict.fromkeys(net.nodes, sp.S.Zero)
        self.rows: list[tuple[dict[str, sp.Expr], sp.Expr]] = []
        self.parameters: dict[str, float] = {}
        self.coupled = _couplings(net)
        for element in net.elements:
            getattr(self, f"_{element.kind.lower()}")(element)
        self.rows += [({}, sum_) for sum_ in self.balance.values()]

    def matrices(self) -> tuple[list[list[Any]], list[sp.Expr]]:
        """Return E and f."""
        E = [[left.get(state, sp.S.Zero) for state in self.states] for left, _ in self.rows]
        return E, [right for _, right in self.rows]

    def _v_at(self, node: str) -> sp.Expr:
        return sp.S.Zero if node in GROUND else _symbol(f"v_{node}")

    def _across(self, element: Element) -> sp.Expr:
        return self._v_at(element.nodes[0]) - self._v_at(element.nodes[1])

    def _flow(self, a: str, b: str, current: sp.Expr) -> None:
        """Let a current flow through an element from node a to node b."""
        for node, signed in ((a, current), (b, -current)):
            if node not in GROUND:
                self.balance[node] += signed

    def _through(self, element: Element, current: sp.Expr) -> None:
        self._flow(element.nodes[0], element.nodes[1], current)

    def _value(self, name: str, value: float | None) -> sp.Symbol:
        assert value is not None
        self.parameters[name] = value
        return _symbol(name)

    def _r(self, element: Element) -> None:
        self._through(element, self._across(element) / self._value(element.name, element.value))

    def _c(self, element: Element) -> None:
        current, voltage = _symbol(f"i_{element.name}"), _symbol(f"u_{element.name}")
        self._through(element, current)
        self.rows.append(({f"u_{element.name}": self._value(element.name, element.value)}, current))
        self.rows.append(({}, voltage - self._across(element)))

    def _l(self, element: Element) -> None:
        own = {f"i_{element.name}": self._value(element.name, element.value)}
        for other, coupling, product in self.coupled.get(element.name, ()):
            own[f"i_{other}"] = _symbol(coupling) * sp.sqrt(product)
        self._through(element, _symbol(f"i_{element.name}"))
        self.rows.append((own, self._across(element)))

    def _k(self, element: Element) -> None:
        self._value(element.name, element.value)

    def _source(self, element: Element) -> sp.Expr:
        if element.wave == "DC":
            self.parameters[element.name] = element.numbers[0]
        return wave(element, self.t)

    def _v(self, element: Element) -> None:
        self._through(element, _symbol(f"i_{element.name}"))
        self.rows.append(({}, self._source(element) - self._across(element)))

    def _i(self, element: Element) -> None:
        self._through(element, self._source(element))

    def _d(self, element: Element) -> None:
        saturation = self._value(f"{element.name}_IS", element.options["IS"])
        slope = self._value(f"{element.name}_N", element.options["N"]) * sp.Float(THERMAL, 17)
        self._through(element, saturation * (sp.exp(self._across(element) / slope) - 1))

    def _opamp(self, element: Element) -> None:
        self._flow(element.nodes[2], "0", _symbol(f"i_{element.name}"))
        self.rows.append(({}, self._across(element)))

    def _transformer(self, element: Element) -> None:
        """Write v1 = N v2 and i2 = -N i1, currents into the dotted ends."""
        ratio = self._value(f"{element.name}_N", element.options.get("N", 1.0))
        a, b, c, d = element.nodes
        current = _symbol(f"i_{element.name}")
        self._flow(a, b, current)
        self._flow(c, d, -ratio * current)
        self.rows.append(({}, self._across(element) - ratio * (self._v_at(c) - self._v_at(d))))


def states_of(net: Netlist) -> list[str]:
    """Return the unknowns in order."""
    dynamic = [f"u_{each.name}" for each in net.of("C")] + [f"i_{each.name}" for each in net.of("L")]
    currents = [f"i_{each.name}" for kind in ("C", "V", "OPAMP", "TRANSFORMER") for each in net.of(kind)]
    return [*dynamic, *(f"v_{node}" for node in net.nodes), *currents]


def _couplings(net: Netlist) -> dict[str, list[tuple[str, str, sp.Expr]]]:
    """Return for every inductor its partners, the name of the coupling and the product of inductances."""
    found: dict[str, list[tuple[str, str, sp.Expr]]] = {}
    for each in net.of("K"):
        a, b = each.partners
        product = _symbol(a) * _symbol(b)
        found.setdefault(a, []).append((b, each.name, product))
        found.setdefault(b, []).append((a, each.name, product))
    return found


def _symbol(name: str) -> sp.Symbol:
    return sp.Symbol(name, real=True)
