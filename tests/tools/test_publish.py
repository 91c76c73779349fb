"""What is published: the page without dead links, tables, and the records that prove its sentences.

Not too many files.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from reports import proof
from tests.reports.conftest import everything, report

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import publish
    finally:
        sys.path.pop(0)
    place = tmp_path_factory.mktemp("published")
    publish.publish(report(tmp_path_factory.mktemp("out"), everything()), place)
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


def test_make_bench_brings_scikits_odes_along_as_make_test_does():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("bench", "test"):
        assert "$(VENV)/.scikits" in re.search(rf"^{target}:(.*)$", text, re.MULTILINE)[1]
