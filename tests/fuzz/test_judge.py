"""The judge finds the wrong answers it is fed on purpose, wherever they are, and forgives the right ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.examine import examine
from tests.fuzz.families import FAMILIES
from tests.fuzz.judge import Answer, Outcome, judge, times_to_judge
from tests.fuzz.mechanism import enlargement
from tests.fuzz.member import CHANNELS, JudgeError, Member
from tests.fuzz.passing import Level

CHEAP = [name for name in FAMILIES if name != "mechanisms"]  # its judges take half a second per member


def truth(t: np.ndarray) -> np.ndarray:
    return np.array([np.sin(t), 5e-7 * np.cos(t)])


SINE = Member(
    family="judge",
    kind="sine",
    seed=1,
    states=("x", "z"),
    E=(("1", "0"), ("0", "0")),
    f=("2e6*z", "z - 5e-7*cos(t)"),
    t_span=(0.0, 4.0),
    y0=(0.0, 5e-7),
    sizes=(1.0, 5e-7),
    truth=truth,
)
ENDING = replace(SINE, ends_at=2.0)
SINGULAR = replace(SINE, singular_at=(1.0, 3.0))


def answer(
    member: Member, shift: float = 0.0, at: int = 150, component: int = 0, channel: str = "t_eval", **more
) -> Answer:
    """Return a run with the right values, but for one that is shifted by so many tolerances."""
    t = times_to_judge(member)
    t = t[t <= more.get("t_reached", t[-1])]
    y = member.truth(t)
    y[component, at] += shift * (member.atol[component] + member.rtol * np.abs(y[component, : at + 1]).max())
    return Answer(**{"success": True, "reason": "finished", "points": {channel: (t, y)}} | more)


def failure(member: Member, t: float, reason: str = "newton", **more) -> Answer:
    return answer(member, success=False, reason=reason, t_reached=t, at=3, **more)


PEAK = Level(0, 0.9)  # of sin t: passed at 1.1198 and 2.0218
UP, DOWN = np.arcsin(0.9), np.pi - np.arcsin(0.9)


@pytest.mark.parametrize("noted", [[], [UP], [DOWN], [UP, UP + 0.1, DOWN], [0.5, UP, DOWN], [UP, DOWN, 3.9]])
def test_an_event_that_is_lost_or_noted_where_it_is_not_is_a_wrong_success(noted) -> None:
    found = judge(SINE, [replace(answer(SINE), event=PEAK, noted=np.array(noted))])
    assert (found.outcome, found.channel) == (Outcome.WRONG_SUCCESS, "noted")
    assert "sol.t_events" in SINE.script(found.t, found.channel)


@pytest.mark.parametrize("level", [PEAK, Level(0, 1.0), Level(0, 1.0 - 1e-5), Level(1, 4e-7)])
def test_events_noted_where_the_truth_passes_are_right(level: Level) -> None:
    times = np.linspace(0, 4, 2_000_001)
    v = truth(times)[level.component] - level.value
    noted = times[:-1][v[:-1] * v[1:] < 0]
    assert judge(SINE, [replace(answer(SINE), event=level, noted=noted)]).outcome is Outcome.RIGHT


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("component", [0, 1])
def test_one_wrong_value_in_any_channel_and_unknown_is_a_wrong_success(channel: str, component: int) -> None:
    found = judge(SINE, [answer(SINE), answer(SINE, 1.01e3, channel=channel, component=component)])
    assert (found.outcome, found.channel) == (Outcome.WRONG_SUCCESS, channel)
    assert found.t == times_to_judge(SINE)[150]


def test_unprojected_output_is_blamed_only_if_all_else_is_right() -> None:
    wrong, unprojected = (answer(SINE, 2e3, channel=channel) for channel in ("t_eval", "unprojected"))
    assert judge(SINE, [answer(SINE), unprojected]).channel == "unprojected"
    assert judge(SINE, [answer(SINE), wrong, unprojected]).channel == "t_eval"


def test_an_error_below_a_thousand_tolerances_is_forgiven() -> None:
    assert judge(SINE, [answer(SINE, 0.99e3)]).outcome == Outcome.RIGHT


def test_an_error_below_a_hundred_thousandth_is_forgiven_at_tight_tolerances_and_no_more() -> None:
    tight = replace(SINE, rtol=1e-10)
    assert judge(tight, [answer(tight, 0.99e5)]).outcome == Outcome.RIGHT
    assert judge(tight, [answer(tight, 1.01e5)]).outcome == Outcome.WRONG_SUCCESS


def test_an_error_is_forgiven_in_proportion_where_the_model_itself_enlarges_errors_unusually() -> None:
    for enlarged, most in ((30.0, 1e3), (150.0, 5e3)):
        member = replace(SINE, enlarged=enlarged)
        assert judge(member, [answer(member, 0.99 * most)]).outcome == Outcome.RIGHT
        assert judge(member, [answer(member, 1.01 * most)]).outcome == Outcome.WRONG_SUCCESS


def test_errors_made_on_the_way_are_enlarged_too_and_in_any_direction() -> None:
    # u falls like exp(-t) up to t = 1 and rises from there: by e^2 up to t = 3
    grid = np.linspace(0.0, 3.0, 31)
    u = np.exp(np.abs(grid - 1) - 1)[None, :]
    grown = enlargement(lambda t, u: u if t > 1 else -u, np.array, np.ones(1), grid, u)
    assert grown == pytest.approx(np.exp(2), rel=1e-3)
    # x'' = x from (1, -1), where both fall: neighbours leave it like cosh t, each unknown by another
    u = np.exp(-grid) * np.array([[1.0], [-1.0]])
    grown = enlargement(lambda _, u: u[::-1], np.array, u[:, 0], grid, u)
    assert grown == pytest.approx(np.cosh(3.0), rel=1e-3)


def test_times_to_judge_that_rounding_makes_equal_are_one() -> None:
    member = replace(SINE, t_span=(0.0, 10.0), corners=(4.3, 4.313))  # 4.3 + 0.003 and 4.313 - 0.01
    assert (np.diff(times_to_judge(member)) > 0).all()


@pytest.mark.parametrize(
    ("late", "share", "outcome"),
    [
        (3.0, 0.0, Outcome.RIGHT),
        (3.0, 0.5, Outcome.WRONG_SUCCESS),  # a value of neither side
        (30.0, 0.0, Outcome.WRONG_SUCCESS),
    ],
)
def test_a_jump_may_come_a_little_late_but_neither_much_nor_half(
    late: float, share: float, outcome: Outcome
) -> None:
    def jump(t: np.ndarray) -> np.ndarray:
        return np.array([np.where(t < 2.0, 1.0, 3.0), 5e-7 * np.ones(t.shape)])

    member = replace(SINE, truth=jump, corners=(2.0,), located=30.0)
    t = np.array([0.0, 2.0 + late * 30.0 * member.rtol * 4.0, 4.0])
    y = jump(t)
    y[0, 1] = 1.0 + 2.0 * share  # still, or half, what it was before
    found = judge(member, [Answer(True, "finished", {"t_eval": (t, y)})])
    assert found.outcome is outcome, found.detail


@pytest.mark.parametrize(
    ("late", "high", "outcome"),
    [
        (0.0, 0.0, Outcome.RIGHT),
        (0.9, 0.0, Outcome.RIGHT),
        (-0.9, 0.0, Outcome.RIGHT),
        (20.0, 0.0, Outcome.WRONG_SUCCESS),
        (0.0, 0.02, Outcome.WRONG_SUCCESS),
    ],
)
def test_a_steep_flank_may_come_as_late_as_its_cause_is_located_and_be_no_higher(
    late: float, high: float, outcome: Outcome
) -> None:
    width, located = 2e-5, 30.0 * SINE.rtol * 4.0  # a flank that is passed in the time in which it is located

    def flank(t: np.ndarray) -> np.ndarray:
        return np.array([np.tanh((t - 2.0) / width), np.zeros_like(t)])

    member = replace(SINE, truth=flank, sizes=(1.0, 1.0), located=30.0, moved=True, corners=())
    times = np.linspace(2.0 - 3 * width, 2.0 + 3 * width, 50)
    points = {"dense": (np.append(times, 4.0), flank(np.append(times, 4.0) - late * located) + high)}
    assert judge(member, [Answer(True, "finished", points, 4.0)]).outcome is outcome


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_success_with_values_that_are_no_numbers_is_wrong(value: float) -> None:
    given_answer = answer(SINE)
    given_answer.points["t_eval"][1][1, 7] = value
    assert judge(SINE, [given_answer]).outcome == Outcome.WRONG_SUCCESS


def test_a_success_that_stops_short_of_the_end_is_wrong() -> None:
    assert judge(SINE, [answer(SINE, t_reached=3.9, at=3)]).outcome == Outcome.WRONG_SUCCESS


def test_a_channel_that_is_not_judged_may_be_wrong() -> None:
    member = replace(SINE, channels=CHANNELS[:3])
    assert (
        judge(member, [answer(member), answer(member, 1e6, channel="unprojected")]).outcome == Outcome.RIGHT
    )


def test_a_success_past_the_end_of_the_solution_is_wrong() -> None:
    assert judge(ENDING, [answer(ENDING)]).outcome == Outcome.WRONG_SUCCESS


@pytest.mark.parametrize(
    ("t", "reason", "outcome"),
    [
        (1.99, "newton", Outcome.HONEST),
        (2.01, "step_underflow", Outcome.HONEST),
        (1.9, "newton", Outcome.REFUSED),
        (2.1, "newton", Outcome.WRONG_FAILURE),
        (2.0, "max_steps", Outcome.WRONG_FAILURE),
        (2.0, "exception", Outcome.CRASH),
    ],
)
def test_the_end_of_a_solution_is_found_in_time_and_for_the_right_reason(
    t: float, reason: str, outcome: Outcome
) -> None:
    assert judge(ENDING, [failure(ENDING, t, reason)]).outcome == outcome


def test_wrong_points_before_an_honest_end_are_found() -> None:
    early, late = (
        1.1e3,
        25 * 1.1e3,
    )  # at the third point, and at 95 percent of the way, where 1/0.05 is forgiven
    assert judge(ENDING, [failure(ENDING, 2.0, shift=early)]).outcome == Outcome.WRONG_FAILURE
    at = int(np.searchsorted(times_to_judge(ENDING), 1.9))
    assert (
        judge(ENDING, [answer(ENDING, late, at, success=False, reason="newton")]).outcome
        == Outcome.WRONG_FAILURE
    )
    assert (
        judge(ENDING, [answer(ENDING, late / 2, at, success=False, reason="newton")]).outcome
        == Outcome.HONEST
    )


def test_a_run_that_ends_where_the_solution_goes_on_is_a_refusal() -> None:
    assert judge(SINE, [answer(SINE), failure(SINE, 2.0)]).outcome == Outcome.REFUSED


def test_a_singular_configuration_is_passed_with_a_note_or_ends_the_run_and_nothing_else() -> None:
    assert judge(SINGULAR, [answer(SINGULAR)]).outcome == Outcome.SILENT
    assert judge(SINGULAR, [answer(SINGULAR, notes=("singular at t = 1",))]).outcome == Outcome.RIGHT
    assert judge(SINGULAR, [failure(SINGULAR, 3.02, "singular")]).outcome == Outcome.HONEST
    assert judge(SINGULAR, [failure(SINGULAR, 2.0, "singular")]).outcome == Outcome.REFUSED


def test_at_a_singular_configuration_itself_rounding_is_forgiven_a_little_later_nothing_is() -> None:
    member = replace(SINE, singular_at=(float(times_to_judge(SINE)[75]),))
    for at, outcome in ((75, Outcome.RIGHT), (79, Outcome.WRONG_SUCCESS)):
        assert judge(member, [answer(member, 1.1e3, at, notes=("singular",))]).outcome == outcome


def test_the_other_branch_after_a_singular_configuration_is_wrong_with_or_without_a_note() -> None:
    t = times_to_judge(SINGULAR)
    other = np.where(t > 1.0, 2 * np.sin(1.0) - np.sin(t), np.sin(t))
    run = Answer(True, "finished", {"t_eval": (t, np.array([other, 5e-7 * np.cos(t)]))}, notes=("singular",))
    assert judge(SINGULAR, [run]).outcome == Outcome.WRONG_SUCCESS


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.sampled_from(CHEAP), st.integers(0, 10_000), st.integers(0, 50), st.integers(5, 290))
def test_members_of_all_families_are_judged_right_on_their_truth_and_wrong_off_it(
    family: str, seed: int, unknown: int, point: int
) -> None:
    member = FAMILIES[family](seed)
    unknown %= len(member.states)
    if member.ends_at is not None:
        t0 = member.t_span[0]
        member = replace(member, t_span=(t0, t0 + 0.95 * (member.ends_at - t0)), ends_at=None)
    with np.errstate(all="ignore"):
        right, wrong = (answer(member, shift, point, unknown, notes=("a note",)) for shift in (0.0, 1.01e6))
    assert judge(member, [right]).outcome == Outcome.RIGHT
    assert judge(member, [right, wrong]).outcome == Outcome.WRONG_SUCCESS


def raising(error: Exception):
    def solve(member: Member) -> list[Answer]:
        raise error

    return solve


def test_errors_on_purpose_are_refusals_other_errors_are_crashes() -> None:
    import herk

    assert examine("limits", 1, raising(herk.InputError("no")))[0].outcome == Outcome.REFUSED
    assert examine("limits", 1, raising(ZeroDivisionError("no")))[0].outcome == Outcome.CRASH
    assert examine("limits", 1, raising(JudgeError("they differ")))[0].outcome == Outcome.UNDECIDED


def test_the_script_of_a_fault_is_a_program_that_builds_the_same_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import herk

    verdict, _, script = examine("circuits", 3, lambda member: [answer(member, 1e7, at=40)])
    member, calls = FAMILIES["circuits"](3), []
    monkeypatch.setattr(herk, "Model", lambda name, **content: calls.append(content))
    monkeypatch.setattr(
        herk, "solve_dae", lambda model, **options: calls.append(options) or answer_like(member)
    )
    exec(compile(script, "script", "exec"), {})  # our own text
    assert verdict.outcome == Outcome.WRONG_SUCCESS
    assert calls[0]["E"] == [list(row) for row in member.E]
    assert (calls[0]["f"], calls[0]["y0"], calls[0]["parameters"]) == (
        list(member.f),
        list(member.y0),
        member.parameters,
    )
    assert calls[1]["t_eval"] == [verdict.t]
    assert script.count("\n") < 10 + len(member.E) + len(member.f)


def answer_like(member: Member):
    class Sol:
        success, y = True, np.zeros((len(member.states), 1))

    return Sol()
