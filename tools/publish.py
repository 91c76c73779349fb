"""Put a rendered report into reports/published: the page, its tables as CSV and the records behind it.

Links to other files go.
"""

from __future__ import annotations

import argparse
import gzip
import re
import shutil
from pathlib import Path

PUBLISHED = Path(__file__).parents[1] / "reports" / "published"
MOST_FILES = 60
SERIES = b'"kind":"series"'  # curves over time: drawn on the page, and too large to be published
LINK = re.compile(r'<a\b[^>]*\bhref="(?!#|data:|https?:)([^"#]+)"[^>]*>([^<]*)</a>')


def publish(out: Path, place: Path = PUBLISHED) -> list[Path]:
    """Copy tables, page and records; return the files written."""
    tables = place / "tables"
    shutil.rmtree(tables, ignore_errors=True)
    tables.mkdir(parents=True)
    kept = [Path(shutil.copy(path, tables)) for path in sorted((out / "tables").glob("*.csv"))]
    if len(kept) > MOST_FILES - 5:
        raise SystemExit(
            f"{len(kept)} tables are too many to publish: at most {MOST_FILES} files; bind some of them into"
            " a book."
        )

    def link(found: re.Match[str]) -> str:
        return found[0] if (place / found[1]).exists() else ""

    page = place / "index.html"
    page.write_text(LINK.sub(link, (out / "index.html").read_text(encoding="utf-8")), encoding="utf-8")
    return [page, records(out, place), *kept]


def records(out: Path, place: Path) -> Path:
    """Write the records without series, compressed, the same bytes for the same records.

    `check` proves the page from them.
    """
    path = place / "records.jsonl.gz"
    lines = (out / "records.jsonl").read_bytes().splitlines(keepends=True)
    with path.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        packed.writelines(line for line in lines if SERIES not in line[:80])
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the folder of a report, such as reports/out")
    files = publish(parser.parse_args().out)
    print(f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB: {files[0]}")
