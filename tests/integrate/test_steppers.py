"""The loop knows no method: a stepper of a few lines gets error control, output, events and limits from it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

import herk
from herk.core import Reason
from herk.integrate.callables import Bound, bound
from herk.integrate.options import fill, request
from herk.integrate.prepared import OPTIONS
from herk.integrate.run import Run
from herk.integrate.start import solution_of
from herk.integrate.steps import RUNNING, Loop
from herk.jit.by_address import by_address
from herk.jit.program import Program
from herk.jit.state import Floats, State

function_at = by_address("None(float, Floats, Floats, Floats)")


class Midpoint(State):
    """The explicit midpoint rule with Euler's as its estimate."""

    at_f: int
    nfev: int
    y: Floats
    middle: Floats
    slope: Floats
    other: Floats
    none: Floats


def begin(loop: Loop) -> int:
    if loop.h == 0.0:
        loop.h = 1e-3 * (loop.t_end - loop.t)
    return RUNNING


def try_step(loop: Loop) -> int:
    own = Midpoint.at(loop.own)
    y, middle, slope, other, h, worst = own.y, own.middle, own.slope, own.other, loop.h_tried, 0.0
    function_at(own.at_f)(loop.t, y, own.none, slope)
    for i in range(loop.n):
        middle[i] = y[i] + 0.5 * h * slope[i]
    function_at(own.at_f)(loop.t + 0.5 * h, middle, own.none, other)
    own.nfev += 2
    for i in range(loop.n):
        worst = max(worst, abs(h * (other[i] - slope[i])) / (loop.atol[i] + loop.rtol * abs(y[i])))
        middle[i] = y[i] + h * other[i]
    loop.error = worst
    return 0


def accept(loop: Loop) -> int:
    own = Midpoint.at(loop.own)
    for i in range(loop.n):
        own.y[i] = own.middle[i]
    return RUNNING


PROGRAM = Program(begin, try_step, accept)


@dataclass
class Stepper:
    dae: herk.Dae
    loop: Loop
    state: Midpoint
    functions: Bound
    rtol: float
    atol: np.ndarray
    known: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    degree: int = 2
    residual: float = 0.0

    def between(self, t, y, slots, times, out) -> int:
        for k in range(self.dae.n):
            out[:, k] = np.interp(times, t, y[:, k])
        return 0

    def reason(self, status):
        return Reason.STEP_UNDERFLOW, "the steps became too short"

    def exhausted(self):
        return ""

    def counts(self):
        return {"nfev": self.state.nfev, "nreject": self.loop.nreject}

    def notes(self):
        return ()

    def places(self):
        return []

    def serve(self) -> None:
        raise AssertionError

    def spent(self, seconds, worth) -> None:
        pass


def solve(f, t_span, y0, **options) -> herk.Solution:
    dae = herk.Dae(E=np.eye(len(y0)), f=f, n=len(y0))
    asked = request(dae, t_span, y0, "dopri5", OPTIONS | options, {})
    n, functions = len(y0), bound(dae)
    state, loop = Midpoint(y=n, middle=n, slope=n, other=n, none=1), Loop(atol=n)
    state.at_f, state.y[:] = functions.natives[1].entry, y0
    loop.n, loop.exponent, loop.own = n, 0.5, state.address
    loop.bind("y", state.y)
    loop.begin, loop.try_step, loop.accept = (PROGRAM[f].address for f in (begin, try_step, accept))
    fill(asked, loop)
    run = Run(asked, Stepper(dae, loop, state, functions, asked.rtol, asked.atol), np.array(y0, dtype=float))
    run.go()
    return solution_of(run)


def turning(t, y):
    return np.array([y[1], -y[0]])


def test_a_stepper_of_its_own_gets_error_control_from_the_loop() -> None:
    errors = []
    for tolerance in (1e-4, 1e-6):
        sol = solve(turning, (0.0, 1.0), [0.0, 1.0], rtol=tolerance, atol=tolerance)
        assert sol.success
        errors.append(abs(sol.y[0, -1] - np.sin(1.0)))
    assert errors[1] < 1e-5
    assert errors[1] < 0.1 * errors[0]


def test_a_stepper_of_its_own_has_the_order_of_its_method_with_fixed_steps() -> None:
    errors = [
        abs(solve(turning, (0.0, 1.0), [0.0, 1.0], step=1.0 / n).y[0, -1] - np.sin(1.0)) for n in (20, 40, 80)
    ]
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([2.0, 2.0], abs=0.1)


def test_events_limits_and_output_belong_to_the_loop() -> None:
    def crossing(t, y):
        return y[0] - 0.5

    crossing.terminal = True
    sol = solve(turning, (0.0, 3.0), [0.0, 1.0], events=crossing, max_step=1e-3, rtol=1e-8, atol=1e-8)
    assert sol.reason is Reason.EVENT
    assert sol.t[-1] == pytest.approx(np.pi / 6, abs=1e-6)
    assert solve(turning, (0.0, 3.0), [0.0, 1.0], max_steps=5).reason is Reason.MAX_STEPS
    sampled = solve(turning, (0.0, 1.0), [0.0, 1.0], t_eval=[0.25, 0.5, 1.0], max_step=1e-3)
    assert sampled.y[0] == pytest.approx(np.sin([0.25, 0.5, 1.0]), abs=1e-4)


def test_the_functions_of_a_stepper_are_plain_python_too() -> None:
    loop = Loop(atol=1)
    loop.t_end = 2.0
    assert begin(loop) == RUNNING
    assert loop.h == 2e-3
