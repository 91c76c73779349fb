"""What there is to run, as aligned tables: solvers with version, forms and availability."""

from __future__ import annotations

from collections.abc import Sequence

import baselines


def solvers() -> str:
    """Return one row for every solver, ours and foreign, and for every plugin that could not be loaded."""
    rows = [("solver", "version", "forms", "available")]
    for name in baselines.names():
        solver = baselines.get(name)
        available, reason = solver.available()
        rows.append((name, str(getattr(solver, "version", "")) or "-", " ".join(solver.forms), "yes" if available else f"no: {reason}"))
    rows += [(name, "-", "-", f"no: the plugin cannot be loaded: {reason}") for name, reason in baselines.broken().items()]
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines with columns under each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
