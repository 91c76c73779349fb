"""Study `second_order`: the printed values come out, what is wrong in print is shown to be wrong.

And the checks can fail.
"""

from __future__ import annotations

import numpy as np
import pytest

from herk.reproductions.published import Verdict
from herk.reproductions.second_order import circle, coefficients, controlled, raised, run, track
from herk.reproductions.second_order.study import LEAST_RATIO, figure_rows


@pytest.fixture(scope="module")
def study():
    return run(True, lambda _: None)


def test_every_claim_holds_and_no_value_is_lost(study):
    assert [text for text, holds in study.claims() if not holds] == []
    assert [row for row in study.rows if row.verdict is Verdict.LOST] == []


def test_tables_are_complete_and_all_digits_agree(study):
    for part, count in (("Table 1", 10), ("Table 2", 12)):
        assert [row.verdict for row in study.rows if row.part == part] == [Verdict.SAME] * count


def test_a_value_two_units_off_is_lost_and_one_unit_off_is_rounding():
    assert track.row("", "", 8.0303, 8.03053).verdict is Verdict.LOST
    assert track.row("", "", 8.0303, 8.03039).verdict is Verdict.ROUNDING
    assert track.row("", "", 4.0190, 4.0176, digits=4).verdict is Verdict.ROUNDING
    assert track.row("", "", 0.0012, 0.00134, digits=4).verdict is Verdict.ROUNDING
    assert track.row("", "", 0.0012, 0.00136, digits=4).verdict is Verdict.LOST


def test_changes_are_the_steps_that_reach_over_another_step_or_order():
    steps = np.array([1.0, 1.0, 1.0, 0.5, 0.5, 0.5])
    assert track.changes(steps, np.ones(6, dtype=int)).tolist() == [False, False, False, True, False, False]
    assert track.changes(np.ones(7), np.array([1, 2, 2, 2, 2, 2, 2])).tolist() == [
        False,
        True,
        True,
        True,
        False,
        False,
        False,
    ]


def test_modified_bdf_has_no_jump_in_lambda(study):
    assert [each.case for each in study.jumps] == [
        "Table 1",
        "Table 2, h = 0.005",
        "Table 2, h = 0.01",
        "Figure 2",
        "Figure 3",
    ]
    for each in study.jumps:
        assert each.ratio >= LEAST_RATIO, each.case


def test_the_reference_of_62_is_the_stored_one():
    import testset

    np.testing.assert_allclose(
        circle.reference(np.array([0.0, 0.1]))[-1], testset.get("unit_circle").reference.y, rtol=1e-13
    )


def test_runs_on_62_keep_the_constraint(study):
    for curve in study.curves:
        assert np.abs(curve.z[:, 0] ** 2 + curve.z[:, 1] ** 2 - 1).max() < 1e-13


def test_a_figure_that_says_the_opposite_is_lost(study):
    worse = [
        each
        if each.figure != 6
        else circle.Curve(6, each.method, not each.second_order, each.t, each.z, each.errors)
        for each in study.curves
    ]
    assert [row.verdict for row in figure_rows(worse, study.jumps[3:]) if row.part == "Figure 6"] == [
        Verdict.LOST
    ]


def test_figures_with_variable_steps_under_error_control(study):
    made = [row for row in study.rows if "error control" in row.case]
    assert [row.part for row in made] == [
        "Figure 3",
        "Figure 3",
        "Figure 5",
        "Figure 5",
        "Figure 7",
        "Figure 7",
    ]
    assert {row.verdict for row in made} == {Verdict.SAME}


def test_a_controlled_run_that_says_the_opposite_is_lost():
    def run(figure, second, error, ended=True):
        t = np.array([0.0, 0.05, 0.1])
        z = circle.reference(t) + error * np.array([0.0, 0.0, 0.0, 0.0, 1.0])
        return controlled.Controlled(figure, "method", second, True, t, z, ended)

    good = {3: (1e-4, 0.5), 5: (1e-4, 1.1e-4), 7: (1e-4, 3e-4)}
    bad = {3: (1e-4, 5e-4), 5: (1e-4, 9e-4), 7: (3e-4, 1e-4)}
    for figure in good:
        assert controlled._as_said(figure, *(run(figure, k == 0, e) for k, e in enumerate(good[figure])))
        assert not controlled._as_said(figure, *(run(figure, k == 0, e) for k, e in enumerate(bad[figure])))
        assert not controlled._as_said(figure, run(figure, True, 1e-4, ended=False), run(figure, False, 0.5))


def test_steps_are_controlled_by_the_printed_tolerances():
    """With an error of 1000 times the tolerance the step shrinks by the least factor.

    Without any error it doubles.
    """
    start, asked = circle.system("second_order").start[0], []

    def trial(off):
        def tried(h):
            asked.append(h)
            return start, start + (off if len(asked) == 1 else 0.0), lambda: None

        return tried

    t, _, ended = controlled.control(trial(1.0), 2, whole=True)
    assert ended
    assert asked[:3] == pytest.approx([1e-3, 2e-4, 4e-4])
    assert t[-1] == pytest.approx(0.1)


def test_the_index_is_raised_by_one_and_the_errors_after_a_change_show_it(study):
    assert [way.index for way in study.ways] == [3, 3, 4]
    assert raised.shown(study.ways)
    assert not raised.shown(study.ways[::-1][:2] + study.ways[2:])


def test_disturbances_reach_the_unknowns_of_example_1_2_by_the_derivatives_of_its_solution():
    """Solutions (3) and (5): x1 = f2, v1 = f2', x2 has the second, v2 the third derivative of f2."""
    assert raised.sensitivity(full=True) == {"x1": 0, "v1": 1, "x2": 2, "v2": 3}
    assert raised.sensitivity(full=False) == {"x1": 0, "v1": 1, "x2": 2}


def test_indices_that_are_neither_printed_nor_right_are_lost(study):
    right = {"system (2)": 3, "system (4)": 4, "only x1' introduced": 3}
    judged = [
        [row.verdict for row in raised.rows({**right, **change}, study.ways)]
        for change in ({}, {"only x1' introduced": 4})
    ]
    assert judged[0] == [Verdict.WRONG, Verdict.WRONG, Verdict.SAME, Verdict.SAME]
    assert judged[1] == [Verdict.WRONG, Verdict.WRONG, Verdict.SAME, Verdict.LOST]
    assert raised.rows({**right, "system (4)": 5}, study.ways)[1].verdict is Verdict.LOST


def test_seven_errata_are_shown_by_numbers(study):
    assert [each.where for each in study.errata if not each.holds] == []
    assert len(study.errata) == 7


def test_coefficients_are_compared_exactly():
    assert coefficients._same([["1/9", "-1/18"]], (("1/9", "-1/18"),))
    assert not coefficients._same([["1/9", "-1/18"]], (("1/9", "-1/19"),))


def test_every_figure_is_drawn(study, tmp_path):
    from herk.reproductions.second_order import figures as second_order_figures

    written = second_order_figures.draw(study, tmp_path)
    assert {path.stem for path in written} == set(second_order_figures.FIGURES)
    assert all(path.stat().st_size > 5000 for path in written)
