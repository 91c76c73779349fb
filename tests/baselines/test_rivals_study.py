"""The study of further rivals: who is not installed is one row with the line to install it, never an error."""

from __future__ import annotations

import shutil

import pytest

import baselines
from baselines import desolve, ida_c, octave
from herk.bench import study, sweeps
from herk.bench.runner import run

NEW = (
    "cvode_projected", "desolve_daspk", "desolve_radau", "diffsol_bdf", "exudyn_alpha", "exudyn_trapezoidal",
    "ida_c_jac", "ida_sundials4py_jac", "octave_daspk", "octave_dassl", "octave_ode15i", "rumoca_bdf", "rumoca_rk",
)  # fmt: skip
COMPILED = {"desolve_radau", "ida_c_jac"}  # loop and equations, as ours: a fair clock
STANDARD = ("work_precision", "convergence", "drift", "testset")


@pytest.fixture
def nothing_installed(monkeypatch):
    """Take every command and module of the rivals away."""

    def absent(name, *rest):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr("baselines.adapter.import_module", absent)
    found = (desolve.installed, ida_c.installed, octave.octave_version)
    for each in found:
        each.cache_clear()
    yield
    for each in found:
        each.cache_clear()


@pytest.mark.parametrize("name", NEW)
def test_a_rival_that_is_missing_is_one_row_that_says_how_to_install_it(name, nothing_installed):
    rival = baselines.get(name)
    available, why = rival.available()
    assert not available
    assert "install" in why
    (ladder, *_) = sweeps.expand(study.load("rivals"), sweeps.Choice(problem=("pendulum",), solver=(name,)))
    ((row,),) = run.records(ladder)
    assert (row["status"], row["message"]) == ("unavailable", why)
    assert isinstance(rival.version, str)


def test_every_new_rival_takes_part_in_the_study_and_the_compiled_ones_alone_in_the_standard_report():
    assert set(NEW) <= {ladder.solver for ladder in sweeps.expand(study.load("rivals"))}
    for name in STANDARD:
        for quick in (False, True):
            found = set(NEW) & {ladder.solver for ladder in sweeps.expand(study.load(name, quick))}
            assert found == (COMPILED if name == "work_precision" and not quick else set())


def test_a_rival_is_run_by_name_in_any_study():
    chosen = sweeps.Choice(problem=("pendulum",), solver=("octave_dassl",))
    ladders = sweeps.expand(study.load("work_precision"), chosen)
    assert {(ladder.solver, ladder.form) for ladder in ladders} == {("octave_dassl", "index1")}
