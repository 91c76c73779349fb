"""The section on the test set.

Who reaches six digits, and for those who do not the reason with the numbers that show it.
"""

from __future__ import annotations

import pytest

from herk.bench import record
from reports import contents, reasons
from reports.sections import reached
from tests.reports.conftest import run

STIFF = {"problem": "robertson", "t_end": 1e11}
IMPLICIT = {"solver": "radau5", "form": "index1"}
STOPPED = {
    "status": "failed",
    "reason": "max_steps",
    "message": "max_steps = 100000 steps were made",
    "nstep": 100_000,
    "t_reached": 165.9,
}


def problem(name, *tags, **fields):
    return record.make(
        "problem", problem=name, changes="{}", tags=list(tags), **{"reference_digits": 14.0, **fields}
    )


def solver(name, family, *tags):
    return record.make("solver", solver=name, version="1", family=family, tags=list(tags))


SOLVERS = [
    solver("herk_dop853", "herk", "explicit"),
    solver("radau5", "irk", "implicit"),
    solver("scipy_lsoda", "scipy", "implicit"),
]


def section(*rows):
    return reached.section(contents.sort([*SOLVERS, *rows]))


def row(table, name):
    return table.frame.set_index("problem").loc[name]


def test_a_problem_counts_when_two_families_have_six_digits():
    found = section(
        problem("a"),
        problem("b"),
        problem("c"),
        run(problem="a", rtol=1e-6, mescd=6.0),
        run(problem="a", rtol=1e-8, mescd=8.0),
        run(problem="a", rtol=1e-8, mescd=7.0, **IMPLICIT),
        run(problem="b", rtol=1e-8, mescd=9.0),
        run(problem="b", rtol=1e-8, mescd=5.9, **IMPLICIT),
    )
    assert (
        str(found.verdicts[0])
        == "1 of 2 problems that were run are reached to 6 digits by at least two families; the others: b"
        " (one); 1 more is not run."
    )
    assert reached.COMMAND in found.words
    table = found.tables[0]
    assert row(table, "a")[["herk", "irk", reached.COUNT, "note"]].tolist() == [
        "8.0 herk_dop853",
        "7.0 radau5 · index1",
        2,
        "",
    ]
    assert row(table, "c")[["herk", "irk", reached.COUNT, "note"]].tolist() == ["–", "–", 0, "not run"]
    looks = {cells[0][0]: [look for _, look in cells] for cells in table.cells()}
    assert [look.split()[-1] for look in looks["b"][1:3]] == ["good", "part"]


def test_two_solvers_of_one_family_are_one():
    rows = [
        run(problem="a", rtol=1e-8, mescd=8.0),
        run(problem="a", rtol=1e-8, mescd=8.0, solver="herk_dopri5"),
    ]
    assert (
        row(section(problem("a"), *rows, solver("herk_dopri5", "herk", "explicit")).tables[0], "a")[
            reached.COUNT
        ]
        == 1
    )


def test_a_run_that_fails_or_is_of_a_changed_problem_does_not_count():
    rows = [
        run(problem="a", rtol=1e-8, mescd=8.0, changes='{"t_end":1.0}'),
        run(problem="a", rtol=1e-8, mescd=8.0, status="failed", reason="time_limit"),
        run(problem="a", rtol=1e-8, mescd=8.0, **IMPLICIT, status="unavailable"),
    ]
    found = section(problem("a"), *rows)
    assert str(found.verdicts[0]).startswith("0 of 1 problem ")
    assert row(found.tables[0], "a")["note"] == "stopped by our limit"


def test_groups_with_six_digits_are_named_where_not_all_components_have_them():
    scores = {"mescd": 4.7, "mescd.positions": 13.1, "mescd.velocities": 5.0}
    assert (
        row(section(problem("a"), run(problem="a", rtol=1e-10, **scores)).tables[0], "a")["herk"]
        == "4.7 herk_dop853; positions 13.1"
    )


def test_groups_that_two_families_reach_are_named_beside_the_problem():
    scores = {"mescd": 4.7, "mescd.positions": 7.0, "mescd.velocities": 5.0}
    rows = [
        run(problem="a", rtol=1e-10, **scores),
        run(problem="a", rtol=1e-10, **IMPLICIT, **{**scores, "mescd.velocities": 8.0}),
    ]
    assert (
        row(section(problem("a"), *rows).tables[0], "a")["note"]
        == "4.7 digits at most; positions by 2 families"
    )


def test_steps_at_the_bound_of_stability_are_a_row_with_the_measured_product():
    found = section(
        problem("robertson", "stiff"), run(**STIFF, rtol=1e-6, h_lambda=3.1, h_lambda_bound=3.3, **STOPPED),
        run(**STIFF, **IMPLICIT, rtol=1e-6, mescd=8.83, nstep=193, cpu_min=1e-3),
    )  # fmt: skip
    [line] = found.tables[1].frame.to_dict("records")
    assert (line["problem"], line["family"], line["reason"]) == ("robertson", "herk", reasons.STIFF)
    assert (
        line["evidence"]
        == "herk_dop853 at rtol = 1e-6: step times eigenvalue 3.1, bound 3.3; 100,000 steps to t = 170 of"
        " 1e+11 (stopped by our limit)."
    )
    assert "Stability limits the steps of explicit methods on robertson" in str(found.verdicts[1])


@pytest.mark.parametrize("measured", [{}, {"h_lambda": 0.3, "h_lambda_bound": 3.3}])
def test_a_time_out_on_a_problem_tagged_stiff_does_not_prove_it_stiff(measured):
    rows = [
        run(**STIFF, rtol=1e-6, **measured, **STOPPED),
        run(**STIFF, **IMPLICIT, rtol=1e-6, mescd=7.0, nstep=9),
    ]
    found = section(problem("robertson", "stiff"), *rows)
    assert found.tables[1].frame["reason"].tolist() == ["stopped by our limit"]
    assert "No explicit run has steps at its bound of stability" in str(found.verdicts[1])


def test_every_family_short_of_its_digits_has_a_reason_and_the_evidence():
    late = {"status": "failed", "reason": "time_limit", "t_end": 10.0}
    refused = {"status": "unsupported", "reason": "unsupported"}
    found = section(
        problem("wheel", "discontinuous"),
        problem("printed", "contradictory", reference_digits=None),
        problem("open", reference_digits=None),
        run(problem="wheel", rtol=1e-6, message="Too late.", t_reached=4.0, **late),
        run(problem="wheel", rtol=1e-8, message="Not run: a cheaper setting ran out of time.", **late),
        run(problem="wheel", rtol=1e-6, mescd=3.0, **IMPLICIT),
        run(problem="wheel", solver="scipy_lsoda", form="ode", **refused, message="There is no such form."),
        run(problem="printed", **refused, message="Row 0 of g contradicts E y' = f."),
        run(problem="open", rtol=1e-6),
    )
    told = {
        (line.problem, line.family): (line.reason, line.evidence)
        for line in found.tables[1].frame.itertuples()
    }
    assert told == {
        ("wheel", "herk"): ("discontinuous", "2 of 2 runs stopped by our limit (reached t = 4 of 10)"),
        ("wheel", "irk"): ("discontinuous", "3.0 digits by radau5 · index1 at rtol = 1e-6"),
        ("wheel", "scipy"): (reasons.NOT_OFFERED, "There is no such form."),
        ("printed", "herk"): ("contradictory", "Row 0 of g contradicts E y' = f."),
        ("open", "herk"): ("no reference", "1 of 1 runs reach the end; there is nothing to compare with"),
    }
    notes = found.tables[0].frame.set_index("problem")["note"].to_dict()
    assert notes["printed"] == "the equations contradict each other: there is no solution"
    assert notes["open"] == "no reference"
    assert notes["wheel"] == "3.0 digits here; others stopped by our limit"


def test_records_without_problems_and_runs_say_so():
    assert "no records of problems" in str(section().verdicts[0])
    assert "no runs with tolerances" in str(section(problem("a")).verdicts[0])
