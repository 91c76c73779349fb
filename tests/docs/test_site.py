"""The site builds without a warning, needs no network, has no broken link, and can be searched."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="the documentation needs the extra docs: pip install '.[docs]'")
pytest.importorskip("furo", reason="the documentation needs the extra docs: pip install '.[docs]'")
pytest.importorskip("myst_parser", reason="the documentation needs the extra docs: pip install '.[docs]'")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    command += ["-d", str(folder / "trees"), str(ROOT / "docs"), str(folder / "html")]
    result = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env=os.environ | {"MPLBACKEND": "Agg"}
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return folder / "html"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_site_builds_without_warnings(site) -> None:
    for page in ("start", "forms", "initial_values", "messages", "solvers", "coming_from", "performance"):
        assert (site / f"{page}.html").exists()
    for page in ("how_it_works", "testset", "bench", "api", "gallery/index", "generated/messages"):
        assert (site / f"{page}.html").exists()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_link_of_the_site_is_broken(site) -> None:
    broken = []
    for page in site.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"#?]+)(?:[#?][^"]*)?"', page.read_text()):
            if not link.startswith(("http", "mailto:", "data:")) and not (page.parent / link).exists():
                broken.append((page.name, link))
    assert broken == []


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_site_loads_nothing_from_the_network(site) -> None:
    loads = re.compile(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(https?://[^"]+)"')
    foreign = {found for page in site.rglob("*.html") for found in loads.findall(page.read_text())}
    assert foreign == set()
    assert "<math" in (site / "how_it_works.html").read_text()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_site_can_be_searched(site) -> None:
    index = (site / "searchindex.js").read_text()
    assert "pendulum" in index
    assert (site / "search.html").exists()
