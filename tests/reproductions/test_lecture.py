"""The lecture: its tables are those printed, the systems are what they claim, orders are read by the rule.

And the study holds.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import testset
from baselines.irk.families import tableau
from baselines.irk.hessenberg import DIGITS, march
from herk.reproductions import lecture
from herk.reproductions.lecture import conditions, orders, pictures, printed, small, systems
from herk.reproductions.lecture import figures as lecture_figures
from herk.reproductions.lecture.orders import Measured, Slopes
from herk.reproductions.published import Verdict
from reports import seed_text

CELLS = [
    (family, s, index, group)
    for family in printed.FAMILIES
    for s in printed.STAGES
    for index in range(4)
    for group in printed.COMPONENTS[index]
]


@pytest.fixture(scope="module")
def study():
    return lecture.run(quick=True)


def row(study, case: str, quantity: str):
    [found] = [
        row
        for row in study.rows
        if row.part.startswith("Orders") and row.case == case and row.quantity == quantity
    ]
    return found


def test_the_tables_have_96_orders_for_two_three_and_four_stages():
    assert sum(printed.order(*cell) is not None for cell in CELLS) == 96
    assert [printed.order("gauss", s, 1, "z") for s in (2, 3, 4)] == [3, 3, 5]
    assert [printed.order("gauss", s, 2, "z") for s in (2, 3, 4)] == [0, 2, 2]
    assert [printed.order("lobatto_iiia", s, 2, "z") for s in (2, 3, 4)] == [2, 2, 4]
    assert [printed.order("lobatto_iiic", s, 3, "y") for s in (2, 3, 4)] == [None, 3, 4]
    assert [printed.order("radau_iia", 4, 3, group) for group in "xyz"] == [7, 4, 3]
    assert printed.order("gauss", 3, 3, "z") is None


@pytest.mark.parametrize(
    "case", [*systems.OWN.values(), systems.NONLINEAR], ids=lambda case: case.system.name
)
def test_exponentials_solve_their_systems(case):
    system = case.system
    with localcontext() as context:
        context.prec = DIGITS
        for k in (0, 50, 128):
            z = case.truth()[k]
            rates = [
                value * rate for value, rate in zip(z, system.slope, strict=True)
            ]  # z = exp(rate t), rates are slopes at 0
            right = system.right(*z)
            assert (
                max(abs(a - b) for a, b in zip(right, rates[: system.differential], strict=False))
                < Decimal(10) ** -45
            )
            assert all(abs(value) < Decimal(10) ** -45 for value in right[system.differential :])


@pytest.mark.parametrize("index", [1, 2, 3])
def test_the_pendulum_in_decimals_is_that_of_the_test_set(index):
    form, system = testset.get("pendulum_3d").model.form(f"index{index}"), systems.pendulum_system(index)
    np.testing.assert_allclose([float(v) for v in system.start], testset.get("pendulum_3d").y0, rtol=1e-15)
    point = np.array([0.3, -0.2, 0.7, 1.1, -0.4, 0.6, 2.5])
    ours, theirs = np.array(system.right(*map(Decimal, point)), dtype=float), form.f(0.0, point)
    np.testing.assert_allclose(ours[:6], theirs[:6], rtol=1e-14)
    factor = theirs[6] / ours[6]  # derivatives of q.q - 1 have factors of 2
    assert any(factor == pytest.approx(value, rel=1e-12) for value in (1.0, 2.0, -1.0, -2.0))
    np.testing.assert_allclose([float(v) for v in system.slope], form.start()[1], atol=1e-13)


def test_the_reference_of_the_pendulum_agrees_with_the_stored_one_in_23_digits():
    end = march(systems.pendulum_system(0), tableau("gauss", 10), 10.0, 250)[-1]
    stored = [
        "-3.72069119627212807102155e-1",
        "2.80221765195527380785386e-1",
        "-8.84895661945821454901872e-1",
        "-1.46417674119098529998694",
        "-1.31616891376494283825137",
        "1.98843527355490901502417e-1",
    ]
    assert max(abs(a - Decimal(b)) for a, b in zip(end, stored, strict=True)) < Decimal("2e-23")
    np.testing.assert_allclose(end.astype(float), testset.get("pendulum_3d").reference.y[:6], rtol=1e-14)


def test_the_order_is_the_slope_and_the_smaller_of_two():
    exact = Slopes((8, 16, 32), {"x": tuple(3.0 * n**-2.5 for n in (8, 16, 32))})
    steeper = Slopes((8, 16, 32), {"x": tuple(float(n) ** -4 for n in (8, 16, 32))})
    assert exact.order("x") == pytest.approx(2.5, rel=1e-12)
    assert Measured(steeper, exact).order("x") == pytest.approx(2.5, rel=1e-12)
    assert Measured(Slopes((8,), None), exact).order("x") == pytest.approx(2.5, rel=1e-12)
    assert Measured(Slopes((8,), None), Slopes((8,), None)).order("x") is None


def test_verdicts_need_both_measurement_and_theory():
    made = {"x": tuple(float(n) ** -3.5 for n in (8, 16)), "z": tuple(float(n) ** -2 for n in (8, 16))}
    found = {(1, "gauss", 2): Measured(Slopes((8, 16), made), Slopes((8, 16), made))}
    x, z = orders.rows(found)
    assert (x.printed, x.verdict) == (4, Verdict.LOST)  # 3.5 is neither 4 nor 3
    assert (z.printed, z.verdict) == (3, Verdict.WRONG)  # theory says 2


def test_gauss_with_two_stages_diverges_in_the_multiplier_of_index_3():
    found = orders.slopes(systems.PENDULUM[3], "gauss", 2, (8, 16, 32))
    assert [found.order(group) for group in "xyz"] == pytest.approx([2, 0, -2], abs=0.1)
    broken = orders.slopes(systems.OWN[3], "gauss", 2, (16,))
    assert broken.errors is None


@pytest.mark.parametrize("index", [1, 2, 3])
def test_condition_numbers_grow_with_the_index(index):
    found = conditions.growth(index)
    assert found.exponent("alike") == pytest.approx(index, abs=0.05)
    assert found.exponent("slides") == pytest.approx(index - 1, abs=0.05)


@pytest.mark.parametrize(
    ("index", "exponent", "verdict"),
    [
        (1, 1.0, Verdict.SAME),
        (2, 2.05, Verdict.SAME),
        (1, 0.0, Verdict.WRONG),
        (2, 1.0, Verdict.WRONG),
        (3, 2.0, Verdict.WRONG),
        (2, 1.5, Verdict.LOST),
        (3, 1.0, Verdict.LOST),
        (3, 4.0, Verdict.LOST),
    ],
)
def test_the_printed_condition_is_judged_by_the_unknowns_of_the_lecture(index, exponent, verdict):
    assert conditions.judge(index, exponent) is verdict
    steps = conditions.STEPS
    grown, other = tuple(h**-exponent for h in steps), tuple(h**-index for h in steps)
    assert conditions._slides_row(conditions.Growth(index, other, grown, other)).verdict is verdict


def test_small_examples_have_the_index_and_the_solution_of_the_lecture():
    assert [(row.case, row.verdict) for row in small.rows() if row.verdict is not Verdict.SAME] == []


def test_a_small_example_with_another_index_constraint_or_solution_is_lost():
    easy = small.CASES[0]
    for change in ({"index": 2}, {"constraints": ("x*z + 2",)}, {"constraints": ()}, {"end": (0.65, -1.2)}):
        assert small.row(replace(easy, **change)).verdict is Verdict.LOST
    regular = replace(small.SINGULAR, start=(1.0, 0.75))
    assert small.singular_row(regular).verdict is Verdict.LOST


def test_baumgarte_decay_solves_its_equation():
    # (g0 + (g1 + 2 g0) t) e^-2t at t = 1/2 with g0 = 1, g1 = -1: 3/2 e^-1
    assert pictures.decay(np.array([0.5]), 1.0, -1.0)[0] == pytest.approx(
        float(Fraction(3, 2)) * np.exp(-1.0), rel=1e-15
    )


@pytest.mark.slow
def test_every_claim_of_the_quick_study_holds(study):
    assert len(study.claims()) == 8
    assert [text for text, holds in study.claims() if not holds] == []
    assert all(erratum.holds for erratum in study.errata)


@pytest.mark.slow
def test_rows_say_what_is_wrong_in_print(study):
    wrong = {
        (r.case, r.quantity) for r in study.rows if r.part.startswith("Orders") and r.verdict is Verdict.WRONG
    }
    assert wrong == {
        ("index 1, Gauss-Legendre, n_s = 2", "order of z"),
        ("index 1, Gauss-Legendre, n_s = 3", "order of z"),
        *{("index 3, Lobatto IIIC, n_s = 3", f"order of {group}") for group in "xyz"},
    }
    assert "exchanged" in row(study, "index 1, Gauss-Legendre, n_s = 3", "order of z").why
    assert "singular" in row(study, "index 3, Lobatto IIIA, n_s = 2", "order of z").why
    assert row(study, "index 3, Gauss-Legendre, n_s = 2", "order of z").ours.startswith("-2.0")


@pytest.mark.slow
def test_report_and_every_figure_are_written(study, tmp_path):
    text = seed_text.write(study, tmp_path, lecture_figures.FIGURES)[0].read_text()
    assert "wrong in print" in text
    drawn = lecture_figures.draw(study, tmp_path)
    assert {path.stem for path in drawn} == set(lecture_figures.FIGURES)
    assert {path.suffix for path in drawn} == {".svg", ".png"}
    assert all(path.stat().st_size > 5000 for path in drawn)
