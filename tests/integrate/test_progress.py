"""A long run says how far it is; a short one says nothing; neither leaves anything behind."""

from __future__ import annotations

import io

import herk
import testset
from herk.integrate import progress
from herk.integrate.progress import Progress, line


def test_the_line_tells_share_and_time_left() -> None:
    assert line(0.0, 10.0, 2.5, 3.0) == "t = 2.5 of 10 (25 %), 3 s, about 9 s left"
    assert line(10.0, 0.0, 5.0, 4.0) == "t = 5 of 0 (50 %), 4 s, about 4 s left"
    assert line(0.0, 1.0, 0.0, 1.0) == "t = 0 of 1 (0 %), 1 s"


def test_a_line_is_written_over_and_cleared(monkeypatch) -> None:
    monkeypatch.setattr(progress, "OFTEN", 0.0)
    monkeypatch.setattr(progress, "SILENT", 0.0)
    out = io.StringIO()
    shown = Progress(0.0, 1.0, out)
    shown.show(0.5)
    shown.show(0.75)
    shown.close()
    pieces = out.getvalue().split("\r")
    assert "50 %" in pieces[1]
    assert "75 %" in pieces[2]
    assert pieces[3].strip() == "" == pieces[4]


def test_a_run_shows_its_progress_in_segments_too(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "OFTEN", 0.0)
    monkeypatch.setattr(progress, "SILENT", 0.0)
    model = testset.get("pendulum").model
    sol = herk.solve_dae(model, (0.0, 1.0), breakpoints=[0.5], progress=True)
    assert sol.success
    said = capsys.readouterr().err
    assert "(50 %)" in said
    assert "(100 %)" in said


def test_a_short_run_says_nothing(capsys) -> None:
    assert herk.solve_dae(testset.get("pendulum").model, (0.0, 0.1), progress=True).success
    assert capsys.readouterr().err == ""
