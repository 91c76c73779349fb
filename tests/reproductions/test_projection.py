"""The study of Schropp's paper.

Printed numbers, drift, orders and errata, and the figures drawn from them.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

import testset
from baselines.irk.families import tableau
from herk.reproductions.projection import Study, run
from herk.reproductions.projection import figures as projection_figures
from herk.reproductions.projection.counts import ORIGINAL, TABLES, TOLERANCES
from herk.reproductions.projection.drift import deviations
from herk.reproductions.projection.orders import Observed, observe, pendulum, project
from herk.reproductions.projection.study import order_row
from herk.reproductions.published import Origin, Verdict
from reports import seed_text


@pytest.fixture(scope="module")
def study() -> Study:
    return run(True, lambda _: None)


@pytest.mark.slow
def test_every_claim_of_the_study_holds(study):
    assert [text for text, holds in study.claims() if not holds] == []


@pytest.mark.slow
def test_every_printed_value_has_a_row_and_none_is_lost(study):
    counted = [row for row in study.rows if row.part.startswith("Table")]
    assert len(counted) == 2 * 2 * 2 * len(TOLERANCES)
    assert sorted(row.printed for row in counted) == sorted(
        n for table in TABLES.values() for rows in table.values() for pair in rows for n in pair
    )
    assert [row for row in study.rows if row.verdict is Verdict.LOST] == []
    assert [(row.case, row.quantity) for row in study.rows if row.verdict is Verdict.WRONG] == [
        ("radau_ia, s = 3, p = 5, q = 2", "order of u")
    ]


@pytest.mark.slow
def test_counts_lie_within_the_bands_of_the_issue(study):
    for cell in study.cells:
        band = 0.15 if cell.original else 0.25
        assert abs(cell.ours - cell.printed) <= band * cell.printed
    assert sum(cell.original for cell in study.cells) == sum(len(counts) for counts in ORIGINAL.values())


@pytest.mark.slow
def test_projection_needs_fewer_evaluations_in_every_run_of_the_tables(study):
    found = {(c.problem, c.tolerance, c.quantity, c.projected): c.ours for c in study.cells if not c.original}
    for (problem, tolerance, quantity, projected), ours in found.items():
        assert projected or found[problem, tolerance, quantity, True] < ours


@pytest.mark.slow
def test_drift_pictures_show_what_the_paper_says(study):
    for (problem, projected), drift in study.drifts.items():
        first, second, third = drift.largest
        assert third > 1e-4
        if projected:
            assert max(first, second) < 1e-13
        else:
            assert second > (1e-6 if problem == "pendulum_unit" else 1e-4)
            assert first < 1e-7


@pytest.mark.slow
def test_deviations_of_the_mechanism_are_taken_from_the_right_rows():
    """g depends on positions only, Dg f is linear in the velocities.

    The third level is linear in the accelerations.
    """
    y = testset.get("andrews").y0.copy()
    y[7:14], rng = np.arange(1.0, 8.0), np.random.default_rng(1)
    moved = [y.copy() for _ in range(3)]
    moved[0][7:] += rng.normal(size=20)
    moved[1][14:] += rng.normal(size=13)
    moved[2][21:] += rng.normal(size=6)
    before = deviations("andrews", np.zeros(1), y[:, None])
    for level in range(3):
        after = deviations("andrews", np.zeros(1), moved[level][:, None])
        np.testing.assert_allclose(after[level], before[level], rtol=1e-12, atol=1e-12)
        assert level == 2 or np.abs(after[level + 1] - before[level + 1]).max() > 1e-6


@pytest.mark.parametrize(("projected", "orders"), [(False, (5, 3, 2)), (True, (5, 5, 2))])
def test_radau_iia_has_the_orders_of_hairer_lubich_and_roche(projected, orders):
    """Index 3, s = 3: u has order 2s - 1 where HLR prove at least q + 1 = 4, v has s, lambda s - 1.

    Projected, v gains the order of u.
    """
    found = [o.order for o in observe("radau_iia", 3, projected)]
    np.testing.assert_allclose(found, orders, atol=0.1)


def test_the_projection_of_the_study_is_the_one_of_the_paper():
    system = pendulum()
    z = np.array(system.start, dtype=object) + [type(system.start[0])(x) / 1000 for x in (1, 2, 3, 4, 5)]
    u, v = (project(z)[part].astype(float) for part in (slice(0, 2), slice(2, 4)))
    assert abs(u @ u - 1) < 1e-15
    assert abs(u @ v) < 1e-15
    for before, after in ((z[:2], u), (z[2:4], v)):  # both along k_lam = -2u at the unprojected point
        change = after - before.astype(float)
        assert abs(change[0] * float(z[1]) - change[1] * float(z[0])) < 1e-15


def test_the_corrected_third_deviation_is_the_second_derivative_of_the_constraint():
    u1, u2, v1, v2, lam = sp.symbols("u1 u2 v1 v2 lam")
    flow = {u1: v1, u2: v2, v1: -2 * u1 * lam, v2: -1 - 2 * u2 * lam}

    def along(g):
        return sum(sp.diff(g, s) * rate for s, rate in flow.items())

    second = along(along(u1**2 + u2**2 - 1))
    assert sp.expand(second - (-4 * lam * (u1**2 + u2**2) - 2 * u2 + 2 * v1**2 + 2 * v2**2)) == 0


@pytest.mark.slow
def test_figures_and_text_are_written(study, tmp_path):
    files = projection_figures.draw(study, tmp_path)
    assert {path.stem for path in files} == set(projection_figures.FIGURES)
    assert all(path.stat().st_size > 5000 for path in files)
    text = seed_text.plain(study)
    assert "2966" in text
    assert "FAIL" not in text


def observed(family: str, stages: int, component: str, order: float) -> Observed:
    return Observed(tableau(family, stages), component, True, (10, 20), (1.0, 0.5**order), 0.0)


def test_orders_outside_of_theory_are_lost():
    """Without (B2) the multiplier of Gauss keeps q - 1 for R(inf) = -1 and q - 2 for +1; u and v keep q."""
    for stages, orders in ((2, {"u": 2, "v": 2, "lambda": 0}), (3, {"u": 3, "v": 3, "lambda": 2})):
        for component, order in orders.items():
            assert order_row(observed("gauss", stages, component, order)).verdict is Verdict.SAME
            assert order_row(observed("gauss", stages, component, order - 1)).verdict is Verdict.LOST
            assert order_row(observed("gauss", stages, component, order + 1)).verdict is Verdict.LOST
    assert order_row(observed("gauss", 2, "u", 2)).origin is Origin.OURS
    assert order_row(observed("radau_ia", 3, "u", 2)).verdict is Verdict.WRONG
    assert order_row(observed("radau_ia", 3, "u", 1)).verdict is Verdict.LOST  # less than (2.9) promises
    assert order_row(observed("radau_iia", 3, "v", 2)).verdict is Verdict.LOST


@pytest.mark.slow
def test_orders_are_finite_where_the_theorem_speaks(study):
    assert all(math.isfinite(o.order) for o in study.orders if o.covered)
