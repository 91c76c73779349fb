"""Put a rendered report into reports/published: the page and its tables; links to files that stay behind are taken out."""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path

PUBLISHED = Path(__file__).parents[1] / "reports" / "published"
TABLES = (".csv", ".md")
LINK = re.compile(r'<a\b[^>]*\bhref="(?!#|data:|https?:)([^"#]+)"[^>]*>([^<]*)</a>')


def publish(out: Path, place: Path = PUBLISHED) -> list[Path]:
    """Copy tables and page; return the files written."""
    tables = place / "tables"
    shutil.rmtree(tables, ignore_errors=True)
    tables.mkdir(parents=True)
    kept = [Path(shutil.copy(path, tables)) for path in sorted((out / "tables").iterdir()) if path.suffix in TABLES]

    def link(found: re.Match[str]) -> str:
        return found[0] if (place / found[1]).exists() else ""

    page = place / "index.html"
    page.write_text(LINK.sub(link, (out / "index.html").read_text(encoding="utf-8")), encoding="utf-8")
    return [page, *kept]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the folder of a report, such as reports/out")
    files = publish(parser.parse_args().out)
    print(f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB: {files[0]}")
