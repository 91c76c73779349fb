"""What recommend answers: plain data, and the same as text."""

from __future__ import annotations

from dataclasses import dataclass, field

from herk.bench.listing import aligned
from herk.bench.recommend.advice import seconds
from herk.bench.recommend.rank import Row

HEAD = (
    *("rank", "solver", "form", "rtol", "error", "time"),
    *("steps", "evaluations", "max |g|", "compile", "remark"),
)


@dataclass(frozen=True)
class Recommendation:
    """The answer.

    `verdict`: "not stiff", "mildly stiff", "stiff", "unknown"; or, without rows, "ill-posed", "inconsistent",
    "unusable", "no reference". `constraints` are the formulas of each level, `reference_digits` the digits
    two solvers agree on by component.
    """

    path: str
    name: str
    verdict: str
    advice: str
    wanted: float
    discontinuous: bool = False
    index: int | None = None
    constraints: tuple[tuple[str, ...], ...] = ()
    reference: str = ""
    reference_digits: dict[str, float] = field(default_factory=dict)
    rows: tuple[Row, ...] = ()
    chosen: Row | None = None
    code: str = ""
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return everything for a terminal."""
        parts = [f"{title}\n{'-' * len(title)}\n{content}" for title, content in self.sections() if content]
        return "\n\n".join([f"Which solver for {self.name}? ({self.path})", *parts])

    def sections(self) -> list[tuple[str, str]]:
        """Return title and text of every section; empty ones are left out by whoever shows them."""
        return [
            ("Model", self.model_text()),
            ("Reference", self.reference_text()),
            ("Ranking", aligned([HEAD, *map(cells, self.rows)]) if self.rows else ""),
            ("Advice", self.advice),
            ("Code", self.code),
            ("Notes", "\n".join(self.notes)),
        ]

    def model_text(self) -> str:
        """Return index and constraints."""
        if self.index is None:
            return ""
        lines = [f"index {self.index}" + ("" if self.constraints else ", no constraints")]
        for level, formulas in enumerate(self.constraints):
            name = "as written" if level == 0 else f"hidden, level {level}"
            lines += [f"0 = {formula}    ({name})" for formula in formulas]
        return "\n".join(lines)

    def reference_text(self) -> str:
        """Return who agrees with whom to how many digits."""
        digits = ", ".join(f"{name} {value:.0f}" for name, value in self.reference_digits.items())
        return f"{self.reference}\nDigits by component: {digits}" if digits else self.reference


def cells(row: Row) -> tuple[str, ...]:
    """Return a row of the ranking as text."""
    return (
        "-" if row.rank is None else str(row.rank),
        row.solver,
        row.form,
        *(
            "-" if value is None else f"{value:.{digits}e}"
            for value, digits in ((row.rtol, 0), (row.error, 1))
        ),
        seconds(row.seconds),
        *("-" if value is None else str(value) for value in (row.nstep, row.nfev)),
        "-" if row.drift is None else f"{row.drift:.0e}",
        f"{row.prepare_seconds:.1f} s",
        _short(row.note),
    )


def _short(note: str, most: int = 70) -> str:
    line = " ".join(note.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."
