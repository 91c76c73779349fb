"""Generated kernels: the right one for every tableau, small systems written out, larger ones with loops."""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset
from herk.integrate.steppers.half_explicit import kernels
from herk.integrate.steppers.half_explicit.tableaus import get


def test_two_tableaus_of_one_name_get_their_own_kernels() -> None:
    problem = testset.get("academic")
    kutta = get("rk38")
    disguised = herk.Tableau(name="rk4", order=4, A=kutta.A, b=kutta.b, c=kutta.c)
    ends = [
        herk.solve_dae(problem, (0.0, 1.0), method=method, step=0.25).y[0, -1]
        for method in ("rk4", disguised, "rk38")
    ]
    assert ends[1] == ends[2]


def test_loops_and_written_out_sums_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    # Another limit changes the text but not its key: a model of its own keeps the kernels apart.
    def model(name: str) -> herk.Model:
        return herk.Model(
            name,
            ["x", "y", "z"],
            [[1, 0, 0], [0, 1, 0], [0, 0, 0]],
            ["y", "-sin(t)*z", "x**2 + y**2 - z**2"],
            parameters={name: 1.0},
            t_span=(0.2, 1.2),
            y0=[np.sin(0.2), np.cos(0.2), 1.0],
        )

    written = herk.solve_dae(model("written"), method="dop853", rtol=1e-9, atol=1e-9, consistent="trust")
    monkeypatch.setattr(kernels, "UNROLLED_STATES", 0)
    looped = herk.solve_dae(model("looped"), method="dop853", rtol=1e-9, atol=1e-9, consistent="trust")
    assert written.success
    assert written.nstep == looped.nstep
    np.testing.assert_allclose(looped.y, written.y, rtol=1e-12)


def test_time_far_from_zero_costs_no_accuracy() -> None:
    # y' = 1: what is added to y must be the step t really makes.
    dae = herk.Dae(E=np.eye(1), f=lambda t, y: np.ones(1), n=1)
    for start in (1e6, 1e10):
        sol = herk.solve_dae(dae, (start, start + 1.0), [0.0], max_step=1e-3)
        assert abs(sol.y[0, -1] - 1.0) < 1e-12
