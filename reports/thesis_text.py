"""The thesis study as text: the generic tables, and Table 1 in the shape it has in the thesis."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from herk.reproductions.thesis import Cell, Study
from herk.reproductions.thesis.figures import FIGURES
from herk.reproductions.thesis.table1 import verdict
from reports import seed_text

MARKS = {"same": "=", "within rounding": "~", "misprint": "M", "wrong in print": "W", "not reproduced": "?"}
CELL_COLUMNS = (
    "system",
    "tf",
    "beta",
    "eps0",
    "printed_error",
    "printed_steps",
    "error",
    "steps",
    "rejected",
    "newton_abort",
    "t_reached",
    "seconds",
    "matches",
    "verdict",
    "why",
)
NOTE = (
    "`ours` is `herk.thesis.herkosidae` with the settings printed; `modern` is `herk.solve_dae` with rtol ="
    " atol = eps0."
)


def plain_table1(cells: Sequence[Cell]) -> str:
    """Return Table 1 for the terminal: our error and steps with a mark for the verdict."""
    lines = [f"{'system':<8}{'t_f':>5}{'beta':>6}" + "".join(f"{f'1e-{k}':>19}" for k in range(5, 13))]
    table: dict[tuple[str, float, float], list[Cell]] = {}
    for cell in cells:
        table.setdefault(cell.key[:3], []).append(cell)
    for (system, tf, beta), line in table.items():
        entries = [
            f"abort t={c.t_reached:.0f}" if c.newton_abort else f"{c.error:.2e} {c.steps}" for c in line
        ]
        marks = [MARKS[verdict(cell)[0].value] for cell in line]
        lines.append(
            f"({system})   {tf:>5g}{beta:>6g}"
            + "".join(f"{entry:>17} {mark}" for entry, mark in zip(entries, marks, strict=True))
        )
    lines.append("= same  ~ within rounding  M misprint  W wrong in print  ? not reproduced")
    return "\n".join(lines)


def plain(study: Study) -> str:
    """Return the report for the terminal: the cells of Table 1 as a table instead of rows."""
    rows = [row for row in study.rows if row.part != "Table 1"]
    parts = [
        study.title,
        "",
        *seed_text.plain_rows(rows),
        "",
        "Table 1 (error, steps)",
        plain_table1(study.cells),
        seed_text.origins(study),
    ]
    return "\n".join(
        [*parts, "", "Errata", *seed_text.plain_errata(study.errata), "", *seed_text.plain_claims(study)]
    )


def write(study: Study, folder: Path) -> list[Path]:
    """Write the generic tables and the cells of Table 1."""
    notes = [NOTE] + (
        ["Quick run: the cells of Table 1 with t_f = 2000 are left out."] if study.quick else []
    )
    files = seed_text.write(study, folder, FIGURES, *notes)
    cells = [
        (
            *c.printed,
            c.error,
            c.steps,
            c.rejected,
            c.newton_abort,
            c.t_reached,
            round(c.seconds, 3),
            c.matches,
            *verdict(c),
        )
        for c in study.cells
    ]
    return [*files, seed_text.write_csv(folder / "table1.csv", CELL_COLUMNS, cells)]
