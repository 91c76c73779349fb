"""save=: a few components of a run are kept, and they are those of the run that keeps all."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import herk
import testset


@pytest.mark.parametrize("options", [{}, {"t_eval": [0.0, 0.3, 2.0]}, {"method": "radau5"}, {"step": 0.01}])
def test_rows_saved_are_those_of_the_whole_run_in_the_order_asked_for(options: dict) -> None:
    pendulum = testset.get("pendulum", t_end=2.0)
    options = {"method": "dopri5"} | options
    whole = herk.solve_dae(pendulum, **options)
    few = herk.solve_dae(pendulum, save=["lam", 0], **options)
    assert (few.t == whole.t).all()
    assert (few.y == whole.y[[4, 0]]).all()
    assert few.labels == ("lam", "x")
    assert (few["x"] == whole["x"]).all()
    assert few.yp is None
    assert "2 of 5 unknowns" in few.summary()


def test_dense_output_of_saved_components_is_as_exact_as_the_run() -> None:
    pendulum, times = testset.get("pendulum", t_end=2.0), np.linspace(0.0, 2.0, 77)
    whole = herk.solve_dae(pendulum, rtol=1e-8, dense_output=True)
    few = herk.solve_dae(pendulum, rtol=1e-8, dense_output=True, save="y")
    assert np.abs(few(times) - whole(times)[1:2]).max() < 1e-6
    assert few(0.7).shape == (1,)


def test_segments_and_events_have_the_rows_saved() -> None:
    def ground(t: float, y: np.ndarray) -> float:
        return float(y[0])

    ground.direction, ground.reset = -1, lambda t, y: [0.0, -y[1], y[2]]
    ball = herk.Model("ball", ["x", "v", "a"], np.diag([1, 1, 0]).tolist(), ["v", "a", "a + 10"],
                      t_span=(0, 2), y0=(1, 0, -10))  # fmt: skip
    sol = herk.solve_dae(ball, events=ground, save=["v"], dense_output=True, t_eval=[0.0, 0.5, 1.9])
    hit = np.sqrt(0.2)  # it falls from 1 with 10, and rises as fast as it came
    assert np.allclose(sol.t_events[0][:2], [hit, 3 * hit])
    assert sol.y_events[0].shape[1] == 1
    assert np.allclose(sol["v"], [0.0, 10 * hit - 10 * (0.5 - hit), 10 * hit - 10 * (1.9 - 3 * hit)])
    assert np.allclose(sol(0.5), sol["v"][1])


def test_components_without_names_keep_their_numbers() -> None:
    dae = herk.Dae(E=np.eye(9), f=lambda t, y: -np.arange(9) * y, n=9)
    sol = herk.solve_dae(dae, (0, 1), np.ones(9), save=[7, 2])
    assert sol.labels == ("y7", "y2")
    assert np.allclose(sol.y[:, -1], np.exp([-7, -2]), rtol=1e-5)


def test_memory_is_that_of_the_components_saved() -> None:
    n, steps = 60, 40_000
    dae = herk.Dae(E=np.eye(n), f=lambda t, y: -y, n=n)
    herk.solve_dae(dae, (0, 1), np.ones(n), method="rk4", step=0.5, save=[3])
    tracemalloc.start()
    sol = herk.solve_dae(dae, (0, 1), np.ones(n), method="rk4", step=1.0 / steps, save=[3])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sol.y.shape == (1, steps + 1)
    assert peak < 0.5 * 8 * n * steps
