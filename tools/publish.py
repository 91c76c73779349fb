"""Put a rendered report into reports/published: the page, its tables as CSV and the records behind it.

Links to other files go.
"""

from __future__ import annotations

import argparse
import gzip
import re
from pathlib import Path

from herk.bench import whole_files

PUBLISHED = Path(__file__).parents[1] / "reports" / "published"
MOST_FILES, OTHERS = 60, 5  # besides the tables: page, records, pictures
SERIES = b'"kind":"series"'  # curves over time: drawn on the page, and too large to be published
SELECTION = b'"name":"selection"'  # but these are short, and a sentence rests on them
LINK = re.compile(r'<a\b[^>]*\bhref="(?!#|data:|https?:)([^"#]+)"[^>]*>([^<]*)</a>')


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

    `check` proves the page from them.
    """
    lines = (out / "records.jsonl").read_bytes().splitlines(keepends=True)
    kept = b"".join(line for line in lines if SERIES not in line[:80] or SELECTION in line)
    return whole_files.data(place / "records.jsonl.gz", gzip.compress(kept, mtime=0))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the folder of a report, such as reports/out")
    files = publish(parser.parse_args().out)
    print(f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB: {files[0]}")
