"""The page on rivals: every solver of the package is on it."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import baselines

PAGE = Path(__file__).parents[2] / "docs" / "rivals.md"


def test_every_solver_is_on_the_page_that_says_how_it_is_run():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    named = {word for row in rows for word in re.findall(r"`([\w*]+)`", row.split("|")[1])}
    ours = [
        name for name in baselines.names() if type(baselines.get(name)).__module__.startswith("baselines.")
    ]
    assert len(ours) > 25
    assert [name for name in ours if not any(fnmatch(name, word) for word in named)] == []
