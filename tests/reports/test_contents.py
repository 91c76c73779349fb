"""Records sorted by kind."""

from __future__ import annotations

import pytest

from herk.bench import store
from reports import contents
from reports.sections import documents
from tests.reports.conftest import HOSTILE, run


def test_every_kind_finds_its_place(found):
    assert set(found.solvers) >= {"herk_dop853", "scipy_lsoda"}
    assert ("pendulum", "{}") in found.problems
    assert set(found.documents["thesis"]) == {"published", "erratum", "claim", "figure"}
    assert found.ours == {"herk_dop853", "herk_dopri5", "herk_rk4", "herk_heun"}


def test_runs_are_told_apart_by_what_they_were_asked_for(found):
    assert found.sweeps["rtol"].notna().all()
    assert set(found.fixed["study"]) == {"convergence"}
    assert set(found.drifts["study"]) == {"drift"}


def test_the_newest_of_runs_that_differ_only_in_versions_counts():
    rows = [
        run(rtol=1e-4, herk="0.2", date="2026-02-01", mescd=5.0),
        run(rtol=1e-4, herk="0.1", date="2026-01-01", mescd=1.0),
    ]
    assert contents.sort(rows).runs["mescd"].tolist() == [5.0]


def test_the_order_of_records_does_not_change_the_table(records):
    straight, turned = (contents.sort(each).runs.drop(columns="date") for each in (records, records[::-1]))
    assert straight.equals(turned[straight.columns])


def test_a_family_unknown_to_the_records_is_read_from_the_name():
    assert contents.sort([run(solver="ida_new", rtol=1e-4)]).family("ida_new") == "ida"


def test_a_curve_names_the_form_where_it_matters_and_options_where_runs_differ_in_them():
    rows = [
        run(rtol=1e-4),
        run(rtol=1e-4, form="ode", options='{"k":1}'),
        *(run(rtol=1e-4, solver="b", options=each) for each in ("{}", '{"k":2}')),
    ]
    assert set(contents.sort(rows).runs["curve"]) == {
        "herk_dop853",
        "herk_dop853 · ode",
        "b · {}",
        'b · {"k":2}',
    }


def test_a_case_names_what_was_changed():
    assert contents.case("pendulum", "{}") == "pendulum"
    assert contents.case("pendulum", '{"t_end":20.0}') == "pendulum, t_end = 20.0"
    assert contents.case("pendulum", "not json") == "pendulum not json"


def test_the_floor_is_the_last_digit_of_the_reference_in_units_of_its_largest_component(found):
    """The reference is (-1, 0.5, 0.25, 2, 3) to 14 digits."""
    assert found.floor("pendulum") == pytest.approx(3e-14)
    assert found.floor("pendulum", group="positions") == pytest.approx(1e-14)
    assert found.floor("unknown") is None


def test_no_records_are_contents_too(tmp_path):
    empty = contents.read(tmp_path)
    assert empty.runs.empty
    assert empty.sweeps.empty


def test_a_hostile_name_is_a_name(found):
    assert HOSTILE in set(found.runs["solver"])


def test_a_line_cut_off_is_noted(tmp_path):
    place = store.Store(tmp_path / "records.jsonl")
    place.append([run(rtol=1e-4), run(rtol=1e-5)])
    content = place.path.read_bytes()
    place.path.write_bytes(content[:-20])
    found = contents.read(tmp_path)
    assert len(found.runs) == 1
    assert len(found.notes) == 1


def test_the_few_tolerances_of_the_test_set_stand_back_where_there_are_many():
    many = run(rtol=1e-4, mescd=4.0)
    few = [run(study="testset", problem=name, rtol=1e-4, mescd=3.0) for name in ("pendulum", "akzo")]
    both = contents.sort([many, *few])
    assert list(zip(both.tried["problem"], both.tried["study"], strict=True)) == [
        ("akzo", "testset"),
        ("pendulum", "work_precision"),
    ]
    assert both.sweeps["study"].tolist() == ["work_precision"]
    alone = contents.sort(few)
    assert alone.sweeps["problem"].tolist() == ["akzo", "pendulum"]


def test_many_groups_of_components_make_one_table():
    """Tables put together column by column warn when there are more than a hundred.

    And warnings are errors.
    """
    errors = {f"error_end.group{k}": 10.0**-k for k in range(150)}
    found = contents.sort([run(rtol=1e-4, **errors)]).runs
    assert [found[name].iloc[0] for name in errors] == list(errors.values())


@pytest.mark.parametrize(
    ("row", "source"),
    [
        ({"part": "Table 1", "printed": 1.0}, documents.PRINTED),
        ({"part": "Figure 5", "printed": 1.0}, documents.PICTURE),
        ({"part": "Fig. 2 and 3, pendulum", "printed": "not zero (picture)"}, documents.PICTURE),
        (
            {"part": "Figure 5", "printed": 1.0, "why": "the value is that of the original program"},
            documents.PROGRAM,
        ),
        ({"part": "RADAU5 run again", "printed": 2766.0}, documents.PROGRAM),
        ({"part": "Orders, index 3", "printed": "not printed (expected 2)"}, documents.NOT_PRINTED),
        ({"part": "Table 1", "printed": None}, documents.NOT_PRINTED),
        ({"part": "Table 1", "printed": 1.0, "source": "ours"}, "ours"),
    ],
)
def test_values_of_documents_are_told_apart_by_where_they_come_from(row, source):
    assert documents.source(row) == source
