"""Two record sets: what got worse is a regression, what scatters or was not run is not."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herk.bench import record
from herk.bench.store import NAME, Store
from herk.core import HerkError, InputError
from reports.compare import compare

SWEEP = [10.0 ** (-3 - k / 4) for k in range(16)]
SAME = {"machine": "same", "cores": 2, "os": "same"}


def sweep(
    herk: str = "1",
    error=lambda rtol: 10 * rtol,
    seconds: float = 1e-2,
    status: str = "ok",
    solver: str = "herk_dop853",
    **fields,
):
    good = status == "ok"
    return [
        record.make(
            "run",
            study="work_precision",
            problem="pendulum",
            changes="{}",
            form="overdetermined",
            solver=solver,
            solver_version=herk,
            rtol=rtol,
            atol=rtol,
            step=None,
            options="{}",
            herk=herk,
            status=status,
            reason="finished" if good else "newton",
            message="",
            error_end=error(rtol) if good else None,
            cpu_min=seconds if good else None,
            **{**SAME, **fields},
        )
        for rtol in SWEEP
    ]


def steps(order: float, herk: str):
    return [
        record.make(
            "run",
            study="convergence",
            problem="pendulum",
            changes="{}",
            form="overdetermined",
            solver="herk_rk4",
            solver_version=herk,
            rtol=None,
            atol=None,
            step=0.1 / 2**k,
            options="{}",
            herk=herk,
            status="ok",
            error_end=1e-3 * 2.0 ** (-order * k),
            **SAME,
        )
        for k in range(5)
    ]


def claims(herk: str, **holds: bool):
    date = record.now()  # what a study claims is written at once
    common = {"study": "thesis", "evidence": "", "herk": herk, "date": date, **SAME}
    return [record.make("claim", text=text, holds=value, **common) for text, value in holds.items()]


@pytest.fixture
def compared(tmp_path: Path):
    def compare_records(old, new):
        for name, records in (("old", old), ("new", new)):
            Store(tmp_path / name / NAME).append(records)
        return compare(tmp_path / "old", tmp_path / "new" / NAME)  # a folder and a file

    return compare_records


def test_equal_records_of_another_version_are_no_regression(compared):
    found = compared(sweep("1"), sweep("2"))
    assert found.changes == ()
    assert not found.regression
    assert "16 runs are in both, on 1 sweeps" in found.text
    assert found.text.endswith("No regression.")


def test_newly_failing_runs_are_a_regression_and_newly_solved_ones_are_not(compared):
    found = compared(
        [*sweep("1"), *sweep("1", status="failed", solver="b")],
        [*sweep("2", status="failed"), *sweep("2", solver="b")],
    )
    assert [(change.kind, change.worse) for change in found.changes] == [
        ("fails now", True),
        ("solved now", False),
    ]
    assert "newton" in found.text
    assert found.regression


def test_accuracy_is_judged_by_medians_of_a_decade(compared):
    lucky = SWEEP[5]
    found = compared(sweep("1"), sweep("2", error=lambda rtol: rtol * (1e4 if rtol == lucky else 10)))
    assert not found.regression, "one run that scatters is no regression"


def test_accuracy_lost_in_one_decade_is_found_there(compared):
    found = compared(sweep("1"), sweep("2", error=lambda rtol: rtol * (10 if rtol > 5e-6 else 400)))
    assert found.regression
    assert {change.kind for change in found.changes} == {"accuracy"}
    assert "rtol about 1e-6: errors are 40 times as large (median of" in found.text
    assert "1e-4" not in found.text


def test_errors_at_rounding_are_not_compared(compared):
    assert not compared(sweep("1", error=lambda _: 1e-16), sweep("2", error=lambda _: 9e-14)).changes


def test_slower_by_half_is_a_regression_on_the_same_machine_only(compared):
    found = compared(sweep("1"), sweep("2", seconds=1.6e-2))
    assert found.regression
    assert "takes 1.6 times as long" in found.text


def test_times_of_different_machines_are_not_compared(compared):
    found = compared(sweep("1"), sweep("2", seconds=1.0, machine="other"))
    assert not found.regression
    assert "The machines differ: times are not compared." in found.text


def test_faster_is_said_but_no_regression(compared):
    found = compared(sweep("1"), sweep("2", seconds=2e-3))
    assert [(change.kind, change.worse) for change in found.changes] == [("time", False)]


def test_order_that_drops_is_a_regression(compared):
    found = compared(steps(4.0, "1"), steps(3.0, "2"))
    assert "observed order 4.00 before, 3.00 now" in found.text
    assert found.regression


def test_claims_that_turn_false_or_are_born_false_are_regressions(compared):
    found = compared(claims("1", a=True, b=False, c=True), claims("2", a=False, b=True, d=False, e=True))
    assert [(change.text[8], change.worse) for change in found.changes] == [
        ("a", True),
        ("b", False),
        ("d", True),
    ]


def test_missing_and_new_runs_are_told_apart_from_regressions(compared):
    found = compared([*sweep("1"), *sweep("1", solver="gone")], [*sweep("2"), *sweep("2", solver="come")])
    assert [(change.kind, change.worse) for change in found.changes] == [("missing", False), ("new", False)]
    assert "gone on pendulum/overdetermined: 16 runs" in found.text


BAD = {
    "date": [5, None, [], {}],
    "rtol": ["fast", [1e-3], 0, -1e-3, {}, "1e999"],
    "step": ["x", 0, [0.1]],
    "problem": [None, 1, []],
    "solver": [{}, 3],
    "form": [None],
    "study": [[], 0],
    "error_end": ["small", [1.0], "1e999", 10**400],
    "cpu_min": ["quick", {}],
    "machine": [["a"], {}],
    "cores": [[2]],
    "os": [{}],
    "options": [[1]],
    "changes": [{"a": 1}],
    "message": [7, "\ud800"],
    "status": ["fine", None, []],
    "kind": [[], "unheard", None],
    "atol": ["x", {}, [[1e-3]]],
    "drift.all": ["x"],
    "schema": ["1", None],
}


@pytest.mark.parametrize("name", BAD)
def test_records_with_fields_of_a_wrong_kind_are_refused_with_the_line_and_the_reason(name, tmp_path):
    good = sweep("1")
    for folder in ("old", "new"):
        Store(tmp_path / folder / NAME).append(good)
    for value in BAD[name]:
        wrong = {**good[0], name: value}
        with contextlib.suppress(ValueError, TypeError):  # the key of what can have one fits
            wrong["key"] = record.key(wrong["kind"], wrong)
        text = json.dumps(wrong).replace('"1e999"', "1e999")
        (tmp_path / "new" / NAME).write_text(f"{record.line(good[1])}\n{text}\n")
        with pytest.raises(HerkError, match="line 2, is not a record of this bench") as caught:
            compare(tmp_path / "old", tmp_path / "new")
        assert "left as it is" in str(caught.value)


@given(
    line=st.dictionaries(
        st.sampled_from(sorted(sweep()[0])), st.none() | st.integers() | st.text() | st.lists(st.floats())
    )
)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_whatever_a_line_says_it_is_a_record_or_a_sentence(line):
    changed = {**sweep()[0], **line}
    with contextlib.suppress(ValueError, TypeError):
        changed["key"] = record.key("run", sweep()[0] | line)
    with contextlib.suppress(record.RecordError):
        assert record.parse(json.dumps(changed)) == changed


def test_claims_must_hold_or_not(tmp_path):
    [claim] = claims("1", a=True)
    for folder, value in (("old", True), ("new", "perhaps")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / NAME).write_text(json.dumps({**claim, "holds": value}) + "\n")
    with pytest.raises(HerkError, match="A claim holds or not"):
        compare(tmp_path / "old", tmp_path / "new")


def test_messages_cannot_command_the_terminal(compared):
    found = compared(
        sweep("1"), [{**rec, "status": "failed", "message": "\x1b[2Jgone\x07\r"} for rec in sweep("2")]
    )
    assert "\\x1b[2Jgone" in found.text
    assert all(c.isprintable() or c == "\n" for c in found.text)


def test_place_without_records_is_said(tmp_path):
    with pytest.raises(InputError, match="There are no records at"):
        compare(tmp_path, tmp_path)


def test_records_that_share_nothing_are_not_called_sound(compared):
    found = compared(sweep("1"), sweep("2", solver="scipy_radau"))
    assert found.common == 0
    assert "nothing to compare" in found.text
    assert "No regression" not in found.text


def test_claims_alone_can_be_compared(compared):
    found = compared(claims("1", order=True), claims("2", order=True))
    assert found.common == 1
    assert "No regression." in found.text
