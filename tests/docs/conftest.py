"""Pages are run once, whichever test and whichever process asks for one first."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.extension import pages


@pytest.fixture(scope="session")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], tuple[list[str], Path]]:
    """Return a function that tells what a page prints otherwise than shown, and where its pictures are."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def run(page: Path) -> tuple[list[str], Path]:
        folder = shared / "pages" / page.parent.name / page.stem
        folder.mkdir(parents=True, exist_ok=True)
        answer = folder / "wrong.json"
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not answer.exists():
                answer.write_text(json.dumps(pages.run(page, folder)))
        return json.loads(answer.read_text()), folder

    return run
