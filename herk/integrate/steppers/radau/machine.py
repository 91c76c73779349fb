"""Radau as Python sees it: the state of a run, why it ended in words, values between its points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from herk.core import Dae, Reason
from herk.core.dae import Array
from herk.integrate.callables import Bound
from herk.integrate.options import Request
from herk.integrate.steppers.radau import layout
from herk.integrate.steppers.radau.layout import Radau, RadauMethod
from herk.integrate.steppers.radau.restart import Beginning
from herk.integrate.steppers.radau.sample import further, sample
from herk.integrate.steppers.radau.slopes import slopes
from herk.integrate.steppers.radau.stepper import PROGRAM, fastest
from herk.integrate.steps import Loop
from herk.jit.native import passed
from herk.jit.state import address_of

CLOSELY = 1e-9  # part of the span: the last steps before a point at which E is singular
COUNTERS = ("nfev", "ngev", "njev", "nlu", "nit")
CAUSES = {
    layout.OK: (Reason.STEP_UNDERFLOW, "the error estimate asks for ever smaller steps"),
    layout.NO_CONVERGENCE: (Reason.NEWTON, "Newton's method does not converge, however short the step"),
    layout.SINGULAR: (
        Reason.SINGULAR,
        "the equations become singular: E and dg/dy no longer determine the derivatives",
    ),
    layout.OVERTURNED: (
        Reason.SINGULAR,
        "E becomes singular: behind it E y' = f has other solutions, or none",
    ),
    layout.BRANCH: (
        Reason.SINGULAR,
        "the constraints become singular: two of their solutions meet, or one goes to infinity",
    ),
    layout.NONFINITE: (
        Reason.NONFINITE,
        "the right-hand side or the constraints gave values that are not finite, however short the step",
    ),
    layout.OFF_CONSTRAINTS: (
        Reason.NEWTON,
        "the constraints could not be satisfied to rounding, however short the step",
    ),
}


@dataclass
class Machine:
    """A Radau stepper at work on one run."""

    dae: Dae
    method: RadauMethod
    functions: Bound
    loop: Loop
    state: Radau
    asked: Request
    kept: tuple[Any, ...] = ()  # what the addresses in the state belong to
    known: list[tuple[int, ...]] = field(default_factory=lambda: [(), (), ()])
    beginning: Beginning | None = None
    repeated: dict[Any, Array] = field(default_factory=dict)  # copies of the state, by the last step sampled

    @property
    def rtol(self) -> float:
        """Return the relative tolerance."""
        return self.asked.rtol

    @property
    def atol(self) -> Array:
        """Return the absolute tolerance of every component."""
        return self.asked.atol

    @property
    def degree(self) -> int:
        """Return the order between steps: that of the collocation polynomial."""
        return self.method.fewest

    @property
    def residual(self) -> float:
        """Return the largest |g| at accepted points."""
        return self.state.worst_residual

    def serve(self) -> None:
        """Do nothing: compiled steps ask Python for nothing."""

    def spent(self, seconds: float, worth: float) -> None:
        """Do nothing: there is one kind of code."""

    def between(self, t: Array, y: Array, slots: np.ndarray, times: Array, out: Array) -> int:
        """Write the states at times between the points y (by rows) at t; return how that ended.

        It works on a copy of the state: the run may go on meanwhile, and so may other threads. Events are
        looked for at one time after the other: a step that was repeated for the last one serves for the next.
        """
        given = passed((t, y.reshape(-1), slots, times, out.reshape(-1)))
        step = (t.size, float(t[-2]), float(t[-1]), y[-2].tobytes()) if times.size == 1 else None
        words = self.repeated.pop(step, None)
        function = sample if words is None else further
        words = self.state.elsewhere() if words is None else words
        status = int(PROGRAM[function].call(address_of(words), *given))
        self.repeated.clear()
        if step is not None and min(t[-2], t[-1]) < times[0] < max(t[-2], t[-1]):
            self.repeated[step] = words
        return status

    def slopes(self, t: Array, y: Array, out: Array) -> int:
        """Write y' at the points y (by rows) at t; return at how many it is not determined."""
        words, given = self.state.elsewhere(), passed((t, y.reshape(-1), out.reshape(-1)))
        return int(PROGRAM[slopes].call(address_of(words), *given))

    def fastest(self) -> float:
        """Return about the modulus of the fastest eigenvalue at the current point."""
        return float(PROGRAM[fastest].call(self.loop.address))

    def reason(self, status: int) -> tuple[Reason, str]:  # noqa: ARG002 - all is in the cause
        """Return in words why a run ended."""
        turns = abs(self.state.e_turns - self.loop.t) < CLOSELY * abs(self.asked.t1 - self.asked.t0)
        return CAUSES[layout.OVERTURNED if turns else self.loop.cause]

    def exhausted(self) -> str:
        """Have no advice: the method is implicit."""
        return ""

    def counts(self) -> dict[str, int]:
        """Return the counters of the run."""
        counted = self.state.numbers(COUNTERS)
        counted["nreject"] = self.loop.nreject
        return counted

    def notes(self) -> tuple[str, ...]:
        """Return what the user should know beside the result."""
        return ()

    def places(self) -> list[tuple[float, Array]]:
        """Return times and points at which the user's functions were called last."""
        state = self.state
        points = (state.stage, state.new, state.y)
        return [(t, point) for point in points for t in (state.stage_t, self.loop.t)]

    def remember(self) -> None:
        """Note how the machine is before its first step."""
        self.beginning = Beginning.of(self)

    def restart(self, asked: Request, values: Array | None) -> bool:
        """Put the machine at another start; False if all must be looked at again."""
        self.repeated.clear()
        return self.beginning is not None and self.beginning.again(self, asked, values)

    def rewind(self) -> None:
        """Put the machine back to where it was remembered."""
        assert self.beginning is not None
        self.repeated.clear()
        self.beginning.restore(self)

    def recipe(self, asked: Any) -> Any:
        """Return what makes the machine again elsewhere."""
        from herk.integrate.steppers.radau.ready import Recipe

        return Recipe.of(asked)
