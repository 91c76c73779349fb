"""What a run is worth: its values against the truth, its end against the end of the solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from tests.fuzz.member import Array, Member
from tests.fuzz.passing import Level, fault

TIMES_TOLERANCE = 1e3  # an error up to this many tolerances is forgiven ...
RELATIVE = 1e-5  # ... and so is this much of the size of an unknown
LATE = 10.0  # times as late as a switch is usually located: a value of its other side is forgiven as well
ORDINARY = 30.0  # errors that grow by this much, in dozens of steps, are in what is forgiven
TIME_OF_END = 0.01  # the end of a solution is to be found to this share of the time up to it
HONEST_REASONS = frozenset({"newton", "step_underflow", "nonfinite", "singular"})
CRASHES = frozenset({"exception", "crashed"})


class Outcome(StrEnum):
    """Classes of outcomes, the worst first."""

    HANG = "hang"
    CRASH = "crash"
    WRONG_SUCCESS = "wrong success"
    WRONG_FAILURE = (
        "wrong failure"  # wrong points before the end, or points past it, or a reason that does not fit
    )
    REFUSED = "refused"  # a right model is turned down, or its run ends too early
    SILENT = "no note"  # right through a singular configuration, but nothing says so
    UNDECIDED = "undecided"  # the judges differ
    HONEST = "honest failure"
    RIGHT = "right"

    @property
    def fault(self) -> bool:
        """Tell whether this is a fault of the solver."""
        return self not in (Outcome.RIGHT, Outcome.HONEST, Outcome.UNDECIDED)


@dataclass(frozen=True)
class Verdict:
    """An outcome, what was seen, and where."""

    outcome: Outcome
    detail: str = ""
    t: float | None = None
    channel: str = ""


@dataclass(frozen=True)
class Answer:
    """One run as the judge sees it; t_reached is None for runs whose last point is a time asked for."""

    success: bool
    reason: str
    points: Mapping[str, tuple[Array, Array]]  # channel -> times, values n x times
    t_reached: float | None = None
    message: str = ""
    notes: Sequence[str] = field(default_factory=tuple)
    event: Level | None = None  # what was looked for on the way,
    noted: Array = field(default_factory=lambda: np.zeros(0))  # and when it was found


def times_to_judge(member: Member) -> Array:
    """Return jittered output times, denser around corners, in the direction of integration."""
    t0, t1 = member.t_span
    span, rng = t1 - t0, np.random.default_rng(member.seed)
    share = (np.arange(300) + rng.uniform(0.1, 0.9, 300)) / 300
    near = np.array(
        [(corner - t0) / span + 1e-3 * k for corner in member.corners for k in (-2, -1, -0.4, 0.3, 0.9, 2.1)]
    )
    share = np.unique(np.concatenate([[0.0], share, near[(near > 0) & (near < 1)], [1.0]]))
    times = t0 + span * share
    times[-1] = t1
    apart = np.concatenate([[True], np.diff(times) * np.sign(span) > 0])  # rounding may have joined two
    return times[apart]


def judge(member: Member, answers: Sequence[Answer]) -> Verdict:
    """Return the worst verdict on any of the answers."""
    order = list(Outcome)
    return min(
        (_judge_one(member, answer) for answer in answers), key=lambda verdict: order.index(verdict.outcome)
    )


def _judge_one(member: Member, answer: Answer) -> Verdict:
    if answer.reason in CRASHES:
        return Verdict(Outcome.CRASH, answer.message)
    for channel in member.channels:
        if channel in answer.points:
            excess, t, component = worst(member, *answer.points[channel])
            if excess > 1:
                outcome = Outcome.WRONG_SUCCESS if answer.success else Outcome.WRONG_FAILURE
                where = f"({channel}, t = {t:.6g})"
                detail = f"{member.states[component]} is off by {excess:.1e} times what is forgiven {where}"
                return Verdict(outcome, detail, t, channel)
    return _success(member, answer) if answer.success else _failure(member, answer)


def _success(member: Member, answer: Answer) -> Verdict:
    if member.ends_at is not None:
        return Verdict(
            Outcome.WRONG_SUCCESS, f"went past the end of the solution at t = {member.ends_at:.6g}"
        )
    last = max(
        (points[0][-1] for points in answer.points.values()),
        key=lambda t: abs(t - member.t_span[0]),
        default=None,
    )
    if last is None or last != member.t_span[1]:
        return Verdict(
            Outcome.WRONG_SUCCESS, f"success, but the last point is at {last}, not at the end of the span"
        )
    if answer.event is not None:
        size = np.abs(member.truth(times_to_judge(member))[answer.event.component]).max()
        allowed = _forgiven(member, size)[answer.event.component, 0]
        if lost := fault(member, answer.event, answer.noted, allowed):
            return Verdict(Outcome.WRONG_SUCCESS, f"{lost[0]} (t = {lost[1]:.6g})", lost[1], "noted")
    if member.singular_at and not answer.notes:
        return Verdict(Outcome.SILENT, "right through a singular configuration, and no note says so")
    return Verdict(Outcome.RIGHT)


def _failure(member: Member, answer: Answer) -> Verdict:
    """Judge an end before the end of the span: where, and why."""
    ends = (*member.singular_at, *member.dependent_at) if member.ends_at is None else (member.ends_at,)
    said = f"{answer.reason}: {answer.message}"
    if not ends:
        return Verdict(Outcome.REFUSED, f"ended at t = {answer.t_reached}, {said}")
    if answer.t_reached is not None:
        t0 = member.t_span[0]
        misses = [(answer.t_reached - end) / (end - t0) for end in ends]
        if all(abs(miss) > TIME_OF_END for miss in misses):
            outcome = (
                Outcome.WRONG_FAILURE if member.ends_at is not None and misses[0] > 0 else Outcome.REFUSED
            )
            return Verdict(outcome, f"ended at t = {answer.t_reached:.6g} instead of {ends}, {said}")
    if answer.reason not in HONEST_REASONS:
        return Verdict(Outcome.WRONG_FAILURE, f"ended at the right time, but the reason is {said}")
    return Verdict(Outcome.HONEST, said)


def worst(member: Member, t: Array, y: Array) -> tuple[float, float, int]:
    """Return the largest error as a multiple of what is forgiven, with its time and component."""
    t, y = np.asarray(t, dtype=float), np.asarray(y, dtype=float)
    keep = _judged(member, t)
    t, y = t[keep], y[:, keep]
    if not t.size:
        return 0.0, member.t_span[0], 0
    with np.errstate(all="ignore"):
        right = member.truth(t)
        size = np.maximum.accumulate(np.where(np.isfinite(right), np.abs(right), 0.0), axis=1)
        off = _off(member, t, y, right)
        excess = off / (_forgiven(member, size) * _steepness(member, t))
    excess = np.where(np.isfinite(right), np.where(np.isfinite(y), excess, np.inf), 0.0)
    component, point = np.unravel_index(int(np.argmax(excess)), excess.shape)
    return float(excess[component, point]), float(t[point]), int(component)


def _forgiven(member: Member, size: Array | float) -> Array:
    """Return the errors that are forgiven where unknowns have grown to this size."""
    allowed = max(TIMES_TOLERANCE, RELATIVE / member.rtol) * max(1.0, member.enlarged / ORDINARY)
    return allowed * (member.atol[:, None] + member.rtol * size)


def _off(member: Member, t: Array, y: Array, right: Array) -> Array:
    """Return how far values are from the truth: of their time or, where that is located by the run, nearby.

    A peak of the state comes early or late by an error of the state that is forgiven. Its flanks are steep: what
    is right so much earlier or later is right.
    """
    if not member.moved:
        return np.minimum(np.abs(y - right), np.abs(y - member.truth(_beyond_corners(member, t))))
    near = [member.truth(t + share * _located(member)) for share in (-1.0, -0.5, 0.5, 1.0)]
    low, high = np.minimum.reduce([right, *near]), np.maximum.reduce([right, *near])
    return np.maximum(np.maximum(low - y, y - high), 0.0)


def _steepness(member: Member, t: Array) -> Array:
    """Return by how much a small error in the time of the end is enlarged on the way there."""
    if member.ends_at is None:
        return np.ones(t.shape)
    return 1 / (1 - (t - member.t_span[0]) / (member.ends_at - member.t_span[0]))


def _located(member: Member) -> float:
    """Return how late or early a corner is usually found."""
    return max(1e-9, member.located * member.rtol) * abs(member.t_span[1] - member.t_span[0])


def _beyond_corners(member: Member, t: Array) -> Array:
    """Return times near corners as far on their other side, all others as they are.

    Errors that are forgiven move the time of a switch, and by more than it is usually late where a kink before
    it enlarged them. A value of neither side is never right.
    """
    found = t.copy()
    for corner in member.corners if member.located else ():
        found = np.where(np.abs(t - corner) <= LATE * _located(member), 2 * corner - t, found)
    return found


def _judged(member: Member, t: Array) -> Array:
    """Leave out what is close to or beyond the end of the solution, and corners: either side is right."""
    t0 = member.t_span[0]
    keep = np.ones(t.shape, dtype=bool)
    if member.ends_at is not None:
        keep &= (t - t0) / (member.ends_at - t0) <= 1 - TIME_OF_END
    for corner in member.corners:
        keep &= np.abs(t - corner) > _located(member)
    for place in (*member.singular_at, *member.dependent_at):  # rounding errors come out as their roots there
        keep &= np.abs(t - place) > TIME_OF_END * abs(place - t0)
    return keep
