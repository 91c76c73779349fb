"""What is published: the page without dead links, tables, and the records that prove its sentences.

Not too many files.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from herk.bench import record, store
from herk.bench.store import Store
from reports import proof
from tests.reports.conftest import everything, report

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import publish
    finally:
        sys.path.pop(0)
    return publish


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return report(tmp_path_factory.mktemp("out"), [{**rec, "commit": "0123"} for rec in everything()])


@pytest.fixture(scope="module")
def published(tool, out, tmp_path_factory):
    place = tmp_path_factory.mktemp("published")
    tool.publish(out, place)
    return place


def test_every_sentence_of_the_published_page_is_proved_from_the_published_records(published):
    found = proof.of_folder(published)
    assert len(found) > 12
    assert all(each.holds for each in found)


def test_links_lead_to_files_that_are_published(published):
    links = re.findall(
        r'href="((?!#|data:|https?:)[^"]+)"', (published / "index.html").read_text(encoding="utf-8")
    )
    assert len(links) > 10
    assert [link for link in links if not (published / link).is_file()] == []


def test_few_files_are_published_and_no_series(published):
    files = [path for path in published.rglob("*") if path.is_file()]
    assert len(files) <= 45
    assert (published / "records.jsonl.gz").stat().st_size < 300_000


def test_records_of_several_commits_are_refused(tool, out, tmp_path):
    lines = (out / "records.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    rows = [json.loads(line) for line in lines]
    rows[0]["commit"] = "another"
    (tmp_path / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(SystemExit, match="at 2 commits"):
        tool.records(tmp_path, tmp_path)


@pytest.mark.parametrize("commit", ["", "0123456789ab+"])
def test_a_page_that_nobody_could_make_again_is_not_made(tool, commit):
    with pytest.raises(SystemExit, match="commit them first"):
        tool.make(commit)


def test_a_stopped_run_goes_on_with_what_is_missing_in_the_folder_of_its_commit(tool, tmp_path, monkeypatch):
    asked: list[str] = []

    def main(arguments):
        asked.append(arguments[1] if arguments[0] == "run" else arguments[0])
        return 0

    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool.cli, "main", main)
    claim = record.make("claim", study="thesis", text="All is well", holds=True, evidence="")
    Store(tmp_path / "reports" / "out" / "0123" / store.NAME).append([claim])
    assert tool.make("0123") == tmp_path / "reports" / "out" / "0123"
    assert asked == [*(name for name in tool.STUDIES if name != "thesis"), "report"]


def test_nothing_is_published_when_a_study_does_not_end_well(tool, tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool.cli, "main", lambda arguments: arguments[1] == "drift")
    with pytest.raises(SystemExit, match="drift did not end well"):
        tool.make("0123")


def test_one_command_of_the_readme_makes_what_is_published():
    assert re.search(r"^published:.*\n\t@\$\(BIN\)/python tools/publish.py$", MAKEFILE, re.MULTILINE)
    assert "`make published`" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_make_bench_brings_scikits_odes_along_as_make_test_does():
    for target in ("bench", "published", "test"):
        assert "$(VENV)/.scikits" in re.search(rf"^{target}:(.*)$", MAKEFILE, re.MULTILINE)[1]
