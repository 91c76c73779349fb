"""HERKosiDAE 1.0 as published.

Half-explicit Runge-Kutta methods with the parameters and the rules of the program of 2017.
"""

from herk.thesis.outcome import NewtonAbort, Outcome, ThesisError, ThesisWarning
from herk.thesis.program import herkosidae, integrate
from herk.thesis.settings import METHODS, Settings

__all__ = [
    "METHODS",
    "NewtonAbort",
    "Outcome",
    "Settings",
    "ThesisError",
    "ThesisWarning",
    "herkosidae",
    "integrate",
]
