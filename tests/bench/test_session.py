"""A session describes every problem of the test set, so that a report can tell of them all.

And does so once.
"""

from __future__ import annotations

import threading

import pytest

from herk.bench import record, session, store, study
from herk.bench.sweeps import Choice

PLAN = study.parse(
    {
        "name": "small",
        "rtol": [1e-3],
        "case": [{"problem": "academic", "solver": "scipy_rk45", "form": "ode"}],
    }
)


@pytest.fixture
def carried(tmp_path, monkeypatch):
    """Return a function that carries out a study without running anything.

    And returns the problems described and what was said.

    One of the names in the test set belongs to no problem.
    """
    monkeypatch.setattr(
        session.testset,
        "names",
        lambda tag=None: ["absent", "academic", "robertson", "wind_pendulum_printed"],
    )
    monkeypatch.setattr(session.pool, "batches", lambda *_: iter(()))

    def carry_out(choice=Choice(), **options):  # noqa: B008
        said = []
        session.carry_out(PLAN, choice, tmp_path, say=said.append, **options)
        records = store.Store(tmp_path / store.NAME).read()[0]
        return [rec for rec in records if rec["kind"] == "problem"], said

    return carry_out


def test_problems_that_take_no_part_are_described_too_and_one_that_cannot_be_stops_none(carried):
    problems, said = carried()
    known = {rec["problem"]: rec for rec in problems}
    assert set(known) == {"academic", "robertson", "wind_pendulum_printed"}
    assert [line for line in said if "cannot be described" in line and "'absent'" in line]
    assert len(known["robertson"]["equations"]) == 3
    assert (known["robertson"]["index"], known["robertson"]["m"]) == (1, 1)
    assert known["robertson"]["reference_digits"] is not None
    assert len(known["robertson"]["published_y"]) == 3
    assert known["wind_pendulum_printed"]["equations"] == []
    assert known["wind_pendulum_printed"]["reference_digits"] is None


def test_a_session_waits_for_the_one_that_is_at_work_in_its_folder_and_says_so(carried, tmp_path):
    found = []
    second = threading.Thread(target=lambda: found.append(carried(whole=False)))
    with store.alone(tmp_path, print):
        second.start()
        second.join(0.5)
        assert second.is_alive()
        assert not (tmp_path / store.NAME).exists()
    second.join()
    [(problems, said)] = found
    assert [rec["problem"] for rec in problems] == ["academic"]
    assert "is at work in" in said[0]


def test_a_quick_session_describes_its_own_problems_only(carried):
    problems, said = carried(whole=False)
    assert [rec["problem"] for rec in problems] == ["academic"]
    assert not [line for line in said if "a look at" in line]


def test_what_is_described_already_is_not_described_again(carried):
    before, _ = carried()
    after, said = carried()
    assert after == before
    assert [line for line in said if "a look at 1 problem" in line]  # the one that cannot be described


def test_a_description_by_another_state_of_the_program_is_made_again(carried):
    problems, _ = carried()
    sweeps = session.sweeps.expand(PLAN)
    assert [name for name, *_ in session.others(sweeps, Choice(), problems)] == ["absent"]
    older = [{**rec, "commit": "another"} for rec in problems]
    assert [name for name, *_ in session.others(sweeps, Choice(), older)] == [
        "absent",
        "robertson",
        "wind_pendulum_printed",
    ]


def test_a_description_is_stored_once_for_every_state_of_the_program(carried):
    """Otherwise each study of a report would look at all problems anew."""
    [made, *_], _ = carried(whole=False)
    assert session._changed([made], [made]) == []
    assert session._changed([made], [{**made, "commit": "another"}]) == [made]


@pytest.mark.parametrize(
    "choice", [Choice(problem=("academic",)), Choice(tag="index1"), Choice(own_problems=("mine",))]
)
def test_when_problems_were_chosen_the_report_is_about_those(choice):
    assert session.others(session.sweeps.expand(PLAN), choice, []) == []


def test_nothing_is_described_for_a_study_that_runs_nothing():
    assert session.others([], Choice(), []) == []


def test_a_run_that_is_made_again_brings_its_own_curves(tmp_path, monkeypatch):
    """The curve of a run that our limit stopped must not stand for the one that came to the end."""
    settings = {
        "study": "small",
        "problem": "academic",
        "changes": "{}",
        "form": "ode",
        "solver": "scipy_rk45",
    }
    settings |= {"solver_version": "1", "rtol": 1e-3, "atol": 1e-3, "step": None, "options": "{}"}

    def batch(status, end):
        made = record.make("run", **settings, status=status, reason="time_limit", message="")
        curve = record.make("series", run=made["key"], name="step", t=[0.0, end], values=[1.0, 1.0])
        return lambda todo, *_: iter([(todo[0], [made, curve])])

    for status, end in (("failed", 0.4), ("ok", 1.0)):
        monkeypatch.setattr(session.pool, "batches", batch(status, end))
        session.carry_out(PLAN, Choice(), tmp_path, say=lambda _: None, whole=False)
    kept = store.latest(store.Store(tmp_path / store.NAME).read()[0])
    [curve] = [rec for rec in kept if rec["kind"] == "series"]
    assert curve["t"] == [0.0, 1.0]
