"""One member from its seed to a verdict: make it, solve it in four ways, judge it."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from tests.fuzz.families import FAMILIES
from tests.fuzz.judge import Answer, Outcome, Verdict, judge, times_to_judge
from tests.fuzz.member import Array, JudgeError, Member, sparse_code
from tests.fuzz.parameters import other_values
from tests.fuzz.passing import level

MAX_STEPS = 200_000
NONE = np.zeros(0)
OTHER = {"auto": "dopri5", "dopri5": "radau5", "dop853": "radau5"}  # the method of a run made again


def answers(member: Member) -> list[Answer]:
    """Solve with dense output and an event, at output times, without putting values on g = 0.

    Last with a used machine.
    """
    import herk

    times = times_to_judge(member)
    settings: dict[str, Any] = {
        "method": member.method,
        "rtol": member.rtol,
        "atol": member.atol,
        "max_steps": MAX_STEPS,
    }
    if member.breakpoints:
        settings["breakpoints"] = member.breakpoints
    system = member.system()
    if member.parameters and not member.called:  # the right values are given to the run alone
        system, settings["parameters"] = member.system(other_values(member)), dict(member.parameters)
    event = level(member)
    watched: dict[str, Any] = {"events": [event]} if event else {}
    free = herk.solve_dae(*system, dense_output=True, **settings, **watched)
    reached = float(free.t[-1])
    inside = times[np.abs(times - member.t_span[0]) <= abs(reached - member.t_span[0])]
    points = {"accepted": (free.t, free.y), "dense": (inside, free(inside))}
    found = [replace(_answer(free, points, reached), event=event, noted=free.t_events[0] if event else NONE)]
    for channel, options in (("t_eval", {}), ("unprojected", {"project_output": False})):
        sol = herk.solve_dae(*system, t_eval=times, **settings, **options)
        found.append(_answer(sol, {channel: (sol.t, sol.y)}, None))
    sol = again(member, system, times, settings)
    return [*found, _answer(sol, {"again": (sol.t, sol.y)}, None)]


def again(member: Member, system: tuple[Any, ...], times: Array, settings: dict[str, Any]) -> Any:
    """Return a run with a machine that made others before: from a later point, and with other values."""
    import herk

    settings = settings | {"method": OTHER.get(member.method, "auto"), "t_eval": times}
    prepared = herk.prepare(*system, **settings)
    t0, t1 = member.t_span
    halfway = t0 + 0.5 * ((t1 if member.ends_at is None else member.ends_at) - t0)
    later = {"t_span": (halfway, t1), "y0": member.truth(np.array([halfway]))[:, 0], "t_eval": [t1]}
    others = [{"parameters": other_values(member)}] if member.parameters and not member.called else []
    for changes in (later, *others):
        with contextlib.suppress(herk.HerkError):  # off the constraints, or in a singular place: all the same
            prepared.solve(**changes)
    return prepared.solve()


def _answer(sol: Any, points: dict[str, Any], reached: float | None) -> Answer:
    return Answer(
        bool(sol.success), str(sol.reason), points, reached, sol.message, tuple(getattr(sol, "notes", ()))
    )


def examine(
    family: str, seed: int, solve: Callable[[Member], list[Answer]] = answers
) -> tuple[Verdict, str, str]:
    """Return verdict, kind and the script of a member; nothing is raised."""
    import herk

    try:
        member = FAMILIES[family](seed)
    except JudgeError as error:
        return Verdict(Outcome.UNDECIDED, str(error)), "", ""
    try:
        with sparse_code() if member.sparse else contextlib.nullcontext():
            verdict = judge(member, solve(member))
    except herk.HerkError as error:
        verdict = Verdict(Outcome.REFUSED, f"{type(error).__name__}: {error}")
    except JudgeError as error:
        verdict = Verdict(Outcome.UNDECIDED, str(error))
    except Exception as error:  # noqa: BLE001  a fuzzer reports whatever is raised
        where = traceback.extract_tb(error.__traceback__)[-1]
        verdict = Verdict(
            Outcome.CRASH,
            f"{type(error).__name__}: {error} ({where.filename.rsplit('/', 1)[-1]}:{where.lineno})",
        )
    script = member.script(verdict.t, verdict.channel) if verdict.outcome.fault else ""
    return verdict, member.kind, script


def record(task: tuple[str, int]) -> dict[str, Any]:
    """Return the verdict on (family, seed) as plain data, for another process."""
    verdict, kind, script = examine(*task)
    return {"family": task[0], "seed": task[1], "kind": kind, "script": script} | asdict(verdict)
