"""One run: chunks of compiled steps, and between them output, events, callback and limits in Python."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, field

import numpy as np

from herk.core import Reason
from herk.core.dae import Array
from herk.method import drive
from herk.method import memory as at
from herk.method.callables import NAMES, CallableError, probe
from herk.method.dense import DenseOutput
from herk.method.events import Watch
from herk.method.machine import Machine
from herk.method.options import Request
from herk.core.jit import quiet

LONGEST_CHUNK, PATIENCE = 8192, 0.02  # steps; seconds after which a chunk should come back to Python

CAUSES = {
    at.OK: (Reason.STEP_UNDERFLOW, "the error estimate asks for ever smaller steps"),
    at.NO_CONVERGENCE: (Reason.NEWTON, "the constraints could not be solved for the algebraic components, however short the step"),
    at.SINGULAR: (Reason.SINGULAR, "E y' = f could not be solved for the derivatives"),
    at.E_CHANGED: (Reason.SINGULAR, "E changed its structure and its derivatives are no longer determined"),
    at.NONFINITE: (Reason.NONFINITE, "the right-hand side or the constraints gave values that are not finite, however short the step"),
}


@dataclass
class Run:
    """The state of a run on the Python side: points kept, output wanted, how it ended."""

    request: Request
    machine: Machine
    y0: Array
    t: list[Array] = field(default_factory=list)
    y: list[Array] = field(default_factory=list)
    slots: list[np.ndarray] = field(default_factory=list)
    selections: list[tuple[float, tuple[int, ...]]] = field(default_factory=list)
    reason: Reason | None = None
    message: str = ""

    def __post_init__(self) -> None:
        """Prepare the arrays shared with the compiled loop, and the output."""
        request, n, m = self.request, self.machine.dae.n, self.machine.dae.m
        self.run = np.zeros(drive.RUN_SCALARS + n + m + 1)
        self.plan = np.zeros(drive.PLAN_SCALARS + n + m, dtype=np.int64)
        self._fill()
        self.watch = Watch(request.events) if request.events is not None else None
        self.last = (request.t0, self.y0)
        self.wanted = 0  # how many of t_eval are done
        self.taken = 0
        keep = request.t_eval is None or request.t_eval[0] == request.t0
        self._keep(np.array([request.t0]), self.y0[None, :], np.zeros(1, dtype=np.int64)) if keep else None
        self.wanted = int(keep and request.t_eval is not None)
        self.points: list[tuple[Array, Array, np.ndarray]] = [(np.array([request.t0]), self.y0[None, :], np.zeros(1, dtype=np.int64))]
        del m

    def _fill(self) -> None:
        request, run, plan = self.request, self.run, self.plan
        n, memory, tableau = self.machine.dae.n, self.machine.memory, request.tableau
        span = request.t1 - request.t0
        run[[drive.T, drive.T_START, drive.T_END]] = request.t0, request.t0, request.t1
        run[[drive.H_MAX, drive.RTOL, drive.OLD_ERROR]] = request.max_step, request.rtol, 1e-4
        run[drive.EXPONENT] = 1.0 / (tableau.error_order + 1)
        run[drive.RUN_SCALARS : drive.RUN_SCALARS + n] = request.atol
        if request.step is not None:
            plan[drive.FIXED] = 1
            plan[drive.TOTAL] = max(1, int(np.ceil(abs(span) / request.step * (1 - 1e-9))))
            run[drive.H] = np.copysign(request.step, span)
        elif request.first_step is not None:
            run[drive.H] = np.copysign(min(request.first_step, abs(span)), span)
        run[drive.THRESHOLD] = self.machine.threshold
        plan[drive.PENDING] = 1
        plan[drive.ALWAYS] = request.selection == "complete" and self.machine.dae.m > 0
        plan[drive.PLAN_SCALARS : drive.PLAN_SCALARS + n] = self.machine.cost
        # Inside a step the algebraic components need only be exact enough not to disturb the error estimate; Newton converges
        # quadratically in generated code, so corrections of this relative size leave errors of about their square.
        tight = 1e-9 if self.machine.generate else 1e-14
        loose = max(tight, min(1e-4, (1e-3 * request.rtol) ** 0.5)) if self.machine.generate else max(tight, 1e-3 * request.rtol)
        memory.floats[at.TIGHT] = tight
        memory.floats[at.TOLERANCE] = tight if request.step is not None else loose
        memory.ints[at.FULL_NEWTON] = request.newton == "full"
        memory.view(at.Y, n)[:] = self.y0
        memory.view(at.FLOOR, n)[:] = request.atol / request.rtol

    def go(self) -> None:
        """Step until the end, a stop or a failure; every way out leaves the points reached so far."""
        deadline = None if self.request.time_limit is None else time.perf_counter() + self.request.time_limit
        chunk = 64 if self.machine.functions.compiled else 1
        try:
            if self.watch:
                self.watch.start(self.request.t0, self.y0)
            with quiet(), np.errstate(all="ignore"):
                while self.reason is None:
                    chunk = self._chunk(chunk, deadline)
        except KeyboardInterrupt:
            self._end(Reason.INTERRUPTED, f"Interrupted at t = {self.last[0]!r}; the points reached so far are returned.")
        except CallableError as error:
            self._end(Reason.EXCEPTION, str(error))

    def _chunk(self, size: int, deadline: float | None) -> int:
        """Advance by at most `size` steps, hand out what they bring, and return the size of the next chunk."""
        size = min(size, self.request.max_steps - self.taken)
        n, plan = self.machine.dae.n, self.plan
        t, y, slots = np.empty(size), np.empty((size, n)), np.empty(size, dtype=np.int64)
        plan[drive.KNOWN] = len(self.machine.known)
        started = time.perf_counter()
        error: Exception | None = None
        try:
            memory = self.machine.memory
            status = self.machine.advance(
                memory.floats, memory.ints, self.run, plan, self.machine.table, t, y, slots
            )  # fmt: skip
        except Exception as caught:  # noqa: BLE001 - a user's function may raise anything; the points before it are kept
            error, status = caught, drive.STUCK
        now, count = time.perf_counter(), int(plan[drive.COUNT])
        self.taken += count
        self._hand_out(t[:count], y[:count], slots[:count])
        if self.reason is None:
            if error is not None:
                self._end(Reason.EXCEPTION, self._explain(error))
            else:
                self._judge(status, deadline, now)
        return min(2 * size, LONGEST_CHUNK) if now - started < PATIENCE else max(size // 2, 1)

    def _judge(self, status: int, deadline: float | None, now: float) -> None:
        t = self.last[0]
        if status == drive.FINISHED:
            self._end(Reason.FINISHED, "The end of the span was reached.")
        elif status == drive.NEED_SELECTION:
            n, m = self.machine.dae.n, self.machine.dae.m
            self.machine.slot(self.plan[drive.PLAN_SCALARS + n : drive.PLAN_SCALARS + n + m])
        elif status == drive.RANK_LOST:
            self._end(Reason.SINGULAR, f"At t = {t!r} dg/dy lost rank: the constraints no longer determine {self.machine.dae.m} components.")
        elif status < 0:
            reason, words = CAUSES[int(self.plan[drive.CAUSE])]
            advice = "fixed steps are not shortened; use a smaller step" if self.plan[drive.FIXED] else f"last step tried {self.run[drive.H_TRIED]:.3g}"
            self._end(reason, f"The run stopped at t = {t!r}: {words} ({advice}).")
        elif self.taken >= self.request.max_steps:
            self._end(Reason.MAX_STEPS, f"max_steps = {self.request.max_steps} steps were made; t = {t!r} of {self.request.t1!r} is reached.")
        elif deadline is not None and now > deadline:
            self._end(Reason.TIME_LIMIT, f"time_limit = {self.request.time_limit} s is over; t = {t!r} of {self.request.t1!r} is reached.")

    def _end(self, reason: Reason, message: str) -> None:
        self.reason, self.message = reason, message

    def _hand_out(self, t: Array, y: Array, slots: np.ndarray) -> None:
        """Pass accepted points to events and callback in order, cut off behind a stop, and keep what was asked for."""
        if not t.size:
            return
        self._note_selections(t, slots)
        t, y, slots = self._stops(t, y, slots)
        before = self.last
        self.last = (float(t[-1]), y[-1])
        if self.request.dense_output or self.request.t_eval is None:
            self.points.append((t, y, slots))
        if self.request.t_eval is None:
            self._keep(t, y, slots)
            return
        times, forward = self.request.t_eval, self.request.t1 > self.request.t0
        reached = times <= t[-1] if forward else times >= t[-1]
        upto = int(np.count_nonzero(reached))
        if upto > self.wanted:
            dense = self._dense(np.concatenate([[before[0]], t]), np.vstack([before[1], y]), np.concatenate([[slots[0]], slots]))
            self._keep(times[self.wanted : upto], dense.rows(times[self.wanted : upto]), slots[:0])
            self.wanted = upto

    def _stops(self, t: Array, y: Array, slots: np.ndarray) -> tuple[Array, Array, np.ndarray]:
        if self.watch is None and self.request.callback is None:
            return t, y, slots
        before = self.last
        for i in range(t.size):
            if self.watch is not None:
                dense = self._dense(np.array([before[0], t[i]]), np.vstack([before[1], y[i]]), slots[[i, i]])
                stop = self.watch.step(dense)
                if stop is not None:
                    self._end(Reason.EVENT, f"A terminal event occurred at t = {stop[0]!r}.")
                    return np.append(t[:i], stop[0]), np.vstack([y[:i], stop[1]]), slots[: i + 1]
            if self.request.callback is not None and self.request.callback(float(t[i]), y[i].copy()) is True:
                self._end(Reason.CALLBACK, f"The callback stopped the run at t = {float(t[i])!r}.")
                return t[: i + 1], y[: i + 1], slots[: i + 1]
            before = (float(t[i]), y[i])
        return t, y, slots

    def _dense(self, t: Array, y: Array, slots: np.ndarray) -> DenseOutput:
        return DenseOutput.over(self.machine, t, y, slots)

    def _note_selections(self, t: Array, slots: np.ndarray) -> None:
        changes = np.flatnonzero(np.diff(slots, prepend=-1))
        for i in changes:
            chosen = self.machine.known[slots[i]]
            if not self.selections or self.selections[-1][1] != chosen:
                self.selections.append((float(t[i - 1]) if i else self.last[0], chosen))

    def _keep(self, t: Array, y: Array, slots: np.ndarray) -> None:
        self.t.append(t)
        self.y.append(y)
        self.slots.append(slots)

    def dense(self) -> DenseOutput:
        """Return the dense output over all accepted points."""
        t, y, slots = (np.concatenate(parts) for parts in zip(*self.points, strict=True))
        return self._dense(t, y, slots)

    def _explain(self, error: Exception) -> str:
        """Say which of the user's functions raised, where, with its own traceback if it can be made to raise again in plain Python."""
        if isinstance(error, CallableError):
            return str(error)
        dae, memory = self.machine.dae, self.machine.memory
        shapes = {"E": (dae.n, dae.n), "f": (dae.n,), "g": (dae.m,), "jac_g": (dae.m, dae.n), "g_t": (dae.m,)}
        for block in (at.STAGE, at.NEW, at.Y):
            y, t = memory.view(block, dae.n).copy(), float(memory.floats[at.STAGE_T])
            for name in NAMES:
                function = getattr(dae, name)
                if callable(function):
                    try:
                        probe(name, getattr(function, "py_func", function), t, y, shapes[name])
                    except CallableError as found:
                        lines = traceback.format_exception(found.__cause__) if found.__cause__ else []
                        return f"{found}\n{''.join(lines)}".rstrip()
                    except Exception:  # noqa: BLE001, S112 - not the function that raised
                        continue
        return f"A callable raised {type(error).__name__}: {error}, after t = {self.last[0]!r}."
