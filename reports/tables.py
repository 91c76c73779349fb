"""A table of the report: rows with a name and a caption, as CSV, Markdown and HTML.

And how numbers are written in it.
"""

from __future__ import annotations

import hashlib
import html
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from herk.bench import whole_files
from reports.export import harmless

NONE = "–"
NAME = 30  # characters; shorter texts are names and counts, which are not broken into lines
LONG = 80  # characters; columns with such texts get room on the page
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def short(value: float) -> str:
    """Return a number with two digits, as in 1.3e-8, counts and small numbers in full."""
    if isinstance(value, str):
        return value
    if value is None or not math.isfinite(value):
        return NONE
    if value == 0 or (float(value).is_integer() and abs(value) < 1e7):
        return f"{value:.0f}"
    return f"{float(f'{value:.2g}'):g}" if 0.01 <= abs(value) < 1e4 else tolerance(value)


def tolerance(value: float) -> str:
    """Return a tolerance as people write it: 1e-6, 3.2e-7."""
    return f"{value:.1e}".replace(".0e", "e").replace("e-0", "e-").replace("e+0", "e+")


def seconds(value: float) -> str:
    """Return a time with two digits and a unit that fits."""
    if value is None or not math.isfinite(value):
        return NONE
    size, unit = next(((size, unit) for size, unit in UNITS if value >= 0.9995 * size), UNITS[-1])
    return f"{float(f'{value / size:.2g}'):g} {unit}"


def fraction(ratio: float) -> str:
    """Return how a cost compares with another one, for a ratio below 1: 1/24, 0.63."""
    return f"1/{float(f'{1 / ratio:.2g}'):g}" if ratio <= 0.5 else f"{ratio:.2f}"


def slug(name: str) -> str:
    """Return a file name for any text.

    Names that had to be changed get a few digits so that no two are the same.
    """
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_.") or "unnamed"
    return plain if plain == name else f"{plain[:60]}_{hashlib.sha256(name.encode()).hexdigest()[:6]}"


@dataclass(frozen=True)
class Table:
    """Rows of the report; `formats` write a column's values, `classes` say how a cell looks on the page."""

    name: str
    caption: str
    frame: pd.DataFrame
    formats: Mapping[Any, Callable[[Any], str]] = field(default_factory=dict)
    classes: Mapping[Any, Callable[[Any], str]] = field(default_factory=dict)
    folded: bool = False
    on_page: bool = True
    book: str = ""  # tables of one book share a file, in which a first column tells them apart

    @property
    def file(self) -> str:
        """Return the name of its files, without ending."""
        return slug(self.book or self.name)

    @property
    def anchor(self) -> str:
        """Return where links to this table lead."""
        return f"table-{slug(self.name)}"

    def without(self, *columns: str) -> Table:
        """Return the table without some columns."""
        return replace(self, frame=self.frame.drop(columns=list(columns)))

    @property
    def head(self) -> list[str]:
        """Return the names of the columns."""
        return [str(column) for column in self.frame.columns]

    def cells(self) -> list[list[tuple[str, str]]]:
        """Return every cell as text and class, row by row."""
        columns = [self._column(name) for name in self.frame.columns]
        return [list(row) for row in zip(*columns, strict=True)]

    def numeric(self, name: Any) -> bool:
        """Tell whether a column holds numbers."""
        values = self.frame[name]
        return name in self.formats or (
            pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
        )

    def right(self, name: Any) -> bool:
        """Tell whether a column stands at the right: numbers, and texts that are looked at as numbers."""
        return any("n" in look.split() for _, look in self._column(name)) or self.numeric(name)

    def _column(self, name: Any) -> list[tuple[str, str]]:
        values, numeric = self.frame[name], self.numeric(name)
        write, look = (
            self.formats.get(name) or (short if numeric else str),
            self.classes.get(name) or (lambda _: ""),
        )
        texts = [NONE if gone else write(value) for value, gone in zip(values, values.isna(), strict=True)]
        longest = max(map(len, texts), default=0)
        kind = "n" if numeric else "long" if longest > LONG else "whole" if longest <= NAME else ""
        return [
            (text, f"{kind} {'dim' if text is NONE else look(value)}".strip())
            for text, value in zip(texts, values, strict=True)
        ]

    def csv(self) -> str:
        """Return the table with all digits."""
        return harmless(self.frame).to_csv(index=False)

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [self.head, ["---"] * len(self.head), *([text for text, _ in row] for row in self.cells())]
        return "\n".join(f"| {' | '.join(clean(text) for text in line)} |" for line in lines)

    def html(self) -> str:
        """Return the table as a piece of HTML without looks."""
        head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in self.head)
        body = "\n".join(
            f"<tr>{''.join(f'<td>{html.escape(text)}</td>' for text, _ in row)}</tr>" for row in self.cells()
        )
        caption = f"<caption>{html.escape(self.caption)}</caption>"
        return f"<table>\n{caption}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"

    def write(self, folder: Path) -> list[Path]:
        """Write name.csv, name.md and name.html."""
        written = {
            "csv": self.csv(),
            "md": f"{clean(self.caption)}\n\n{self.markdown()}\n",
            "html": self.html(),
        }
        return [whole_files.text(folder / f"{self.file}.{ending}", text) for ending, text in written.items()]


def bound(tables: Iterable[Table]) -> list[Table]:
    """Return tables as they are written.

    Those of one book in one, with the name of each in a first column.
    """
    books: dict[str, list[Table]] = {}
    for table in tables:
        books.setdefault(table.file, []).append(table)
    return [pages[0] if not pages[0].book else _book(pages) for pages in books.values()]


def _book(pages: Sequence[Table]) -> Table:
    first = pages[0]
    marked = [
        page.frame.rename(columns=str).assign(table=page.name)[["table", *map(str, page.frame.columns)]]
        for page in pages
    ]
    formats = {str(name): write for page in pages for name, write in page.formats.items()}
    return Table(first.book, first.book.replace("_", " "), pd.concat(marked, ignore_index=True), formats)


def clean(text: str) -> str:
    """Return a text that stays one cell of a Markdown table and cannot become a tag."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
