"""Circuits: a netlist in SPICE's words becomes a model by modified nodal analysis."""

from herk.circuit.circuit import Circuit, model
from herk.circuit.netlist import read

__all__ = ["Circuit", "model", "read"]
