"""The thesis study as text: tables for the terminal and for Markdown, rows as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from herk.bench.thesis_study import Cell, Row, Study
from herk.bench.thesis_study.table1 import verdict

MARKS = {"same": "=", "within rounding": "~", "misprint": "M", "wrong in print": "W", "not reproduced": "?"}
COLUMNS = ("part", "case", "quantity", "printed", "ours", "verdict", "why", "modern_method", "modern_error", "modern_steps", "modern_ms")
FIGURES = {
    "orders": "Figures 3, 4 and 9: orders",
    "swings": "Figures 5 to 8: half a period",
    "pendulum": "Figure 10: ten periods",
    "table1": "Table 1 as a picture",
    "wind": "Figure 11: the crane pendulum, as printed and corrected",
    "chain": "Figures 13 to 15: the chain",
    "circuit": "Figures 16 and 17: the circuit",
    "akzo": "Figures 18 to 20: Akzo Nobel",
}


def value(entry: float | str | None) -> str:
    """Return a number with four digits, counts in full."""
    if isinstance(entry, float):
        return f"{entry:.4f}" if 0.01 <= abs(entry) < 100 else f"{entry:.2e}"
    return "" if entry is None else str(entry)


def markdown_table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    texts = [[entry.replace("|", "\\|") for entry in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *texts))


def flat(row: Row) -> tuple[str, ...]:
    """Return a row as texts in the order of COLUMNS."""
    beside = ("", "", "", "")
    if row.modern:
        beside = (row.modern.method, f"{row.modern.error:.1e}", str(row.modern.steps), f"{row.modern.ms:.1f}")
    return (row.part, row.case, row.quantity, value(row.printed), value(row.ours), row.verdict.value, row.why, *beside)


def plain_table1(cells: Sequence[Cell]) -> str:
    """Return Table 1 for the terminal: our error and steps with a mark for the verdict."""
    lines = [f"{'system':<8}{'t_f':>5}{'beta':>6}" + "".join(f"{f'1e-{k}':>19}" for k in range(5, 13))]
    table: dict[tuple[str, float, float], list[Cell]] = {}
    for cell in cells:
        table.setdefault(cell.key[:3], []).append(cell)
    for (system, tf, beta), line in table.items():
        entries = [f"abort t={c.t_reached:.0f}" if c.newton_abort else f"{c.error:.2e} {c.steps}" for c in line]
        marks = [MARKS[verdict(cell)[0].value] for cell in line]
        lines.append(
            f"({system})   {tf:>5g}{beta:>6g}" + "".join(f"{entry:>17} {mark}" for entry, mark in zip(entries, marks, strict=True))
        )
    lines.append("= same  ~ within rounding  M misprint  W wrong in print  ? not reproduced")
    return "\n".join(lines)


def plain(study: Study) -> str:
    """Return the report for the terminal."""
    rows = [row for row in study.rows if row.part != "Table 1"]
    body = [
        f"{row.part:<13}{row.case:<26}{row.quantity:<36}{value(row.printed):>30}  {value(row.ours):<30}{row.verdict.value}" for row in rows
    ]
    claims = [f"{'PASS' if holds else 'FAIL'}  {text}" for text, holds in study.claims()]
    wrong = [f"{'shown' if e.holds else 'NOT SHOWN'}: {e.where}: {e.printed} -> {e.right}\n       {e.evidence}" for e in study.errata]
    head = f"{'part':<13}{'case':<26}{'quantity':<36}{'printed':>30}  {'ours':<30}verdict"
    return "\n".join([head, *body, "", "Table 1 (error, steps)", plain_table1(study.cells), "", "Errata", *wrong, "", *claims])


def markdown(study: Study) -> str:
    """Return the report as Markdown."""
    parts = ["# The thesis of 2017, Chapter 4, reproduced", ""]
    parts += [f"- {'PASS' if holds else '**FAIL**'}: {text}" for text, holds in study.claims()]
    if study.quick:
        parts += ["", "Quick run: the cells of Table 1 with t_f = 2000 are left out."]
    parts += [
        "",
        "`ours` is `herk.thesis.herkosidae` with the settings printed; "
        "`modern` is `herk.solve_dae` on the same problem with rtol = atol = eps0.",
        "",
    ]
    head = ("case", "quantity", "printed", "ours", "verdict", "why", "modern", "error", "steps", "ms")
    names = list(dict.fromkeys(row.part for row in study.rows))
    for part in names:
        parts += [f"## {part}", "", markdown_table(head, [flat(row)[1:] for row in study.rows if row.part == part]), ""]
    parts += [
        "## Errata",
        "",
        markdown_table(
            ("where", "printed", "right", "evidence", "shown"),
            [(e.where, e.printed, e.right, e.evidence, "yes" if e.holds else "**no**") for e in study.errata],
        ),
        "",
    ]
    parts += ["## Figures", ""] + [f"### {title}\n\n![{title}]({name}.svg)\n" for name, title in FIGURES.items()]
    return "\n".join(parts)


def write(study: Study, folder: Path) -> list[Path]:
    """Write the rows, the cells and the errata as CSV, and the report as Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = [
        (*c.printed, c.error, c.steps, c.rejected, c.newton_abort, c.t_reached, round(c.seconds, 3), c.matches, *verdict(c))
        for c in study.cells
    ]
    tables: dict[str, tuple[Sequence[str], Sequence[Sequence[object]]]] = {
        "rows.csv": (COLUMNS, [flat(row) for row in study.rows]),
        "table1.csv": (
            (
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
            ),
            cells,
        ),
        "errata.csv": (
            ("where", "printed", "right", "evidence", "holds"),
            [(e.where, e.printed, e.right, e.evidence, e.holds) for e in study.errata],
        ),
    }
    for name, (head, lines) in tables.items():
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([head, *lines])
    (folder / "thesis.md").write_text(markdown(study), encoding="utf-8")
    return [folder / name for name in (*tables, "thesis.md")]
