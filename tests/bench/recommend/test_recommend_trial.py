"""One solver at tighter and tighter tolerances: what is late once because it compiles goes on, what is late twice ends."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from herk.bench.recommend import trial
from herk.bench.recommend.trial import Plan, climb
from herk.core import Reason, Solution


class Late:
    """A solver whose first runs are late."""

    def __init__(self, late: int) -> None:
        self.late = late

    def supports(self, problem, form):
        return True, ""

    def prepare(self, problem, form):
        return problem

    def solve(self, prepared, settings):
        self.late -= 1
        reason = Reason.FINISHED if self.late < 0 else Reason.TIME_LIMIT
        return Solution(t=np.array([0.0, 1.0]), y=np.ones((1, 2)), reason=reason, message="")


@pytest.mark.parametrize(
    ("late", "reasons"), [(0, [Reason.FINISHED] * 2), (1, [Reason.FINISHED] * 2), (2, [Reason.TIME_LIMIT])]
)
def test_first_late_run_gets_a_second_chance(late, reasons, monkeypatch):
    problem = SimpleNamespace(y0=np.ones(1), dae=SimpleNamespace(m=0))
    monkeypatch.setattr(trial, "load", lambda path: SimpleNamespace(problem=problem))
    own = Late(late)
    monkeypatch.setattr(trial, "solver", lambda name: own)
    sent = []
    climb(
        lambda *report: sent.append(report), ("late", "ode"), (1e-3, 1e-4), Plan("", (0.0, 1.0), (1.0,), 1.0)
    )
    assert [content.reason for kind, content in sent if kind == "run"] == reasons
