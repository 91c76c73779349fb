"""Compiled code outlives the process: the second one finds everything on disk."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import herk, testset
from herk.method import drive
problem = testset.get("pendulum", t_end=1.0)
sol = herk.solve_dae(problem)
assert sol.success, sol.message
generated = [module for name, module in sys.modules.items() if name.startswith("herk_generated_kernel")]
assert len(generated) == 2  # one kernel for each selection met
compiled = [drive.advance, *(module.kernel for module in generated)]
print(sum(sum(function.stats.cache_misses.values()) for function in compiled), "herk.model.regularize" in sys.modules)
print("sympy" in sys.modules)
"""


@pytest.mark.slow
def test_a_second_process_compiles_nothing_and_derives_nothing_and_needs_no_sympy(tmp_path) -> None:
    environment = os.environ | {"HERK_CACHE_DIR": str(tmp_path)}
    results = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        results.append(done.stdout.split())
    assert results[0] == ["3", "True", "True"]
    assert results[1] == ["0", "False", "False"]
