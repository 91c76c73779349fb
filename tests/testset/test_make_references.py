"""The program that recomputes references.

It confirms, finds wrong digits, and overwrites nothing that is right.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import testset
from testset import make_references
from testset.extended.pairs import Work
from testset.extended.recipes import RECIPES, Recipe
from testset.extended.system import System
from testset.extended.underlying import Long
from testset.make_references import digits

pytestmark = pytest.mark.skipif(
    np.finfo(Long).eps > 1e-18, reason="long doubles are not longer than doubles here"
)
NAME = "arevalo"  # its solution is known: x = sin t^2, y = cos t^2
WORK = Work(1e-14, 1e-18, 8, 6)


def whole(t, y):
    c, s = np.cos(y[0]), np.sin(y[0])
    return np.array([s, c, 2 * t * c, -2 * t * s, -4 * t * t])


def track():
    """Return the angle phi = t^2 from phi' = 2 t, for t up to 2."""
    return System(lambda t, y: 2 * t + 0 * y, np.array([Long(0)]), Long(2), whole, {}, "a test")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    problem = type("Given", (), {"groups": {"positions": (0, 1), "velocities": (2, 3), "multipliers": (4,)}})
    monkeypatch.setattr(make_references, "FOLDER", tmp_path)
    monkeypatch.setattr(make_references, "RECIPES", {NAME: Recipe(track, 1, WORK)})
    monkeypatch.setattr(testset, "get", lambda name: problem)
    return tmp_path


def store(folder, change=0.0, claimed=15, **more):
    y = [np.format_float_scientific(value, precision=19) for value in whole(Long(2), np.array([Long(4)]))]
    y[1] = np.format_float_scientific(Long(y[1]) + Long(change), precision=19)
    data = {
        "t": 2.0,
        "y": y,
        "digits": claimed,
        "parameters": {},
        "source": "a test",
        "how": "by hand",
        "published_y": ["1"],
        **more,
    }
    (folder / f"{NAME}.json").write_text(json.dumps(data))


def test_a_right_reference_is_confirmed(folder, capsys):
    store(folder)
    assert make_references.main([]) == 0
    out = capsys.readouterr().out
    assert "about 1 s" in out.splitlines()[0]
    assert f"PASS  {NAME} at t = 2" in out


def test_a_wrong_digit_is_found(folder, capsys):
    store(folder, change=1e-12)
    assert make_references.main([]) == 1
    assert f"FAIL  {NAME}" in capsys.readouterr().out


def test_a_digit_that_is_not_claimed_may_be_wrong(folder):
    store(folder, change=1e-12, claimed=10)
    assert make_references.main([]) == 0


def test_every_stored_end_time_is_checked(folder, capsys):
    wrong = {"t": 1.0, "y": [str(value) for value in whole(Long(1), np.array([Long("1.001")]))]}
    store(folder, also=[wrong])
    assert make_references.main([]) == 1
    out = capsys.readouterr().out
    assert f"FAIL  {NAME} at t = 1" in out
    assert f"PASS  {NAME} at t = 2" in out


def test_methods_that_disagree_confirm_nothing(folder, monkeypatch, capsys):
    store(folder)
    pair = lambda system, ends, work: iter(
        [(whole(Long(2), [Long(4)]), whole(Long(2), [Long("4.0000000001")]))]
    )
    monkeypatch.setattr(make_references, "RECIPES", {NAME: Recipe(track, 1, WORK, pair)})
    assert make_references.main([]) == 1
    assert f"FAIL  {NAME}" in capsys.readouterr().out


def test_a_check_changes_no_file_and_writing_keeps_what_is_right(folder):
    store(folder, claimed=20)
    before = (folder / f"{NAME}.json").read_text()
    assert make_references.main([]) == 0
    assert (folder / f"{NAME}.json").read_text() == before
    assert make_references.main(["--write", NAME]) == 0
    assert json.loads((folder / f"{NAME}.json").read_text())["how"] == "by hand"


def test_writing_corrects_a_wrong_value_and_keeps_the_published_one(folder):
    store(folder, change=1e-9)
    assert make_references.main(["--write", NAME]) == 0
    data = json.loads((folder / f"{NAME}.json").read_text())
    assert abs(float(data["y"][1]) - np.cos(4.0)) < 1e-15
    assert data["published_y"] == ["1"]
    assert "make_references" in data["how"]
    assert make_references.main([]) == 0


def test_a_new_reference_is_written_with_its_source(folder):
    assert make_references.main(["--write", NAME]) == 0
    data = json.loads((folder / f"{NAME}.json").read_text())
    assert (data["t"], data["source"], len(data["y"])) == (2.0, "a test", 5)
    assert data["digits"] >= 14


def test_digits_are_counted_by_groups_or_one_by_one():
    values, others = np.array([Long(1), Long("1e-8")]), np.array([Long(1), Long("1.1e-8")])
    assert digits(values, others, {"all": (0, 1)}) == pytest.approx(9.0, abs=1e-6)
    assert digits(values, others, {"all": (0, 1)}, relative=True) == pytest.approx(np.log10(11), abs=1e-6)


def test_a_method_that_gives_no_number_agrees_to_no_digit():
    assert digits(np.array([Long("nan")]), np.array([Long(1)]), {"all": (0,)}) == -np.inf


def test_list_names_what_can_be_recomputed_and_computes_nothing(capsys):
    assert make_references.main(["--list"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()] == list(RECIPES)
    assert {"fekete", "car_axis", "robertson", "water_tube"} <= set(RECIPES)


def test_command_confirms_a_reference_and_refuses_unknown_names(capsys):
    assert make_references.main(["--problem", "unit_circle"]) == 0
    assert "PASS  unit_circle" in capsys.readouterr().out
    assert make_references.main(["--problem", "no such"]) == 2
