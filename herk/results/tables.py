"""Points as a table: a pandas frame, and a summary of every component in text and HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MOST = 24  # components; a longer table helps nobody


def frame(t: Array, rows: Mapping[str, Array]) -> Any:
    """Return a pandas frame with the times as index."""
    import pandas as pd

    return pd.DataFrame(dict(rows), index=pd.Index(t, name="t"))


def components(rows: Mapping[str, Array]) -> list[tuple[str, ...]]:
    """Return name, start, end, smallest and largest value of each component."""
    found: list[tuple[str, ...]] = [("", "start", "end", "min", "max")]
    for name, row in list(rows.items())[:MOST]:
        numbers = (row[0], row[-1], row.min(), row.max()) if len(row) else (np.nan,) * 4
        found.append((name, *(f"{number:.6g}" for number in numbers)))
    if len(rows) > MOST:
        found.append((f"... {len(rows) - MOST} more", "", "", "", ""))
    return found


def as_text(facts: Mapping[str, str], table: Sequence[tuple[str, ...]] = ()) -> str:
    """Return facts line by line, then the table with its columns aligned."""
    width = max(map(len, facts), default=0)
    lines = [f"{name:>{width}}: {value}" for name, value in facts.items()]
    if table:
        widths = [max(len(row[j]) for row in table) for j in range(len(table[0]))]
        lines += [
            "",
            *("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in table),
        ]
    return "\n".join(lines)


def as_html(facts: Mapping[str, str], table: Sequence[tuple[str, ...]]) -> str:
    """Return the same as two HTML tables, for notebooks."""
    top = "".join(
        f"<tr><th style='text-align:right'>{html.escape(name)}</th><td style='text-align:left'>"
        f"{html.escape(value)}</td></tr>"
        for name, value in facts.items()
    )
    head, *body = table
    columns = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in body
    )
    below = f"<table><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<table>{top}</table>{below}"
