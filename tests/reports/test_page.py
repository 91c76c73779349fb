"""The page and what lies beside it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from herk.bench import record, store
from reports import contents, explorer, page
from reports.sections import drift, failures, five, problems, references
from tests.reports.conftest import HOSTILE, convergence, document, facts, histories, report, run, sweep
from tests.reports.conftest import drift as drift_records


def text(folder):
    return (folder / "index.html").read_text(encoding="utf-8")


def written(folder, records):
    store.Store(folder / "records.jsonl").append(records)
    return page.write(folder).read_text(encoding="utf-8")


def test_every_section_has_its_verdict_on_top(out):
    for title, verdict in {
        "Work and precision": (
            "a half-explicit method is faster than every foreign solver on 1 of 2 problems on which both"
            " reach it, slower on 1 (akzo)"
        ),
        "Performance profiles": (
            "Solved to an error of 1e-6 within 2 times the least CPU time, of 2 problems: herk_dop853 1"
        ),
        "Tolerance": "Median error over tolerance, half-explicit: 1 to 1",
        "Convergence": "The claimed order is observed in 1 of 2 cases",
        "Drift": (
            "until t = 2000, level 0 (position): methods that keep all constraints violate none"
            " by more than 3e-15 (1 run)"
        ),
        "Test set": "2 of 2 problems that were run are reached to 6 digits by at least two families.",
        "Steps": "The selection of algebraic variables changes on pendulum; 1 run recorded it.",
        # 5 sweeps of 33, 6 of drift, 2
        "Failures": "173 reached the end with a result that is not wrong and 7 were stopped by our limit",
        "References": "With fewer right digits in print: akzo (6.0 digits).",
        "Other problems": "There are no records of other problems.",
        "Documents": "read from a picture: 1 of 2 come out the same or within rounding, 1 not reproduced",
    }.items():
        part = re.search(rf"<h2>{title}</h2>(.*?)</section>", text(out), re.DOTALL)[1]
        assert part.lstrip().startswith('<ul class="verdict">'), title
        assert verdict in part.split("</ul>")[0], title


def test_a_problem_has_its_verdict_with_the_numbers(out):
    mine, other = "half-explicit herk_dop853 in 100 µs", "foreign scipy_lsoda · ode in 2.4 ms"
    assert (
        f"Fastest to an error of 1e-8 on pendulum, group by group: {mine}; {other}. The half-explicit one"
        " needs 1/24 of the time of the foreign one." in text(out)
    )
    found = re.search(r"Fastest to an error of 1e-6 on akzo, [^<]*", text(out))[0]
    assert found.endswith("The half-explicit one needs 4 times the time of the foreign one.")


def test_a_claim_that_fails_is_shown_as_failed(out):
    assert "1 of 2 claims of the studies hold. Those that do not: Steps come out." in text(out)


def test_nothing_is_loaded_from_elsewhere(out):
    loaded = re.findall(r'\b(?:src|href)="([^"]*)"', text(out))
    assert loaded
    assert all(each.startswith(("data:", "#", "tables/", "figures/", "thesis/")) for each in loaded)
    assert "url(" not in text(out).replace("url(#", "").replace("url%28%23", "").split("<body>")[0]


def test_every_link_to_a_file_leads_to_one(out):
    links = re.findall(r'href="((?:tables|figures|thesis)/[^"]*)"', text(out))
    assert len(links) > 20
    assert [link for link in links if not (out / link).is_file()] == []


def test_markup_in_a_record_stays_text(out):
    assert HOSTILE not in text(out)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text(out)
    for path in (out / "tables").glob("*.html"):
        assert "<script" not in path.read_text(encoding="utf-8")


def test_a_figure_that_a_study_left_is_shown_and_one_outside_the_report_is_not(out):
    shown = re.search(
        r'<details class="panel" id="study-thesis">(.*?)</details>\s*</section>', text(out), re.DOTALL
    )[1]
    assert shown.count("<img") == 1
    assert "Out of the folder (The file of this figure is missing.)" in shown


def test_the_footer_names_versions_machine_commit_command_and_references(out):
    footer = text(out).split("<footer")[1]
    for part in ("Model processor", "0123456789ab", "python -m herk.bench run", "@misc{baese2017,", "numpy"):
        assert part in footer


def test_the_same_records_give_the_same_page(records, out, tmp_path):
    assert text(report(tmp_path, records)) == text(out)


@pytest.mark.parametrize(
    "records",
    [
        [],
        document(),
        drift_records(),
        convergence(),
        histories(),
        sweep("herk_dop853", "overdetermined", 8, 1e-5, 1.0),
        [run(rtol=1e-4, status="failed", reason="crashed", message="gone")],
        [run(status="unavailable", reason="unavailable", message="pip install it")],
        facts(),
        facts()[:1],
        [run(rtol=1e-4, error_end=1e-5, cpu_min=1.0)],
    ],
    ids=[
        "nothing",
        "document",
        "drift",
        "convergence",
        "histories",
        "ours alone",
        "failed",
        "unavailable",
        "facts",
        "nothing in print",
        "no digits",
    ],
)
def test_a_part_of_the_records_makes_a_page_that_says_what_is_missing(records, tmp_path):
    found = written(tmp_path, records)
    assert "There are no " in found or "no comparison" in found.lower()
    assert (
        "nan"
        not in re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]*>", "", found, flags=re.DOTALL)
        .lower()
        .split()
    )


def test_times_of_several_machines_are_not_passed_off_as_comparable(tmp_path):
    rows = [
        *sweep("herk_dop853", "overdetermined", 8, 1e-5, 1.0),
        *sweep("scipy_lsoda", "ode", 8, 1e-5, 1.0, machine="Another one"),
    ]
    assert "times are not comparable between them" in written(tmp_path, rows)


def test_the_data_of_the_plot_cannot_leave_its_element_and_is_what_the_records_say(found):
    script = explorer.script(found)
    assert "<" not in script
    data = json.loads(script)
    assert len(data["columns"]["rtol"]) == len(found.sweeps)
    assert HOSTILE in [curve["solver"] for curve in data["curves"]]
    assert data["columns"]["mixed"][0] == pytest.approx(found.sweeps["mixed"].iloc[0], rel=1e-3)


@pytest.mark.slow
def test_three_thousand_runs_make_a_page_of_less_than_three_megabytes(tmp_path):
    places = [(f"solver{k % 30}", f"problem{k // 30}", 1 + k / 7) for k in range(90)]
    many = [
        row
        for solver, problem, speed in places
        for row in sweep(solver, "ode", 8, 1e-5 * speed, speed, problem=problem)
    ]
    assert len(many) == 2970
    assert len(written(tmp_path, many).encode()) < 3_000_000


def test_the_failure_matrix_tells_reasons_and_wrong_results():
    rows = [
        *(run(rtol=10.0**-k, solver="a", mescd=5.0) for k in range(3, 6)),
        run(rtol=1e-3, solver="b", mescd=-1.0),
        run(rtol=1e-4, solver="b", mescd=4.0),
        *(run(rtol=10.0**-k, solver="c", status="failed", reason="step_underflow") for k in range(3, 6)),
        run(solver="d", status="unsupported", reason="unsupported"),
        *(run(rtol=10.0**-k, solver="e", status="failed", reason="time_limit") for k in range(3, 6)),
    ]
    matrix = failures.section(contents.sort(rows)).tables[1].frame.set_index("solver")["pendulum"]
    assert matrix.to_dict() == {
        "a": "✓",
        "b": "1 of 2: wrong",
        "c": "0 of 3: step underflow",
        "d": "unsupported",
        "e": "0 of 3: stopped by our limit",
    }
    assert (failures.mark(matrix["c"]), failures.mark(matrix["e"])) == ("bad", "part")


def test_failures_have_one_row_for_every_cause_and_those_not_begun_are_counted_with_it():
    late = {"status": "failed", "reason": "time_limit"}
    rows = [
        *(
            run(rtol=10.0**-k, status="failed", reason="newton", message=f"Newton failed at t = 0.{k}.")
            for k in range(3, 6)
        ),
        run(rtol=1e-6, **late, message="Stopped after 10 s."),
        *(
            run(rtol=10.0**-k, **late, message="Not run: a cheaper setting ran out of time.")
            for k in range(7, 12)
        ),
    ]
    table = failures.section(contents.sort(rows)).tables[0].frame
    assert table[["outcome", "runs", "not begun after it"]].to_numpy().tolist() == [
        ["failed", 3, 0],
        ["stopped by our limit", 1, 5],
    ]
    assert table["in the words of the solver"].tolist() == ["Newton failed at t = ….", "Stopped after … s."]


def test_the_failure_matrix_has_the_shorter_side_on_top():
    rows = [
        run(rtol=1e-3, problem=name, solver=solver, mescd=5.0)
        for name in ("p", "q", "r")
        for solver in ("a", "b")
    ]
    assert failures.section(contents.sort(rows)).tables[1].frame.columns.tolist() == ["problem", "a", "b"]
    assert failures.section(contents.sort(rows[:2])).tables[1].frame.columns.tolist() == ["solver", "p"]


def test_a_problem_shows_its_invariants_over_time(tmp_path):
    made = run(rtol=1e-6, mescd=5.0, cpu_min=1e-3)
    series = {"step": [0.1, 0.2], "drift.level0": [0.0, 1e-9], "invariant.energy": [0.0, 1e-6]}
    kept = [
        record.make("series", run=made["key"], name=name, t=[0.0, 1.0], values=values)
        for name, values in series.items()
    ]
    [found] = [
        part
        for part in five.section(contents.sort([made, *kept]), "pendulum").parts
        if part.id == "more-pendulum"
    ]
    [picture] = [each for each in found.pictures if each.name == "kept_pendulum"]
    assert [axes.get_title() for axes in picture.drawn.axes] == ["constraints", "energy"]


def test_a_problem_run_at_few_tolerances_is_said_to_be():
    rows = [run(rtol=1e-6, mescd=5.0, study=study, problem="rlc") for study in ("testset", "work_precision")]
    parts = [problems.section(contents.sort([row])).parts[0] for row in rows]
    assert [problems.SINGLE in part.words for part in parts] == [True, False]


def test_equations_are_shown_and_where_there_is_no_model_that_is_said():
    known = {"changes": "{}", "tags": [], "constraints": []}
    rows = [
        record.make("problem", problem=name, equations=lines, **known)
        for name, lines in {"a": [], "b": ["0 = x"], "c": ["x" * 20000]}.items()
    ]
    parts = [part.formulas[0] for part in problems.section(contents.sort(rows)).parts]
    assert "no model" in parts[0].words
    assert parts[1].latex == ("0 = x",)
    assert "too long" in parts[2].words
    assert parts[2].latex == ()


def test_the_drift_table_has_a_row_for_every_span_and_a_column_for_every_level(found):
    table = drift.of_problem(found, "pendulum").tables[0].frame.set_index("curve").loc["scipy_lsoda · ode"]
    assert table["span"].tolist() == [2000.0, 200.0, 20.0]
    assert table["level 0 (position)"].tolist() == pytest.approx([0.4, 4e-3, 4e-5])
    assert table["level 2 (acceleration, with the multipliers)"].tolist() == pytest.approx([0.8, 8e-3, 8e-5])


def test_a_run_that_stops_early_is_tabulated_and_drawn_until_there_and_no_sentence_rests_on_it(found):
    late = {
        "status": "failed",
        "reason": "time_limit",
        "message": "late",
        "t_reached": 700.0,
        "t_end": 2000.0,
    }
    made = run(
        study="drift",
        changes='{"t_end":2000.0}',
        solver="scipy_radau",
        form="ode",
        rtol=1e-6,
        atol=1e-6,
        **late,
        **{"drift.all": 9.0, "drift.level0": 9.0},
    )
    series = record.make("series", run=made["key"], name="drift.level0", t=[0.0, 700.0], values=[0.0, 9.0])
    part = drift.of_problem(contents.sort([*facts(), *drift_records(), made, series]), "pendulum")
    row = part.tables[0].frame.set_index("curve").loc["scipy_radau · ode"]
    assert row[["reached", "outcome", "level 0 (position)"]].tolist() == [700.0, "stopped by our limit", 9.0]
    assert str(part.verdicts[0]).endswith(
        "(scipy_lsoda · ode, rtol 1e-6); nothing is said of 1 stopped by our limit."
    )
    rows = [axes.get_legend() for axes in part.pictures[0].drawn.axes]
    assert "scipy_radau · ode" in [
        text.get_text() for legend in rows if legend for text in legend.get_texts()
    ]


def test_drift_is_compared_at_equal_error_too(found):
    table = drift.at_equal_error(found, "pendulum").frame.set_index("curve")
    assert table.loc["scipy_lsoda · ode", "error"] == pytest.approx(1e-6, rel=0.5)
    near = found.sweeps[
        (found.sweeps["curve"] == "scipy_lsoda · ode") & (found.sweeps["problem"] == "pendulum")
    ]
    near = near[near["ok"] & near["mixed"].between(1e-6 / drift.NEAR, 1e-6 * drift.NEAR)]
    assert table.loc["scipy_lsoda · ode", "time"] == near["cpu_min"].median()
    assert table.columns[-1] == "time"


@pytest.mark.parametrize("installed", [True, False])
def test_the_page_says_in_its_first_lines_that_scikits_odes_is_missing_and_who_stands_in(installed, tmp_path):
    rows = [
        *sweep("herk_dop853", "overdetermined", 8, 1e-5, 1.0),
        *sweep("ida_sundae_jac", "index1", 8, 1e-4, 1.0),
    ]
    rows += [*sweep("scipy_radau", "ode", 8, 1e-2, 1.0)]
    gone = [
        run(
            solver="ida_scikits_jac",
            form="index1",
            status="unavailable",
            reason="unavailable",
            message="pip install it",
        )
    ]
    rows += sweep("ida_scikits_jac", "index1", 8, 1e-3, 1.0) if installed else gone
    head = written(tmp_path, rows).split('<dl class="summary">')[0]
    words = (
        "ida_scikits_jac (scikits.odes) did not run here (pip install it); IDA through scikit-sundae"
        " (ida_sundae_jac) stands in for it."
    )
    assert (words in head) is not installed


def test_the_five_problems_come_first_each_with_figure_and_table_of_error_against_steps(out):
    order = re.findall(r'<section id="([^"]*)">', text(out))
    assert order[1:4] == ["problem-pendulum", "problem-akzo", "work-precision"]
    for name in ("pendulum", "akzo"):
        assert f'id="figure-error_against_steps_{name}"' in text(out)
        assert f'id="table-error_against_steps_{name}"' in text(out)


def test_the_table_of_error_against_steps_holds_the_medians_and_says_where_we_stopped_a_run(found):
    runs = found.tried[found.tried["problem"] == "akzo"]
    table = five.steps_table(found, "akzo", runs).frame.set_index("curve")
    assert table.loc["scipy_radau · ode", "1e-3"] == "our limit"
    assert table.loc["herk_dop853", "1e-4"].endswith(
        " → 4.2e-5"
    )  # the median of 1e-4, 5.6e-5, 3.2e-5 and 1.8e-5
    assert table["group"].tolist() == ["half-explicit", "foreign", "foreign"]


def test_tables_of_one_book_share_a_file(out):
    frame = pd.read_csv(out / "tables" / "time_to_reach_an_error.csv")
    assert set(frame["table"]) == {"work_pendulum", "work_akzo"}


@pytest.mark.parametrize(
    ("ours", "printed", "digits"),
    [(1.0, 1.0, 16.0), (100.0, 100.001, 5.0), (0.0, 1e-3, 3.0), (-2.0, 2.0, 0.0)],
)
def test_digits_on_which_print_and_reference_agree(ours, printed, digits):
    assert references.agreement(ours, printed) == pytest.approx(digits, abs=0.4)


def test_the_table_of_references_shows_the_worst_component(found):
    row = references.section(found).tables[0].frame.set_index("problem").loc["akzo"]
    assert (row["worst component"], row["printed there"], row["ours there"]) == ("lam", 3.000003, 3.0)


def test_tables_lie_beside_the_page_with_all_digits(out):
    frame = pd.read_csv(out / "tables" / "fastest.csv")
    best = frame[(frame["problem"] == "pendulum") & (frame["error"] == 1e-8)].iloc[0]
    assert (best["group"], best["fastest"]) == ("half-explicit", "herk_dop853")
    assert best["time / foreign"] == pytest.approx(1 / 24, rel=1e-9)
    assert best["fastest foreign"] == "scipy_lsoda · ode, 2.4 ms"


@pytest.mark.parametrize("ending", ["index.html", ".csv", ".svg"])
def test_a_full_disk_leaves_no_half_of_a_page_a_table_or_a_figure(out, tmp_path, monkeypatch, ending):
    shutil.copytree(out, tmp_path, dirs_exist_ok=True)
    before = {path: path.read_bytes() for path in tmp_path.rglob(f"*{ending}")}
    assert before
    whole = {name: getattr(Path, name) for name in ("write_text", "write_bytes")}

    def writing(name):
        def write(path, content, **more):
            if path.name.endswith(ending):
                whole[name](path, content[:10], **more)
                raise OSError(28, "No space left on device")
            return whole[name](path, content, **more)

        return write

    for name in whole:
        monkeypatch.setattr(Path, name, writing(name))
    if ending != ".svg":  # figures that are written take the most time, and this is not about them
        monkeypatch.setattr(page.images, "inline", lambda picture, out: None)
    with pytest.raises(OSError, match="No space left"):
        page.write(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob(f"*{ending}")} == before
