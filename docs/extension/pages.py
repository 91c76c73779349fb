"""Runs the code blocks of a page in order and compares what they print with the text blocks that follow."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE
)
PICTURE = re.compile(r"!\[[^\]]*\]\((?:\.\./)?pictures/([\w.]+)\)")
TINY = re.compile(
    r"^-?\d(\.\d+)?e-\d+[.,;]?$"
)  # a size of rounding errors: another machine prints another digit


def pages() -> list[Path]:
    """Return every page with code."""
    found = [*DOCS.glob("*.md"), *(DOCS / "gallery").glob("*.md")]
    return sorted(page for page in found if BLOCK.search(page.read_text()))


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return each Python block of a page with the output shown behind it, empty if none is."""
    return [(match[1], match[2] or "") for match in BLOCK.finditer(page.read_text())]


def pictures(page: Path) -> list[str]:
    """Return the pictures a page shows; its own code makes them."""
    return PICTURE.findall(page.read_text())


def agree(shown: str, printed: str) -> bool:
    """Compare word by word; sizes of rounding errors may differ by a factor of 20."""
    left, right = shown.split(), printed.split()
    return len(left) == len(right) and all(map(_same, left, right))


def _same(a: str, b: str) -> bool:
    if a == b:
        return True
    if not (TINY.match(a) and TINY.match(b)):
        return False
    return 0.05 < float(a.rstrip(".,;")) / float(b.rstrip(".,;")) < 20


def run(page: Path, folder: Path) -> list[str]:
    """Run a page in a folder and return what it printed otherwise than shown, block by block."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    wrong: list[str] = []
    names: dict[str, Any] = {"__name__": "page"}
    with _inside(folder):
        for code, shown in blocks(page):
            with redirect_stdout(io.StringIO()) as output:
                exec(compile(code, str(page), "exec"), names)  # noqa: S102 - the pages are our own
            if not agree(shown, output.getvalue()):
                wrong.append(
                    f"{page.name} shows\n{shown}and prints\n{output.getvalue()}"
                )
    plt.close("all")
    return wrong


def filled(page: Path, folder: Path) -> str:
    """Return the text of a page with what its blocks print now; read the difference before you keep it."""
    text = page.read_text()
    names: dict[str, Any] = {"__name__": "page"}
    done, kept = 0, []
    with _inside(folder):
        for match in BLOCK.finditer(text):
            with redirect_stdout(io.StringIO()) as output:
                exec(compile(match[1], str(page), "exec"), names)  # noqa: S102 - the pages are our own
            if match[2] is not None:
                kept += [text[done : match.start(2)], output.getvalue()]
                done = match.end(2)
    return "".join([*kept, text[done:]])


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before, path = Path.cwd(), list(sys.path)
    os.chdir(folder)
    sys.path.insert(0, str(DOCS.parent))
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path


if (
    __name__ == "__main__"
):  # python docs/extension/pages.py PAGE...: write what they print into the pages
    import tempfile

    for name in sys.argv[1:]:
        path = Path(name).resolve()
        with tempfile.TemporaryDirectory() as empty:
            path.write_text(filled(path, Path(empty)))
