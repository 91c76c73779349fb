"""The budget bounds everything: loading, analysis, compiling, solving.

What hangs is ended, and the answer says what to do.
"""

from __future__ import annotations

import time

import pytest

from herk.bench.recommend import inquiry, recommend
from herk.bench.runner.process import reports

HANGS = """
import time
time.sleep(600)
"""
# The first process that runs the file examines the model; those that follow never end, as if they compiled
# forever.
COMPILES = """
import os, time
import herk
mark = {mark!r}
if os.path.exists(mark):
    time.sleep(600)
open(mark, "w").close()
model = herk.Model("m", ["x", "z"], [[1, 0], [0, 0]], ["-x", "z - x"], t_span=(0, 1), y0=[1, 1])
"""
START = 20.0  # seconds for starting processes on a busy machine


def nothing(send):
    send("ready", None)


@pytest.fixture(autouse=True)
def _server_is_there():
    """Start the server that forks processes: it imports for seconds, once."""
    list(reports(nothing, patience=lambda: 120.0))


def test_a_file_that_never_ends_is_ended_and_the_budget_named(tmp_path):
    path = tmp_path / "hangs.py"
    path.write_text(HANGS)
    began = time.monotonic()
    found = recommend(path, budget=5.0)
    assert time.monotonic() - began < 5.0 + START
    assert found.verdict == "unusable"
    assert "took longer than 3 s" in found.advice
    assert "--budget" in found.advice


def test_solvers_that_compile_forever_end_with_the_budget(tmp_path, monkeypatch):
    path, mark = tmp_path / "compiles.py", tmp_path / "examined"
    path.write_text(COMPILES.format(mark=str(mark)))
    monkeypatch.setattr(inquiry, "EXAMINE_SHARE", 20.0)  # a model is analysed slowly where others are at work
    began = time.monotonic()
    found = recommend(path, budget=8.0)
    assert mark.exists()
    assert time.monotonic() - began < 8.0 + 2 * START
    assert found.verdict == "no reference"
    assert "--budget" in found.advice
