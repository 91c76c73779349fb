"""Shared vocabulary: what a DAE, a problem, a solver and a solution are. No numerics, no I/O."""

from herk.core.dae import Dae, Generated, StageSource
from herk.core.errors import HerkError, InputError, nearest
from herk.core.problem import Invariant, Problem, Reference, Switches
from herk.core.reason import Reason, Status
from herk.core.registry import Registry
from herk.core.solution import MethodUse, Solution, Stats
from herk.core.solver import Settings, Solver

__all__ = [
    "Dae",
    "Generated",
    "HerkError",
    "InputError",
    "Invariant",
    "MethodUse",
    "Problem",
    "Reason",
    "Reference",
    "Registry",
    "Settings",
    "Solution",
    "Solver",
    "StageSource",
    "Stats",
    "Status",
    "Switches",
    "nearest",
]
