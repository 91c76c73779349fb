"""The first comparison: what it prints and writes."""

from __future__ import annotations

import csv

import pytest

from herk.bench import __main__ as bench


@pytest.fixture
def quick(monkeypatch):
    names = ("herk_dop853", "dop853", "ida_sundae")
    monkeypatch.setattr(bench, "RIVALS", tuple(rival for rival in bench.RIVALS if rival.name in names))
    monkeypatch.setattr(bench, "TOLERANCES", (1e-4, 1e-8))
    monkeypatch.setattr(bench, "REPEATS", 1)
    return names


def test_the_comparison_prints_a_table_and_says_where_its_files_are(quick, tmp_path, capsys):
    assert bench.main(["--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in quick)
    assert str(tmp_path / "pendulum.csv") in printed
    assert (tmp_path / "pendulum.png").read_bytes().startswith(b"\x89PNG")


def test_herk_keeps_the_constraints_and_rivals_drift(quick, tmp_path):
    bench.main(["--out", str(tmp_path)])
    with (tmp_path / "pendulum.csv").open() as file:
        residuals = {(row["solver"], float(row["tolerance"])): float(row["residual"]) for row in csv.DictReader(file)}
    assert len(residuals) == len(quick) * 2
    for (solver, tolerance), residual in residuals.items():
        assert residual < 1e-13 if solver == "herk_dop853" else residual > tolerance


def test_a_slow_solver_is_not_asked_for_more_accuracy(quick, monkeypatch):
    monkeypatch.setattr(bench, "PATIENCE", 1e-9)
    problem = bench.testset.get("pendulum")
    assert len(list(bench.run(bench.RIVALS[0], problem))) == 1


def test_an_unknown_option_is_a_usage_error():
    with pytest.raises(SystemExit) as stopped:
        bench.main(["--fast"])
    assert stopped.value.code == 2
