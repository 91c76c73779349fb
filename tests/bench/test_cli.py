"""The command line: what it runs, stores, says and returns."""

from __future__ import annotations

import os
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pandas
import pytest

from herk.bench import cli, record, session, store, study
from herk.bench.store import Store
from herk.reproductions import documents
from herk.reproductions.published import Erratum, Origin, Row, Verdict
from reports import export

ROOT = Path(__file__).parents[2]
STUDY_OF = ("--file", "{toy}", "--out", "{out}", "--no-report", "--solver", "toy_euler")


@pytest.fixture
def bench(toy, toys, tmp_path):
    """Return a function that runs the user's study with more arguments and returns exit code.

    And runs stored.
    """
    out = tmp_path / "out"

    def run(*more):
        code = cli.main(["run", str(toys), *(each.format(toy=toy, out=out) for each in STUDY_OF), *more])
        records, _ = Store(out / store.NAME).read()
        return code, [rec for rec in records if rec["kind"] == "run"]

    run.out = out
    return run


def test_a_run_is_stored_once_again_only_when_fresh_and_says_so(bench, capsys):
    code, runs = bench()
    assert (code, len(runs)) == (cli.FINE, 3)
    assert "3 runs of 1 solver; about" in capsys.readouterr().err
    assert bench() == (cli.FINE, runs)
    assert "all 3 runs are there already" in capsys.readouterr().err
    code, again = bench("--fresh")
    assert [rec["key"] for rec in again] == 2 * [rec["key"] for rec in runs]
    assert store.latest(again) == again[3:]


def test_a_report_that_cannot_be_written_is_said_in_a_sentence_and_can_be_written_later(bench, capsys):
    bench()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(
        resource.RLIMIT_FSIZE, (60_000, hard)
    )  # larger files cannot be written, as on a full disk
    try:
        code = cli.main(["report", "--out", str(bench.out)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    said = capsys.readouterr().err
    assert code == cli.USAGE
    assert "Files could not be written: File too large" in said
    assert "--out" in said
    assert cli.main(["report", "--out", str(bench.out)]) == cli.FINE


def test_problems_and_solvers_that_take_part_are_described(bench):
    bench()
    records = Store(bench.out / store.NAME).read()[0]
    [problem] = [rec for rec in records if rec["kind"] == "problem"]
    assert (problem["problem"], problem["title"], problem["n"], problem["m"]) == ("toy", "Decay", 2, 1)
    assert problem["groups"] == {"first": [0], "second": [1]}
    [solver] = [rec for rec in records if rec["kind"] == "solver"]
    assert (solver["solver"], solver["order"], solver["available"]) == ("toy_euler", 1, True)
    bench("--fresh")
    assert [rec["kind"] for rec in Store(bench.out / store.NAME).read()[0]].count("problem") == 1


def test_failed_runs_are_not_taken_for_done(bench, monkeypatch):
    _, runs = bench("--solver", "toy_picky")
    first = [rec["rtol"] for rec in runs if rec["status"] == "failed"]
    _, again = bench("--solver", "toy_picky")
    assert first == [1e-2]
    assert [(rec["solver"], rec["rtol"]) for rec in again[len(runs) :]] == [("toy_picky", 1e-2)]


def test_settings_of_the_command_line_win(bench):
    _, runs = bench("--repeats", "2", "--time-limit", "7")
    assert min(rec["repeats"] for rec in runs) >= 2


def test_nothing_that_fits_is_exit_3(bench, capsys):
    assert bench("--tag", "no_such_tag")[0] == cli.NOTHING_RAN
    assert "Nothing ran" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "work_precison"], "'work_precision'"),
        (["run", "drift", "--problem", "pendulm"], "'pendulum'"),
        (["run", "drift", "--solver", "scipy_rado"], "'scipy_radau'"),
        (["run", "drift", "--file", "absent.py"], "absent.py cannot be read"),
        (["run", "absent.toml"], "absent.toml cannot be read"),
    ],
)
def test_a_mistake_is_a_sentence_and_exit_2(arguments, words, capsys, tmp_path):
    assert cli.main([*arguments, "--out", str(tmp_path)]) == cli.USAGE
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["--fast"], ["runn"], ["run"], ["run", "drift", "--jobs", "0"], ["new", "thing", "x"]]
)
def test_a_usage_error_is_exit_2(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == cli.USAGE
    assert "usage" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("x = 1", "nothing to run"),
        ("problem = lambda: 3", "must be or return"),
        ("SOLVERS = [3]", "protocol"),
    ],
)
def test_a_bad_file_of_the_user_is_a_sentence(text, words, tmp_path, capsys):
    (tmp_path / "bad.py").write_text(text)
    assert cli.main(["run", "drift", "--file", str(tmp_path / "bad.py"), "--out", str(tmp_path)]) == cli.USAGE
    assert words in capsys.readouterr().err


def test_a_foreign_records_file_is_named_and_left_alone(bench, capsys):
    bench.out.mkdir()
    (bench.out / store.NAME).write_text("my own notes\n")
    with pytest.raises(store.StoreError):
        bench()
    assert "my own notes" in (bench.out / store.NAME).read_text()
    assert "is not a record of this bench" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["run", "drift"], ["recommend", "absent.py"], []])
def test_a_folder_that_cannot_be_made_is_said_before_anything_is_run(arguments, tmp_path, capsys):
    (tmp_path / "file").touch()
    assert cli.main([*arguments, "--out", str(tmp_path / "file" / "out")]) == cli.USAGE
    said = capsys.readouterr().err
    assert "cannot be made: Not a directory. Name another one with --out." in said
    assert said.count("\n") == 1


def test_a_file_without_a_model_is_a_mistake_and_no_page_is_written(tmp_path, capsys):
    assert cli.main(["recommend", str(tmp_path / "absent.py"), "--out", str(tmp_path)]) == cli.USAGE
    assert "cannot be read: No such file" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("command", "resumes"), [(["run", "drift"], True), (["compare", "a", "b"], False)])
def test_only_what_is_stored_is_said_to_go_on(command, resumes, monkeypatch, capsys):
    def press(asked):
        raise KeyboardInterrupt

    monkeypatch.setitem(cli.COMMANDS, command[0], press)
    assert cli.main(command) == cli.INTERRUPTED
    said = capsys.readouterr().err
    assert "Interrupted." in said
    assert ("goes on from there" in said) is resumes


def test_a_report_without_records_is_exit_3(tmp_path, capsys):
    assert cli.main(["report", "--out", str(tmp_path)]) == cli.NOTHING_RAN
    assert "no records" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["problems", "solvers", "methods", "studies"])
def test_what_there_is_to_run_is_listed(what, capsys):
    assert cli.main(["list", what]) == cli.FINE
    table = capsys.readouterr().out
    known = {
        "problems": "pendulum",
        "solvers": "scipy_radau",
        "methods": "dop853",
        "studies": "work_precision",
    }
    assert known[what] in table
    assert cli.main(["list"]) == cli.FINE
    assert f"{what}:" in capsys.readouterr().out


def test_without_a_command_the_standard_studies_run_and_the_report_is_written(monkeypatch, tmp_path):
    done = []

    def carry_out(plan, choice, out, **settings):
        done.append((plan.name, len(plan.rtol), settings["jobs"]))
        return session.Tally(wanted=1)

    monkeypatch.setattr(session, "carry_out", carry_out)
    monkeypatch.setattr(cli, "report", lambda asked: done.append(str(asked.out)))
    assert cli.main(["--quick", "--out", str(tmp_path)]) == cli.FINE
    tolerances = [len(study.load(name, quick=True).rtol) for name in cli.STANDARD]
    assert done == [
        *((name, count, None) for name, count in zip(cli.STANDARD, tolerances, strict=True)),
        str(tmp_path),
    ]


def test_a_reader_that_has_enough_is_no_fault_and_nothing_is_said_of_disks():
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "herk.bench", "list", "studies"]
    found = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False)
    os.close(writing)
    assert (found.returncode, found.stderr) == (cli.NO_READER, "")


def test_options_before_and_behind_a_command_are_the_same():
    before, behind = (
        cli.parser().parse_args(["--quick", "run", "drift"]),
        cli.parser().parse_args(["run", "drift", "--quick"]),
    )
    assert before == behind
    assert before.quick


def test_a_timed_study_with_shared_cores_warns_and_an_untimed_one_does_not():
    for timed, jobs, warned in ((True, 2, True), (True, 1, False), (False, 2, False)):
        said: list[str] = []
        plan = study.with_settings(study.load("drift", quick=True), timed=timed)
        sweeps = session.sweeps.expand(plan)
        session.announce(plan, sweeps, sweeps, session.estimate.from_records([]), jobs, None, said.append)
        assert any("not to be trusted" in text for text in said) is warned


@pytest.mark.slow
def test_a_problem_and_a_solver_of_the_user_appear_in_the_report(bench, toy, toys, capsys):
    assert (
        cli.main(["run", str(toys), "--file", str(toy), "--solver", "toy_euler", "--out", str(bench.out)])
        == cli.FINE
    )
    page = bench.out / "index.html"
    assert str(page) in capsys.readouterr().out
    text = page.read_text()
    assert "toy_euler" in text
    assert "Decay" in text
    assert cli.main(["report", "--out", str(bench.out)]) == cli.FINE


def test_runs_are_exported_as_csv_and_parquet_with_the_same_rows(bench):
    _, runs = bench()
    (csv, parquet), note = export.runs(bench.out)
    assert note == ""
    tables = [pandas.read_csv(csv), pandas.read_parquet(parquet)]
    for table in tables:
        assert list(table["key"]) == [rec["key"] for rec in runs]
        assert list(table["error_end"]) == [rec["error_end"] for rec in runs]


def test_without_pyarrow_the_missing_table_is_said(bench, monkeypatch):
    bench()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    [csv], note = export.runs(bench.out)
    assert "pip install" in note
    assert csv.exists()


@pytest.mark.parametrize(("regression", "code"), [(True, cli.CLAIM_FAILED), (False, cli.FINE)])
def test_compare_returns_1_on_a_regression(regression, code, monkeypatch, capsys):
    answer = SimpleNamespace(
        compare=lambda old, new: SimpleNamespace(text=f"{old} {new}", regression=regression, common=1)
    )
    monkeypatch.setitem(sys.modules, "reports.compare", answer)
    monkeypatch.setattr("reports.compare", answer, raising=False)
    assert cli.main(["compare", "old", "new"]) == code
    assert "old new" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("holds", "code", "word"), [(True, cli.FINE, "PASS"), (False, cli.CLAIM_FAILED, "FAIL")]
)
def test_check_prints_every_claim_and_returns_1_if_one_fails(
    holds, code, word, monkeypatch, capsys, tmp_path
):
    from herk.bench.claims import Claim

    claims = SimpleNamespace(
        Claim=Claim,
        check=lambda out, say, problems, quick: [SimpleNamespace(text="it holds", holds=holds, evidence="")],
    )
    monkeypatch.setitem(sys.modules, "herk.bench.claims", claims)
    monkeypatch.setattr("herk.bench.claims", claims, raising=False)
    assert cli.main(["check", "--out", str(tmp_path), "--quick"]) == code
    assert f"{word}  it holds" in capsys.readouterr().out


class Document:
    """A study of a document, as small as it gets."""

    name, title = "lecture", "A lecture"
    rows = [Row("Table 1", "n = 2", "error", 1.0, 1.01, Verdict.ROUNDING, "digits", origin=Origin.PRINTED)]
    errata = [Erratum("page 3", "x", "y", "numbers", True)]

    def claims(self):
        return [("one claim", self.holds)]

    holds = True


@pytest.mark.parametrize(("holds", "code"), [(True, cli.FINE), (False, cli.CLAIM_FAILED)])
def test_a_study_of_a_document_is_stored_and_fails_with_its_claims(
    holds, code, monkeypatch, tmp_path, capsys
):
    own = Document()
    own.holds = holds

    def draw(found, folder):
        for suffix in ("svg", "png"):
            (folder / f"curve.{suffix}").write_text("picture")
        return [folder / "curve.svg", folder / "curve.png"]

    modules = {
        "herk.reproductions.lecture": SimpleNamespace(run=lambda quick, say: own),
        "herk.reproductions.lecture.figures": SimpleNamespace(FIGURES={"curve": "A curve"}, draw=draw),
    }
    monkeypatch.setattr(cli, "import_module", modules.__getitem__)
    monkeypatch.setattr(documents, "NAMES", ("lecture",))
    assert cli.main(["run", "lecture", "--out", str(tmp_path), "--no-report"]) == code
    assert ("PASS" if holds else "FAIL") in capsys.readouterr().out
    records = Store(tmp_path / store.NAME).read()[0]
    assert [rec["kind"] for rec in records] == ["published", "erratum", "claim", "figure"]
    assert records[0]["verdict"] == "within rounding"
    assert records[2]["holds"] is holds
    assert records[3]["path"] == "lecture/curve.svg"
    assert len({rec["date"] for rec in records}) == 1


def interrupted(command, ready):
    """Start a bench, press Ctrl-C when it is ready.

    And return its exit code and what it said on standard error.
    """
    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # ignored, if pytest was started in the background
    try:
        process = subprocess.Popen(
            command, cwd=ROOT, start_new_session=True, stderr=subprocess.PIPE, text=True
        )
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        end = time.monotonic() + 120
        while not ready():
            assert time.monotonic() < end
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to parent and children
        said = process.communicate(timeout=60)[1]
    return process.returncode, said


def test_ctrl_c_ends_cleanly_and_says_how_to_resume(toy, toys, tmp_path):
    toys.write_text(
        toys.read_text().replace("[1e-1, 1e-2, 1e-3]", "{ from = 1e-1, to = 1e-8, per_decade = 20 }")
    )
    out = tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "herk.bench",
        "run",
        str(toys),
        "--file",
        str(toy),
        "--solver",
        "toy_euler",
        "--out",
        str(out),
    ]
    code, said = interrupted(
        command, lambda: (out / store.NAME).exists() and (out / store.NAME).stat().st_size > 5000
    )
    assert code == cli.INTERRUPTED
    assert "the same command goes on from there" in said
    assert "Traceback" not in said
    runs = [rec for rec in Store(out / store.NAME).read()[0] if rec["kind"] == "run"]
    assert runs
    assert {rec["status"] for rec in runs} == {"ok"}


@pytest.mark.slow
def test_ctrl_c_ends_several_jobs_in_the_middle_of_a_solve(toy, toys, tmp_path):
    toy.write_text(
        toy.read_text().replace(
            "time.sleep(0.005)", f"open({str(tmp_path)!r} + '/' + self.name, 'w').close(); time.sleep(300)"
        )
    )
    command = [
        sys.executable,
        "-m",
        "herk.bench",
        "run",
        str(toys),
        "--file",
        str(toy),
        "--out",
        str(tmp_path / "out"),
        "--jobs",
        "2",
    ]
    both = ("toy_euler", "toy_twin")
    code, said = interrupted(
        [*command, "--solver", both[0], "--solver", both[1]],
        lambda: all((tmp_path / each).exists() for each in both),
    )
    assert code == cli.INTERRUPTED
    assert said.count("\n") == 3, (
        said
    )  # the announcement, an empty line, and how to go on; no word of the processes
    assert "the same command goes on from there" in said


@pytest.mark.parametrize("what", ["problem", "solver"])
def test_a_template_is_written_with_a_command_that_fits_any_folder(what, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "with space"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert cli.main(["new", what, "my_own"]) == cli.FINE
    command = shlex.split(capsys.readouterr().out.partition("Run it: ")[2])
    asked = cli.parser().parse_args(command[3:])
    assert asked.files == [folder / "my_own.py"]
    assert asked.problem == (["pendulum"] if what == "solver" else None)


def test_every_record_of_a_session_has_the_fields_of_its_kind(bench):
    bench()
    for rec in Store(bench.out / store.NAME).read()[0]:
        assert set(record.ALWAYS) | set(record.IDENTITY[rec["kind"]]) <= set(rec)


def test_check_proves_the_sentences_of_a_page_and_finds_a_wrong_one(tmp_path, capsys):
    from tests.reports.conftest import everything, report

    out = report(tmp_path / "out", everything())
    assert all(claim.holds for claim in cli.sentences(out))
    page = out / "index.html"
    page.write_text(
        page.read_text(encoding="utf-8").replace("1/24 of the time", "1/240 of the time"), encoding="utf-8"
    )
    wrong = [claim for claim in cli.sentences(out) if not claim.holds]
    assert wrong
    assert all("1/240" in claim.text for claim in wrong)
    assert cli.sentences(tmp_path) == []
    assert "none of its sentences is checked" in capsys.readouterr().err
