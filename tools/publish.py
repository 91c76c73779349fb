"""Make reports/published in one run: every study from clean records of this commit, page, tables and picture.

Stopped, it goes on where it was when it is called again. With a folder it publishes the report that is there.
"""

from __future__ import annotations

import argparse
import gzip
import re
import sys
import time
from pathlib import Path

import make_readme_picture

from herk.bench import cli, environment, estimate, store, whole_files
from herk.reproductions import documents
from reports import proof

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "reports" / "published"
STUDIES = (*cli.STANDARD, "testset", *documents.NAMES, "scaling")
MOST_FILES, OTHERS = 60, 5  # besides the tables: page, records, pictures
SERIES = b'"kind":"series"'  # curves over time: drawn on the page, and too large to be published
SELECTION = b'"name":"selection"'  # but these are short, and a sentence rests on them
LINK = re.compile(r'<a\b[^>]*\bhref="(?!#|data:|https?:)([^"#]+)"[^>]*>([^<]*)</a>')


def make(commit: str) -> Path:
    """Run every study that is not there yet and write the report; return its folder, named by the commit."""
    if not commit or commit.endswith("+"):
        raise SystemExit(
            "Files differ from the last commit, so that nobody could make this page again: commit them first."
        )
    out = ROOT / "reports" / "out" / commit
    for name in STUDIES:
        if name not in documents_done(out) and cli.main(["run", name, "--no-report", "--out", str(out)]):
            raise SystemExit(f"The study {name} did not end well: nothing is published.")
    if cli.main(["report", "--out", str(out)]):
        raise SystemExit(f"No report could be written to {out}: nothing is published.")
    return out


def documents_done(out: Path) -> set[str]:
    """Return the studies of documents that are stored; each is stored whole, at its end."""
    known = store.Store(out / store.NAME).read()[0]
    return {rec["study"] for rec in known if rec["kind"] == "claim"}


def publish(out: Path, place: Path = PUBLISHED) -> list[Path]:
    """Copy tables, page and records, each file whole, and drop older tables; return the files written."""
    found = sorted((out / "tables").glob("*.csv"))
    if len(found) > MOST_FILES - OTHERS:
        raise SystemExit(
            f"{len(found)} tables are too many to publish: at most {MOST_FILES} files; bind some of them into"
            " a book."
        )
    tables = [whole_files.data(place / "tables" / path.name, path.read_bytes()) for path in found]
    for old in {path for path in (place / "tables").iterdir() if path.is_file()} - set(tables):
        old.unlink()

    def link(match: re.Match[str]) -> str:
        return match[0] if (place / match[1]).exists() else ""

    text = LINK.sub(link, (out / "index.html").read_text(encoding="utf-8"))
    return [whole_files.text(place / "index.html", text), records(out, place), *tables]


def records(out: Path, place: Path) -> Path:
    """Write the records without curves over time, compressed, the same bytes for the same records.

    `check` proves the page from them. Records of several commits are refused: no run makes those again.
    """
    path = out / store.NAME
    known = store.Store(path).read()[0]
    if len(commits := {rec["commit"] for rec in known}) > 1:
        raise SystemExit(
            f"The records of {out} were made at {len(commits)} commits: publish those of one run, as"
            " `make published` makes them."
        )
    lines = path.read_bytes().splitlines(keepends=True)
    kept = b"".join(line for line in lines if SERIES not in line[:80] or SELECTION in line)
    return whole_files.data(place / "records.jsonl.gz", gzip.compress(kept, mtime=0))


def main() -> None:
    """Make and publish, then prove every sentence of the page from the records beside it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, nargs="?", help="the folder of a report made before")
    start, asked = time.monotonic(), parser.parse_args()
    files = publish(asked.out or make(environment.commit()))
    files.append(make_readme_picture.draw(PUBLISHED / "pendulum.png"))
    print(f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB: {files[0]}")
    print(f"It took {estimate.words(time.monotonic() - start)}.")
    if wrong := [each.sentence for each in proof.of_folder(PUBLISHED) if not each.holds]:
        sys.exit("The records do not prove these sentences of the page:\n" + "\n".join(wrong))


if __name__ == "__main__":
    main()
