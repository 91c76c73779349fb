"""What a stepper offers: three compiled functions for the loop, and answers for Python.

The compiled functions, `begin(loop)`, `try_step(loop)` and `accept(loop)`, stand by address in the state of
the loop, beside the address of the stepper's own state. `try_step` makes a step of length `loop.h_tried` and
writes its error in units of the tolerance to `loop.error`; see `herk.integrate.steps` for what it may answer.
A stepper with a controller of its own writes the next step to `loop.proposed`, after failures too.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from herk.core import Dae, Reason
from herk.core.dae import Array
from herk.integrate.callables import Bound
from herk.integrate.steps import Loop


class Stepper(Protocol):
    """A method at work on one run."""

    dae: Dae
    functions: Bound
    loop: Loop
    state: Any  # its own state
    known: list[tuple[int, ...]]  # what the slots of points stand for

    @property
    def rtol(self) -> float:
        """Return the relative tolerance."""

    @property
    def atol(self) -> Array:
        """Return the absolute tolerance of every component."""

    @property
    def degree(self) -> int:
        """Return the order between steps."""

    @property
    def residual(self) -> float:
        """Return the largest |g| at accepted points."""

    def serve(self) -> None:
        """Do what the compiled steps asked Python for."""

    def spent(self, seconds: float, worth: float) -> None:
        """Note the time of compiled steps; quicker code may pay."""

    def between(self, t: Array, y: Array, slots: np.ndarray, times: Array, out: Array) -> int:
        """Write the states at times between accepted points; return how that ended."""

    def reason(self, status: int) -> tuple[Reason, str]:
        """Return in words why a run ended."""

    def exhausted(self) -> str:
        """Return what to do where steps were too many, as a sentence; nothing if that is not known."""

    def counts(self) -> dict[str, int]:
        """Return the counters of the run."""

    def notes(self) -> tuple[str, ...]:
        """Return what the user should know beside the result."""

    def places(self) -> list[tuple[float, Array]]:
        """Return times and points at which the user's functions were called last."""

    def remember(self) -> None:
        """Note how the stepper is before its first step."""

    def restart(self, asked: Any, values: Array | None) -> bool:
        """Put the stepper at another start, with other values; False if all must be checked anew."""

    def rewind(self) -> None:
        """Put the stepper back to where it was remembered."""

    def recipe(self, asked: Any) -> Any:
        """Return what makes the stepper again in another process: an object with `machine(y)`."""
