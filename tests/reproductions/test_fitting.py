"""The study of fits: both ways find the same, rows and claims say so, the figure is drawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from herk.reproductions import documents
from herk.reproductions.fitting import study as fitting_study
from herk.reproductions.published import Verdict


@pytest.fixture(scope="module")
def case() -> fitting_study.Compared:
    return fitting_study.compared(fitting_study.akzo(), 2)


def test_exact_derivatives_and_differences_find_the_same_values(case: fitting_study.Compared) -> None:
    assert case.agree
    assert case.trials[0] < case.trials[1]
    assert not replace(case, values=(case.values[0], case.values[1] + case.errors)).agree


def test_the_truth_is_near_beside_the_standard_errors(case: fitting_study.Compared) -> None:
    truth = np.array(list(fitting_study.akzo().truth.values()))
    assert (np.abs(case.values[0] - truth) < 4 * case.errors).all()


def test_rows_claims_and_figure_follow_from_the_numbers(case: fitting_study.Compared, tmp_path: Path) -> None:
    from herk.reproductions.fitting import figures as fitting_figures

    slow = replace(case, seconds=(2.0, 1.0), held=dict.fromkeys(case.held, 0))
    assert {row.verdict for row in fitting_study.rows_of(slow)} >= {Verdict.LOST}
    study = fitting_study.Study([slow], fitting_study.rows_of(slow))
    assert [holds for _, holds in study.claims()] == [True, False, False]
    written = fitting_figures.draw(study, tmp_path)
    assert {path.stem for path in written} == set(fitting_figures.FIGURES)
    assert "fitting" in documents.NAMES
