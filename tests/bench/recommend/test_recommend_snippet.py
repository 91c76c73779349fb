"""The code to paste runs as printed, for every way in which a file may offer its problem."""

from __future__ import annotations

import contextlib
import io
import re

import numpy as np
import pytest

from herk.bench.plugins import to_solve
from herk.bench.recommend.examine import facts
from herk.bench.recommend.rank import Row
from herk.bench.recommend.snippet import code

OFFERS = {
    "model": "model = make()",
    "problem": "problem = as_problem()",
    "problem()": "problem = as_problem",
    "PROBLEM": "PROBLEM = as_problem()",
}
BODY = """
import numpy as np
import herk


def make():
    return herk.Model("ramp", ["x", "z"], np.diag([1, 0]), ["Piecewise((1, t < 1), (3, True))", "z - 2*x"], t_span=(0, 2), y0=(1, None))


def as_problem():
    return herk.Problem("ramp", "Ramp", (0, 2), np.array([1.0, 2.0]), "own", make())
"""


@pytest.mark.parametrize("offer", OFFERS)
@pytest.mark.parametrize(
    ("solver", "form"), [("herk_bs32", "overdetermined"), ("scipy_rk45", "ode"), ("radau5", "index1")]
)
def test_code_runs_as_printed_and_prints_the_end(offer, solver, form, tmp_path):
    """From x = 1 with x' = 1 until t = 1, then 3, to x = 5 at t = 2; z is twice that."""
    path = tmp_path / "ramp.py"
    path.write_text(BODY + OFFERS[offer])
    text = code(str(path), facts(to_solve(path)), Row(solver, form, 1, 1e-8, 1e-8, 1.0, 1, 1, 0.0, 0.0))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, "pasted", "exec"), {})
    assert re.search(r"t = 2: y = \[", printed.getvalue())
    end = np.array([float(number) for number in re.search(r"\[(.*)\]", printed.getvalue())[1].split()])
    np.testing.assert_allclose(end, [5.0, 10.0], rtol=1e-5)
