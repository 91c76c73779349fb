"""SuperLU is never given what makes it write outside its memory."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csc_array, eye_array

from herk.linalg.superlu import factored

WITHOUT_PIVOTS = """
import numpy as np
from scipy.sparse import csc_array, random_array
from herk.linalg.superlu import factored
rng, refused = np.random.default_rng(1), 0
for _ in range(300):
    n = int(rng.integers(20, 300))
    try:
        factored(csc_array(random_array((n, n), density=2 / n, rng=rng)))
    except RuntimeError:
        refused += 1
print(refused)
"""


def test_matrices_without_pivots_are_refused_and_leave_the_process_alive() -> None:
    """About e^-2 of the rows have no entry at all; the same matrices given to splu itself end the process."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_PIVOTS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["300"])
    assert "illegal value" not in done.stderr


def test_regular_matrices_are_solved_and_those_singular_by_values_refused() -> None:
    matrix = csc_array(np.array([[0.0, 2.0, 0.0], [3.0, 0.0, 1.0], [0.0, 1.0, 4.0]]))
    solution = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(factored(matrix).solve(matrix @ solution), solution, rtol=1e-14)
    with pytest.raises(RuntimeError, match="singular"):
        factored(csc_array(np.ones((2, 2))))
    with pytest.raises(RuntimeError, match="no pivot"):
        factored(csc_array(eye_array(3)) @ csc_array(np.diag([1.0, 0.0, 1.0])))
