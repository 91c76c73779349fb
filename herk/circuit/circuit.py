"""A netlist as a model: equations, parameters by name of element, a start, and what loops and cutsets are."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from herk.circuit.elements import Netlist
from herk.circuit.graph import topology
from herk.circuit.mna import Equations
from herk.circuit.netlist import read
from herk.circuit.waves import corners
from herk.core import InputError
from herk.model.entries import t
from herk.model.model import Model


class Circuit(Model):
    """The model of a netlist; it knows when its sources have corners."""

    netlist: Netlist

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Return the times at which a source is not smooth, within the span."""
        return tuple(
            sorted({time for each in self.netlist.of("V", "I") for time in corners(each, *self.t_span)})
        )


def model(
    netlist: str,
    *,
    name: str = "circuit",
    t_span: tuple[float, float] | None = None,
    start: Mapping[Any, float | None] = MappingProxyType({}),
    parameters: Mapping[str, float] = MappingProxyType({}),
) -> Circuit:
    r"""Return the model of a circuit.

    Parameters
    ----------
    netlist : str
        One element on each line, in SPICE's words: ``R1 in out 1k``, ``C1 out 0 1u IC=0``, ``L1 a b 1m``,
        ``V1 in 0 SIN(0 1 50)``, ``I1 0 a 1m``, ``D1 a b IS=1e-14``, ``K1 L1 L2 0.99``,
        ``X1 in+ in- out OPAMP``, ``X2 p+ p- s+ s- TRANSFORMER N=10``. Node 0 is ground.
    name : str, optional
        What the model is called.
    t_span : (float, float), optional
        Start and end of time; a line ``.tran step end`` says it as well.
    start : mapping, optional
        Start values by name. Voltages of capacitors and currents of inductors begin at their IC, or at 0
        where nothing else determines them; all others are computed.
    parameters : mapping, optional
        Other values than those in the netlist, by name of element.

    Returns
    -------
    Circuit
        A `Model` whose ``notes`` explain loops and cutsets by the names of their elements.

    Examples
    --------
    >>> import herk
    >>> low_pass = herk.circuit.model("V1 in 0 5\nR1 in out 1k\nC1 out 0 1u", t_span=(0, 0.005))
    >>> low_pass.names
    ('u_C1', 'v_in', 'v_out', 'i_C1', 'i_V1')

    """
    net = read(netlist)
    found = topology(net)
    equations = Equations(net, t)
    E, f = equations.matrices()
    states = equations.states
    if t_span is None:
        if net.t_end is None:
            raise InputError("The circuit has no span; give t_span=(start, end), or a line '.tran step end'.")
        t_span = (0.0, net.t_end)
    circuit = Circuit(
        name,
        states,
        E,
        f,
        t=t,
        parameters=equations.parameters,
        t_span=t_span,
        y0=[_initial(net, state, found.dependent) for state in states],
    )
    circuit._set(netlist=net, notes=found.sentences())
    changed = circuit.with_parameters(**parameters).with_start(start)
    assert isinstance(changed, Circuit)
    return changed


def _initial(net: Netlist, state: str, dependent: frozenset[str]) -> float | None:
    """Return the start value of a state: IC of an element, 0 where it is free, None where it follows."""
    kind, _, name = state.partition("_")
    for each in net.of("C" if kind == "u" else "L"):
        if each.name == name and kind in ("u", "i"):
            free = None if name in dependent else 0.0
            return free if each.initial is None else each.initial
    return None
