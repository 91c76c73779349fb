"""Compiled code on disk is never older than the text it was made from, in packages outside herk too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from herk.core.jit import HAVE_NUMBA

CALLER = """
from herk.core.jit import compiled
from room.other import value

@compiled("float64(float64)")
def twice(x):
    return 2.0 * value(x)
"""
OTHER = """
from herk.core.jit import compiled

@compiled("float64(float64)")
def value(x):
    return x + {shift}
"""


def run(folder: Path) -> float:
    environment = os.environ | {"HERK_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    code = "from room.caller import twice; print(twice(1.0))"
    return float(subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not HAVE_NUMBA, reason="without numba nothing is compiled")
def test_a_change_in_another_file_of_a_package_is_noticed_by_the_next_process(tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    (room / "__init__.py").write_text("")
    (room / "caller.py").write_text(CALLER)
    (room / "other.py").write_text(OTHER.format(shift=1.0))
    assert run(tmp_path) == 4.0
    assert run(tmp_path) == 4.0
    assert list((tmp_path / "cache").rglob("*.nbi")), "nothing was kept"
    (room / "other.py").write_text(OTHER.format(shift=2.0))
    assert run(tmp_path) == 6.0
