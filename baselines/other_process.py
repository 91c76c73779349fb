"""Rivals in programs of their own: one process for a whole sweep of tolerances, asked line by line.

A program says END when it is ready, reads one line of numbers for each solve and answers with lines, the last
of them END. It measures
its own time around the call of its solver; its start and the way to and fro do not count. A program that
dies, hangs or talks nonsense costs one run: it is ended, and the next request starts it anew.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from baselines.adapter import Points, TimeUpError, Watch, tolerances
from baselines.formulas import FromFormulas
from baselines.prepared import Implicit
from baselines.segments import solve_segments
from herk.core import Reason, Settings, Solution
from herk.core.dae import Array

END = "end of answer"
OWN_CLOCK = "own_clock"  # the tag of solvers whose Solution.seconds is their time
START_LIMIT = 60.0  # seconds until a program must have said that it is ready
SOME_WORDS = 300  # characters of what a program complains that are shown
_MOST_PROGRAMS = 2  # processes kept at a time


class ProgramError(Exception):
    """A program ended or answered with something else than was agreed."""


@dataclass(frozen=True)
class Program:
    """A command and the files it needs; `build` are commands run once, in the folder of the files."""

    command: tuple[str, ...]
    files: Mapping[str, str]
    build: tuple[tuple[str, ...], ...] = ()

    @property
    def key(self) -> str:
        """Return what tells programs apart."""
        return repr((self.command, sorted(self.files.items()), self.build))


class Session:
    """A running program."""

    def __init__(self, program: Program) -> None:
        """Write the files, build, start."""
        self.folder = Path(tempfile.mkdtemp(prefix="herk_rival_"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        # A program that is killed leaves its temporary files behind: they go with the folder.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "LC_ALL": "C", "TMPDIR": str(self.folder)}
        for name, text in program.files.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        for command in program.build:
            done = subprocess.run(  # noqa: S603
                command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise ProgramError(f"{' '.join(command)} failed: {done.stderr[-SOME_WORDS:]}")
        self._complaints = (self.folder / "stderr").open("w+b")
        self._process = subprocess.Popen(  # noqa: S603
            program.command, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._complaints, env=environment, bufsize=0,
        )  # fmt: skip
        weakref.finalize(self, _end, self._process)
        self._answer(START_LIMIT)

    @property
    def pid(self) -> int:
        """Return the number of the process."""
        return self._process.pid

    def close(self) -> None:
        """End the program."""
        _end(self._process)
        self._complaints.close()

    def ask(self, line: str, limit: float | None) -> list[str]:
        """Return the lines of the answer; raise ProgramError or TimeUpError."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{line}\n".encode())
        except OSError:
            raise ProgramError(self._last_words()) from None
        return self._answer(limit)

    def _answer(self, limit: float | None) -> list[str]:
        assert self._process.stdout is not None
        until, got = np.inf if limit is None else time.perf_counter() + limit, bytearray()
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._process.stdout, selectors.EVENT_READ)
            while not got.endswith(f"\n{END}\n".encode()):
                left = until - time.perf_counter()
                if left <= 0 or not waiting.select(None if left == np.inf else left):
                    raise TimeUpError(f"The time limit of {limit:g} s was reached.")
                more = os.read(self._process.stdout.fileno(), 1 << 16)
                if not more:
                    raise ProgramError(self._last_words())
                got += more
        return got.decode(errors="replace").splitlines()[:-1]

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2.0)
        code = self._process.returncode
        how = f"by signal {signal.Signals(-code).name}" if code and code < 0 else f"with exit code {code}"
        self._complaints.seek(0)
        said = self._complaints.read()[-SOME_WORDS:].decode(errors="replace").strip()
        return f"The program ended {how}" + (f": {said}" if said else ".")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


_sessions: OrderedDict[str, Session] = OrderedDict()


def session_of(program: Program) -> Session:
    """Return the running program, started if it is not."""
    if program.key not in _sessions:
        while len(_sessions) >= _MOST_PROGRAMS:
            _sessions.popitem(last=False)[1].close()
        _sessions[program.key] = Session(program)
    return _sessions[program.key]


def forget(program: Program) -> None:
    """End the program; the next request starts it anew."""
    if program.key in _sessions:
        _sessions.pop(program.key).close()


def ask(program: Program, line: str, limit: float | None) -> list[str]:
    """Return the answer; a program that fails to give one is ended."""
    try:
        return session_of(program).ask(line, limit)
    except BaseException:
        forget(program)
        raise


@dataclass(frozen=True, eq=False)
class Outside(Implicit):
    """A form with the program that solves it; its unknown i is the unknown order[i] of the form."""

    program: Program = field(kw_only=True)
    order: tuple[int, ...] = field(kw_only=True)


def outside(base: Implicit, program: Program, order: Sequence[int] | None = None) -> Outside:
    """Return the form with its program, which is started here: building and starting are not timed."""
    session_of(program)
    there = tuple(range(base.form.n) if order is None else order)
    return Outside.from_other(base, program=program, order=there)


@dataclass(frozen=True)
class OtherProcess(FromFormulas):
    """A rival in a program of its own: `prepare` writes the program, which is asked here."""

    def solve(self, prepared: Outside, settings: Settings) -> Solution:
        """Solve segment by segment; the seconds of all segments are added up."""
        spent: list[float] = []

        def segment(part: Any, asked: Settings) -> Solution:
            solution = self._solve(part, asked)
            spent.append(solution.seconds or 0.0)
            return solution

        return replace(solve_segments(segment, prepared, settings), seconds=sum(spent))

    def integrate(self, prepared: Outside, settings: Settings, watch: Watch, points: Points) -> None:
        """Ask the program."""
        t0, t1 = prepared.t_span
        times = np.array([t0, t1] if settings.t_eval is None else settings.t_eval, dtype=float)
        wanted = np.unique([t0, *times, t1]) if t1 > t0 else -np.unique(-np.array([t0, *times, t1]))
        order = list(prepared.order)
        atol, (z, zp) = tolerances(prepared, settings.atol), prepared.start
        numbers = [settings.rtol, *atol[order], *z[order], *zp[order], len(wanted), *wanted]
        try:
            lines = ask(prepared.program, " ".join(f"{value:.17g}" for value in numbers), settings.time_limit)
            answer = Answer.read(lines, len(order))
        except ProgramError as error:
            points.stop(Reason.CRASHED, str(error))
            return
        points.seconds, points.nstep, watch.nfev, watch.njev = answer.seconds, *answer.counts
        if answer.complaint:
            points.stop(_reason(answer.complaint), answer.complaint)
        values = np.empty_like(answer.z)
        values[:, order] = answer.z
        for t, row in zip(answer.t, values, strict=True):
            if (settings.t_eval is None and t != t0) or (settings.t_eval is not None and t in times):
                points.add(t, row)


@dataclass(frozen=True)
class Answer:
    """What a program says: its seconds, (steps, evaluations, Jacobians), a complaint or none, and points."""

    seconds: float
    counts: tuple[int, int, int]
    complaint: str
    t: Array
    z: Array

    @staticmethod
    def read(lines: Sequence[str], n: int) -> Answer:
        """Return the answer in these lines; what comes before the word `seconds` is not part of it."""
        words = [line.split(" ", 1) for line in lines]
        found = {word[0]: word[-1] for word in words if word[0] in ("seconds", "counts", "complaint")}
        try:
            rows = [np.array(word[1].split(), dtype=float) for word in words if word[0] == "point"]
            steps, evaluations, jacobians = (int(float(text)) for text in found["counts"].split())
            table = np.array(rows).reshape(len(rows), n + 1)
            seconds, complaint = float(found["seconds"]), found.get("complaint", "")
        except (KeyError, ValueError, IndexError) as error:
            raise ProgramError(f"The program answered something else than agreed: {error!r}.") from None
        counts = (steps, evaluations, jacobians)
        return Answer(seconds, counts, complaint, table[:, 0], table[:, 1:])


def _reason(complaint: str) -> Reason:
    known = {
        "step size": Reason.STEP_UNDERFLOW,
        "steps": Reason.MAX_STEPS,
        "work": Reason.MAX_STEPS,
        "singular": Reason.SINGULAR,
        "converge": Reason.NEWTON,
        "conv_fail": Reason.NEWTON,
        "err_fail": Reason.STEP_UNDERFLOW,
    }
    return next((reason for words, reason in known.items() if words in complaint.lower()), Reason.EXCEPTION)


def missing(command: str, install: str) -> tuple[bool, str]:
    """Tell whether a command is there, and if not, how to get it."""
    there = shutil.which(command) is not None
    return there, "" if there else f"there is no {command} here; {install}"
