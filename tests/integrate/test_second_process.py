"""Compiled code outlives the process: the second one finds everything on disk."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import herk, testset
from herk.jit.native import Native
from herk.jit import program
made, plain = [], program.object_code
program.object_code = lambda text: made.append(text) or plain(text)
problem = testset.get("pendulum", t_end=1.0)
sol = herk.solve_dae(problem)
assert sol.success, sol.message
print(len(made))
first = Native.compilations
for length in (1.1, 1.2, 1.3):
    assert herk.solve_dae(problem, y0=[-length, 0, 0, 0, None], parameters={"l": length}).success
print(Native.compilations - first)
"""


@pytest.mark.slow
def test_the_loop_is_compiled_once_per_machine_and_a_model_once_for_all_its_values(tmp_path) -> None:
    environment = os.environ | {"HERK_CACHE_DIR": str(tmp_path)}
    results = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        results.append(done.stdout.split())
    assert results[0] == ["3", "0"]  # selection, loop, steps
    assert results[1] == ["0", "0"]
