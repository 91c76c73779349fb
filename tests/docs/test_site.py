"""The site builds without a warning, needs no network, has no broken link, and can be searched."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.extension import ROOT, pages

pytest.importorskip("sphinx", reason="the documentation needs the extra docs: pip install '.[docs]'")
pytest.importorskip("furo", reason="the documentation needs the extra docs: pip install '.[docs]'")
pytest.importorskip("myst_parser", reason="the documentation needs the extra docs: pip install '.[docs]'")

PAGES = [
    "start",
    "forms",
    "initial_values",
    "messages",
    "solvers",
    "coming_from",
    "performance",
    "how_it_works",
    "testset",
    "bench",
    "api",
    "gallery/index",
    "generated/messages",
    "generated/problems",
    "generated/methods",
    "search",
]


def build(folder: Path) -> Path:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    command += ["-d", str(folder / "trees"), str(ROOT / "docs"), str(folder / "html")]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr[-3000:]
    return folder / "html"


def broken(site: Path) -> list[tuple[str, str]]:
    """Return links to files that are not there."""
    return [
        (page.name, link)
        for page in site.rglob("*.html")
        for link in re.findall(r'(?:href|src)="([^"#?]+)(?:[#?][^"]*)?"', page.read_text())
        if not link.startswith(("http", "mailto:", "data:")) and not (page.parent / link).exists()
    ]


def foreign(site: Path) -> set[str]:
    """Return what the pages would load from the network."""
    loads = re.compile(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(https?://[^"]+)"')
    return {found for page in site.rglob("*.html") for found in loads.findall(page.read_text())}


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.filterwarnings("ignore::DeprecationWarning:sympy")
def test_the_site_builds_without_warnings_whole_searchable_and_offline(tmp_path, outcome) -> None:
    """One test, since building takes long and two at a time would get in each other's way."""
    pictures = pages.DOCS / "pictures"
    pictures.mkdir(exist_ok=True)
    for page in pages.pages():
        for name in pages.pictures(page):
            shutil.copy(outcome(page)[1] / name, pictures)
    site = build(tmp_path)
    assert [page for page in PAGES if not (site / f"{page}.html").exists()] == []
    assert broken(site) == []
    assert foreign(site) == set()
    assert "<math" in (site / "how_it_works.html").read_text()
    assert "pendulum" in (site / "searchindex.js").read_text()


def test_broken_links_and_foreign_scripts_are_found(tmp_path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html">b</a><script src="https://x.example/y.js"></script>')
    assert broken(tmp_path) == [("a.html", "b.html")]
    assert foreign(tmp_path) == {"https://x.example/y.js"}
