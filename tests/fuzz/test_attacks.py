"""Every model of the table of attacks as it is written, each with a method and a tolerance of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fuzz.attacks import NAMES, member
from tests.fuzz.examine import answers
from tests.fuzz.judge import Outcome, judge
from tests.fuzz.member import Member
from tests.fuzz.test_families import ALLOWED, judged_times, residual

SETTINGS = (("auto", 1e-6), ("radau5", 1e-5), ("dop853", 1e-8), ("tsit5", 1e-4), ("radau5", 1e-9))


def with_method(name: str, shift: int = 0) -> Member:
    """Return the model with the setting whose turn it is."""
    method, rtol = SETTINGS[(NAMES.index(name) + shift) % len(SETTINGS)]
    return replace(member(name), method=method, rtol=rtol)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_is_solved_or_ended_where_its_solution_ends(name: str) -> None:
    attacked = with_method(name)
    verdict = judge(attacked, answers(attacked))
    passed = {Outcome.RIGHT} if attacked.ends_at is None else {Outcome.HONEST}
    passed |= {Outcome.HONEST} if attacked.singular_at else set()
    assert verdict.outcome in passed, f"{attacked.script()}\n# {verdict.detail}"


def test_every_solution_of_the_table_satisfies_its_equations() -> None:
    found = {name: residual(member(name), judged_times(member(name), 7)).max() for name in NAMES}
    assert {name: value for name, value in found.items() if not value < ALLOWED} == {}
