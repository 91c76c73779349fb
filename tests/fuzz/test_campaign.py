"""A campaign counts every outcome, names the seeds of faults, and ends when its time is up."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterator
from itertools import pairwise

import pytest

from tests.fuzz import campaign
from tests.fuzz.judge import Outcome


def record(family: str, seed: int, outcome: Outcome) -> campaign.Record:
    return {"family": family, "seed": seed, "outcome": outcome, "kind": "", "detail": "", "script": ""}


class FakePool:
    """Answers at once; member 1 hangs, member 2 dies."""

    def __init__(self, *_: object) -> None:
        pass

    def run(
        self, tasks: Iterator[tuple[str, int]]
    ) -> Iterator[tuple[tuple[str, int], campaign.Record | None, str]]:
        for family, seed in tasks:
            how = {1: "hang", 2: "died"}.get(seed, "done")
            yield (family, seed), record(family, seed, Outcome.RIGHT) if how == "done" else None, how


def test_a_campaign_counts_hangs_and_dead_processes_as_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "Pool", FakePool)
    stream = campaign.tasks(["linear", "limits"], 0, 3, time.monotonic() + 60)
    records = campaign.campaign(stream, 1, 1.0)
    assert [(r["family"], r["seed"], r["outcome"]) for r in campaign.faults(records)] == [
        ("linear", 1, Outcome.HANG),
        ("limits", 1, Outcome.HANG),
        ("linear", 2, Outcome.CRASH),
        ("limits", 2, Outcome.CRASH),
    ]


def test_no_task_is_started_when_the_time_is_up() -> None:
    assert list(campaign.tasks(["linear"], 0, None, time.monotonic())) == []


def test_the_table_counts_and_names_the_seeds_of_faults() -> None:
    records = [
        record("linear", 7, Outcome.WRONG_SUCCESS),
        record("linear", 8, Outcome.RIGHT),
        record("limits", 9, Outcome.HONEST),
    ]
    lines = campaign.table(records).splitlines()
    names = [name.value for name in reversed(Outcome)]
    assert [lines[0].index(a) < lines[0].index(b) for a, b in pairwise(names)] == [True] * (len(names) - 1)
    assert lines[1].split() == ["linear", "1", *"....", ".", "1", ".", ".", "2"]
    assert lines[3].split()[0::9] == ["all", "."]
    assert lines[3].split()[-1] == "3"
    assert lines[4:] == ["wrong success: linear 7"]


@pytest.mark.parametrize("outcome", Outcome)
def test_all_but_right_honest_and_undecided_are_faults(outcome: Outcome) -> None:
    innocent = outcome in (Outcome.RIGHT, Outcome.HONEST, Outcome.UNDECIDED)
    assert bool(campaign.faults([record("linear", 1, outcome)])) is not innocent


def test_known_faults_are_written_as_the_share_reads_them() -> None:
    records = [
        record("limits", 3, Outcome.REFUSED),
        record("limits", 1, Outcome.HANG),
        record("linear", 2, Outcome.RIGHT),
    ]
    assert tomllib.loads(campaign.as_known(records)) == {"limits": {"1": "hang", "3": "refused"}}
    assert tomllib.loads(campaign.as_known([])) == {}


def test_the_table_keeps_faults_of_unprojected_output_apart() -> None:
    records = [
        record("linear", seed, Outcome.WRONG_SUCCESS) | {"channel": channel}
        for seed, channel in ((1, "unprojected"), (2, "dense"))
    ]
    lines = campaign.table(records).splitlines()
    assert lines[-2:] == ["wrong success: linear 2", "wrong success, unprojected output only: linear 1"]
