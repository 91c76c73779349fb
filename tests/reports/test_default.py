"""The default beside its two methods: ratios of a hand calculation, and nothing where nobody gets there."""

from __future__ import annotations

import pytest

from reports import contents
from reports.sections import default
from tests.reports.conftest import sweep

FORM = "overdetermined"


def costs(problem: str, **times: float) -> list[dict]:
    """Return curves in which every error costs the same."""
    return [
        row
        for name, cost in times.items()
        for row in sweep(f"herk_{name}", FORM, 1e6, cost, 1.0, problem=problem)
    ]


def test_the_ratio_is_that_to_the_better_of_the_two():
    found = contents.sort(
        [*costs("p0", auto=3.0, dop853=2.0, radau5=8.0), *costs("p1", auto=1.0, dop853=9.0, radau5=1.0)]
    )
    table = default.lines(found.tried)
    assert len(table) == 2 * len(default.GOALS)
    assert table.loc[table["problem"] == "p0", "ratio"].tolist() == pytest.approx([1.5] * 3, rel=1e-3)
    assert table.loc[table["problem"] == "p1", "ratio"].tolist() == pytest.approx([1.0] * 3, rel=1e-3)
    [shown] = default.section(found).tables
    assert [shown.classes["ratio"](value) for value in shown.frame["ratio"]] == ["part"] * 3 + [""] * 3


def test_a_method_that_does_not_get_there_is_not_the_better_one():
    lost = [row | {"status": "failed", "reason": "newton", "mescd": None} for row in costs("p0", dop853=1.0)]
    found = contents.sort([*costs("p0", auto=2.2, radau5=2.0), *lost])
    assert default.lines(found.tried)["ratio"].tolist() == pytest.approx([1.1] * 3, rel=1e-3)


def test_records_without_the_default_have_no_table():
    assert not default.section(contents.sort(costs("p0", dop853=1.0))).tables
