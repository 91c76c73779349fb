"""HERKosiDAE 1.0 as published.

Half-explicit Runge-Kutta methods with the parameters and the rules of the program of 2017.
"""

from herk.thesis.program import (
    METHODS,
    NewtonAbort,
    Outcome,
    Settings,
    ThesisError,
    ThesisWarning,
    herkosidae,
    integrate,
)

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
