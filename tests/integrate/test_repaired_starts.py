"""consistent="project" with a machine that serves again: the start moves as little as it must, nothing is made anew."""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset
from herk.integrate import kept

OPTIONS = {"method": "dopri5", "consistent": "project"}


@pytest.fixture
def fresh(monkeypatch) -> list[object]:
    """Return the requests for which a machine was made and checked from scratch."""
    made: list[object] = []
    begin = kept.started
    monkeypatch.setattr(kept, "started", lambda asked: made.append(asked) or begin(asked))
    kept._kept.clear()
    return made


def test_the_current_of_the_circuit_follows_its_frequency_without_a_new_machine(fresh) -> None:
    model = testset.get("cv_circuit", t_end=0.1).model
    for omega in (100.0, 90.0, 110.0, 120.0):
        sol = herk.solve_dae(model, parameters={"omega": omega}, **OPTIONS)
        exact = testset.get("cv_circuit", t_end=0.1, omega=omega).reference
        assert sol.y[:, 0] == pytest.approx([0, 0, 0, 0, -omega / 2], rel=1e-14, abs=1e-14)
        assert sol.y[:, -1] == pytest.approx(exact.y, rel=1e-4, abs=1e-5)
    assert len(fresh) == 1


def test_multipliers_of_the_mechanism_follow_its_torque_without_a_new_machine(fresh) -> None:
    model = testset.get("andrews").model.with_span(0.002)
    for factor in (1.0, 0.9, 1.1):
        values = {"mom": 0.033 * factor}
        sol = herk.solve_dae(model, parameters=values, **OPTIONS)
        assert np.array_equal(sol.y[7:14, 0], np.zeros(7))  # what was given and fits does not move
        at_start = model.with_parameters(**values).form("overdetermined").g(0.0, sol.y[:, 0])
        assert np.abs(at_start).max() < 1e-12
    assert len(fresh) == 1


def test_positions_move_where_the_multiplier_is_not_enough(fresh) -> None:
    model = testset.get("pendulum", t_end=0.5).model
    for x, y in ((1.0, 0.0), (0.8, 0.7), (0.6, 0.9)):
        sol = herk.solve_dae(model, y0=[x, y, 0.1, 0.0, 7.0], **OPTIONS)
        assert np.array_equal(sol.y[:, 0], herk.consistent_start(model, 0.0, [x, y, 0.1, 0.0, 7.0]))
        assert abs(sol.y[0, 0] ** 2 + sol.y[1, 0] ** 2 - 1) < 4e-16
        assert sol.residual < 1e-13
    assert len(fresh) == 1


def test_a_start_that_fits_stays_to_the_last_bit() -> None:
    model = testset.get("pendulum", t_end=0.5).model
    start = herk.consistent_start(model, 0.0, [0.6, -0.8, 0.4, 0.3, None])
    kept._kept.clear()
    for _ in range(3):
        assert np.array_equal(herk.solve_dae(model, y0=start, **OPTIONS).y[:, 0], start)


@pytest.mark.parametrize(
    "y0", [[0.8, 0.7, 0.1, 0.0, 7.0], [0.6, -0.8, 0.4, 0.3, 1.0], [0.6, -0.8, 0.4, 0.3, None]]
)
def test_the_points_do_not_depend_on_what_was_solved_before(y0) -> None:
    model, other = testset.get("pendulum", t_end=0.5).model, [-1.0, 0.0, 0.0, 0.0, None]
    kept._kept.clear()
    alone = herk.solve_dae(model, y0=y0, **OPTIONS)
    herk.solve_dae(model, y0=other, method="dopri5")
    after = herk.solve_dae(model, y0=y0, **OPTIONS)
    prepared = herk.prepare(model, y0=other, **OPTIONS).solve(y0=y0)
    for sol in (after, prepared):
        assert np.array_equal(sol.y, alone.y)
        assert sol.stats == alone.stats


def test_starts_with_open_values_give_the_same_bits_the_first_and_every_other_time() -> None:
    for angle in np.linspace(0.1, 2.8, 12):
        c, s = np.cos(angle), np.sin(angle)
        model = testset.get("pendulum", t_end=0.5).model.with_start([s, -c, c, s, None])
        kept._kept.clear()
        first, second = (herk.solve_dae(model, method="dopri5") for _ in range(2))
        assert np.array_equal(first.y, second.y)
        assert first.stats == second.stats


def test_where_a_radau_run_was_made_it_begins_again_without_a_new_machine(fresh) -> None:
    model = testset.get("pendulum", t_end=0.5).model.with_start([0.6, -0.8, 0.4, 0.3, None])
    first = herk.solve_dae(model, method="radau5")
    shorter = herk.solve_dae(model, (0.0, 0.4), method="radau5")
    again = herk.solve_dae(model, method="radau5")
    assert len(fresh) == 1
    assert shorter.t[-1] == 0.4
    assert np.array_equal(again.y, first.y)
    other = herk.solve_dae(model, parameters={"g": 5.0}, method="radau5")  # the multiplier is another one
    assert len(fresh) == 1
    assert np.abs(model.with_parameters(g=5.0).form("overdetermined").g(0.0, other.y[:, 0])).max() < 1e-14


def test_a_prepared_run_repairs_starts_for_other_values(fresh) -> None:
    model = testset.get("cv_circuit", t_end=0.1).model
    ready = herk.prepare(model, **OPTIONS)
    for omega in (90.0, 120.0):
        assert ready.solve(parameters={"omega": omega}).y[4, 0] == pytest.approx(-omega / 2, rel=1e-14)
    assert len(fresh) == 1
