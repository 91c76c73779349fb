"""One run: chunks of compiled steps, and between them output, events, callback and limits in Python."""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from herk.core import HerkError, Reason
from herk.core.dae import Array
from herk.integrate.auto import FIRST_CHUNK, LONGEST_CHUNK, Change, Choice
from herk.integrate.callables import raised_again
from herk.integrate.events import Watch
from herk.integrate.interrupts import undisturbed
from herk.integrate.loop import PROGRAM, advance
from herk.integrate.narrow import Narrow
from herk.integrate.options import Request
from herk.integrate.output import Output
from herk.integrate.renewal import better
from herk.integrate.sliding import ever_faster, slid_along, stuck
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.integrate.steppers.protocol import Stepper
from herk.integrate.steps import CONSIDER, FINISHED, NEED_PYTHON, STUCK
from herk.jit.state import address_of
from herk.model.evaluate import CallableError, call
from herk.model.several import Several

PATIENCE = 0.02  # seconds after which Python should have a look
# seconds of stepping, all runs of a model together, after which kernels with written-out sums are made
WORTH_A_KERNEL = 0.05
NEVER = 1 << 62
LOOK, CRAWL = 1024, 1e-6  # steps after which their way is looked at, and what is none, in spans per step
LOST = "the constraints become singular by how they are combined"


class Run:
    """The state of a run on the Python side: arrays shared with the loop, what is kept, how it ended."""

    output: Output  # made with the first step, if another method does not make it

    def __init__(self, request: Request, machine: Stepper, y0: Array) -> None:
        """Prepare to step."""
        self.request, self.machine, self.y0 = request, machine, y0
        self.watch = Watch(request.events) if request.events is not None else None
        self.looking = self.watch is not None or request.callback is not None
        self.choice = Choice(request, machine, request.plan) if request.plan is not None else None
        self.change: Change | None = None  # of method, with which the run ended
        values = getattr(machine.state, "parameters", None)
        self.narrow = None if request.step is not None else Narrow.of(request.dae, values)
        self.deadline = np.inf
        self.look, self.seen = LOOK, request.t0  # the step after which, and from where, the way is looked at
        self.taken = 0
        self.reason: Reason | None = None
        self.message = ""
        self._raised_at: list[tuple[float, Array]] = []
        self.interrupted: KeyboardInterrupt | None = None
        self.seconds = 0.0  # of stepping
        self.several: Several | None = None  # values that fit what the start leaves open,
        self.said: tuple[str, ...] = ()  # and what to say of it
        self.least: Array | None = None  # the consistent point next to its start, if impulses led on
        self.before: dict[str, int] = {}  # counted by a method that made no step

    def counts(self) -> dict[str, int]:
        """Return the counters of all that was done for this run."""
        counted = self.machine.counts()
        for name, count in self.before.items():
            counted[name] += count
        return counted

    @property
    def goes_on(self) -> bool:
        """Tell whether it ended so that another one goes on: with another method, or in shorter steps."""
        return self.change is not None or bool(self.stops)

    @property
    def stops(self) -> tuple[float, ...]:
        """Return where those that go on have to end: beside a narrow peak that a step led across."""
        return () if self.narrow is None or self.reason is not Reason.FINISHED else self.narrow.stops

    @property
    def declined(self) -> bool:
        """Tell whether another method makes it, from the start."""
        return self.change is not None and self.taken == 0

    def go(self) -> None:
        """Step until the end, a stop or a failure; every way out leaves the points reached so far."""
        if self.watch is not None:
            self.watch.start(self.request.t0, self.y0)
            if self.watch.ended is not None:
                self._end(Reason.EVENT, f"A terminal event occurred at t = {self.request.t0!r}.")
        if self.request.time_limit is not None:
            self.deadline = time.perf_counter() + self.request.time_limit
        compiled = self.machine.functions.compiled
        chunk = FIRST_CHUNK if compiled else 1
        if self.choice is not None and self.reason is None:
            self._change(self.choice.foreseen())
            if self.declined:
                self.before = self.machine.counts()
                return
        self.output = Output(self.request, self.machine, self.y0)
        self.machine.spent(0.0, WORTH_A_KERNEL)
        try:
            if compiled and not self.looking:
                self._chunks(chunk)
            else:
                with np.errstate(all="ignore"):
                    self._chunks(chunk)
        except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - whatever happens, the points reached are returned
            self._fail(error)

    def _chunks(self, size: int) -> None:
        while self.reason is None:
            size = self._chunk(size)

    def _chunk(self, size: int) -> int:
        """Advance by at most `size` steps, hand out what they bring; return the size of the next chunk."""
        loop, functions = self.machine.loop, self.machine.functions
        left = loop.total - loop.index if loop.fixed else size
        due = NEVER if self.choice is None else self.choice.due
        wanted, size = size, min(size, left, self.request.max_steps - self.taken, due - self.taken)
        t, y, slots = self.output.room(size)
        before = self._snapshot() if self.looking or self.narrow is not None else None
        loop.count = 0
        started = time.perf_counter()
        error: BaseException | None = None
        try:
            status = self._advance(t, y, slots)
            if functions.given:
                error, self._raised_at = functions.error, functions.places
                functions.forget()
        except (KeyboardInterrupt, Exception) as caught:  # noqa: BLE001 - the points before it are kept
            error, status = caught, STUCK
        taken, count = time.perf_counter() - started, loop.count
        quick = taken < PATIENCE
        self.seconds += taken
        self.machine.spent(taken, WORTH_A_KERNEL)
        self.taken += count
        kept = count if self.narrow is None else self.narrow.kept(self.output, count)
        kept = self._watched(t[:kept], y[:kept]) if self.looking else kept
        self.output.add(kept)
        if self.request.progress is not None:
            self.request.progress.show(self.output.last[0])
        if kept < count and before is not None:
            self._rewind(before, kept)
        if self.reason is None:
            if self.narrow is not None and self.narrow.stops:
                self._end(Reason.FINISHED, "A step led across a narrow peak.")
            elif error is not None:
                self._fail(error)
            else:
                self._judge(status)
        return min(2 * wanted, LONGEST_CHUNK) if quick else max(size // 2, 1)

    def _advance(self, t: Array, y: Array, slots: np.ndarray) -> int:
        """Let the compiled loop write its next points there."""
        call = PROGRAM[advance].call  # stretches of a track are contiguous: nothing is to be looked at
        at_t, at_y, at_slots = address_of(t), address_of(y), address_of(slots)
        return int(call(self.machine.loop.address, at_t, t.size, at_y, y.size, at_slots, slots.size))

    def _snapshot(self) -> list[tuple[Array, Array]]:
        return [(state.words, state.words.copy()) for state in (self.machine.loop, self.machine.state)]

    def _rewind(self, before: list[tuple[Array, Array]], kept: int) -> None:
        """Make the steps that count once more, so that counters and residual tell of them alone."""
        for words, old in before:
            words[:] = old
        n = self.y0.size
        self._advance(np.empty(kept), np.empty(kept * n), np.empty(kept, dtype=np.int64))

    def _watched(self, t: Array, y: Array) -> int:
        """Pass accepted points to events and callback in order; return how many count."""
        if self.watch is not None and t.size:
            cheap = self.machine.functions.compiled and not self.machine.dae.large
            cheap &= isinstance(
                self.request.method, Tableau
            )  # steps of Radau are shorter beside what they see
            inner = partial(self.output.between, t.size)
            self.watch.ahead(*self.output.ahead(t.size), inner, cheap=cheap)
        for i in range(t.size):
            try:
                stop = self._look(t[: i + 1], y[: i + 1])
            except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - of the user's functions; the points before are kept
                self._fail(error, float(t[i]))
                stop = None
            if stop is not None:
                if stop[0] == (t[i - 1] if i else self.output.last[0]):
                    return i
                t[i], y[i] = stop
            if self.reason is not None:
                return i + 1
        return t.size

    def _look(self, t: Array, y: Array) -> tuple[float, Array] | None:
        """Show the last of these points to events, callback and clock; return that of a terminal event."""
        t_new, y_new = float(t[-1]), y[-1]
        if self.watch is not None:
            t_old = float(t[-2]) if t.size > 1 else self.output.last[0]
            stop = self.watch.step(t.size - 1, *(t_old, t_new, y_new), partial(self.output.between, t.size))
            if self.watch.sunk:
                self._end(Reason.STEP_UNDERFLOW, ever_faster(t_new))
                return t_old, y_new  # the step led through
            if stop is not None:
                self._end(Reason.EVENT, f"A terminal event occurred at t = {stop[0]!r}.")
                return stop
        if self.request.callback is not None:
            answer = call("callback", self.request.callback, t_new, y_new)
            if isinstance(answer, (bool, np.bool_)) and answer:
                self._end(Reason.CALLBACK, f"The callback stopped the run at t = {t_new!r}.")
        if self.reason is None and time.perf_counter() > self.deadline:
            self._late(t_new)
        return None

    def _judge(self, status: int) -> None:
        """Say how the run ended if it did; make the selection the loop asks for."""
        if status == FINISHED:
            self._end(Reason.FINISHED, "The end of the span was reached.")
            return
        t = self.output.last[0]
        if status == NEED_PYTHON:
            with undisturbed():
                self.machine.serve()
        elif status < 0:
            self._stop(t, *self.machine.reason(status))
        elif self.taken >= self.request.max_steps:
            self._end(
                Reason.MAX_STEPS,
                f"max_steps = {self.taken} steps were made; the run reached t = {t!r} of {self.request.t1!r}."
                + self.machine.exhausted(),
            )
        if self.reason is None and time.perf_counter() > self.deadline:
            self._late(t)
        if self.reason is None and self.taken >= self.look:
            self._stop_if_lost(t)
        if self.reason is None and self.choice and (self.taken == self.choice.due or status == CONSIDER):
            change = self.choice.look(t, self.taken, limited=status == CONSIDER)
            if change is not None and status != CONSIDER and better(self) is not None:
                self._stop(t, Reason.SINGULAR, LOST)  # that is what made its steps dear
            else:
                self._change(change)

    def _change(self, change: Change | None) -> None:
        """End here if another method goes on."""
        self.change = change
        if change is not None:
            self._end(Reason.FINISHED, change.why)

    def _stop(self, t: float, reason: Reason, words: str) -> None:
        """End where the stepper does not get on."""
        loop = self.machine.loop
        tried = f"last step tried {loop.h_tried:.3g}"
        advice = "fixed steps are not shortened; use a smaller step" if loop.fixed else tried
        self._end(reason, f"The run stopped at t = {t!r}: {words} ({advice}).")

    def _stop_if_lost(self, t: float) -> None:
        """End where steps lead nowhere.

        They hop around a switch, or constraints, combined otherwise, are less singular.
        """
        asked, track = self.request, self.output.track
        pace = abs(t - self.seen) / (self.look / 2) / abs(asked.t1 - asked.t0)  # spans per step
        self.look, self.seen = 2 * self.taken, t
        event = None
        if asked.left is not None and pace * asked.max_steps < 1.0:
            event = slid_along(asked.left, track.t, track.y)
        if event is not None:
            self._end(Reason.STEP_UNDERFLOW, stuck(t, 1, event))
        elif pace < CRAWL and better(self) is not None:
            self._stop(t, Reason.SINGULAR, LOST)

    def _late(self, t: float) -> None:
        asked, reached = self.request, f"the run reached t = {t!r} of {self.request.t1!r}"
        self._end(Reason.TIME_LIMIT, f"time_limit = {asked.time_limit} s is over; {reached}.")

    def _end(self, reason: Reason, message: str) -> None:
        self.reason, self.message = reason, message

    def _fail(self, error: BaseException, t: float | None = None) -> None:
        """End the run for an interrupt, states that cannot be found between points, or a user's function."""
        t = self.output.last[0] if t is None else t
        if isinstance(error, KeyboardInterrupt):
            self.interrupted = error
            self._end(
                Reason.INTERRUPTED, f"Interrupted at t = {t!r}; the points reached so far are returned."
            )
        elif isinstance(error, MemoryError):
            self._end(
                Reason.EXCEPTION,
                f"Memory was exhausted at t = {t!r}; ask for fewer points with t_eval,"
                " or fewer components with save.",
            )
        elif isinstance(error, HerkError) and not isinstance(error, CallableError):
            self._end(Reason.NEWTON, f"After t = {t!r}: {error}")
        else:
            known = error if isinstance(error, CallableError) else raised_again(self.machine, self._raised_at)
            again = known.report() if known else self.machine.functions.outside(self._raised_at)
            again = again or f"A callable raised {type(error).__name__}: {error}."
            self._end(Reason.EXCEPTION, f"The run stopped at t = {t!r}. {again}")
