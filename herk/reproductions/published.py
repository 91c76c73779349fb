"""A study of a document: what is printed, what we get, the verdict and why.

Errata with the numbers that show them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class Verdict(StrEnum):
    """What became of a printed value."""

    SAME = "same"
    ROUNDING = "within rounding"
    BAND = "within the band"
    MISPRINT = "misprint"
    WRONG = "wrong in print"
    LOST = "not reproduced"


class Origin(StrEnum):
    """Where the value beside ours comes from: only the first two stand in the document."""

    PRINTED = "printed value"
    SAID = "said in words"
    PICTURE = "read from a picture"
    PROGRAM = "from the original program"
    OURS = "ours"


@dataclass(frozen=True)
class Modern:
    """herk.solve_dae on the same problem.

    2-norm of the error (at the end, or as the row says), accepted steps, milliseconds.
    """

    method: str
    error: float
    steps: int
    ms: float


@dataclass(frozen=True)
class Row:
    """One result beside ours; texts where a value is not one number.

    Every row says where `printed` comes from.
    """

    part: str
    case: str
    quantity: str
    printed: float | str | None
    ours: float | str | None
    verdict: Verdict
    why: str = ""
    modern: Modern | None = None
    origin: Origin = field(kw_only=True)


@dataclass(frozen=True)
class Erratum:
    """A claim about a document: where, what is printed, what is right, the numbers that show it.

    And whether they do.
    """

    where: str
    printed: str
    right: str
    evidence: str
    holds: bool


class SeedStudy(Protocol):
    """A document reproduced; figures use whatever else a study holds."""

    @property
    def name(self) -> str:
        """The name on the command line."""

    @property
    def title(self) -> str:
        """The document, in words."""

    @property
    def rows(self) -> list[Row]:
        """Every published value."""

    @property
    def errata(self) -> list[Erratum]:
        """What is wrong in print."""

    def claims(self) -> list[tuple[str, bool]]:
        """Return what the study claims, and whether it holds."""


def close(ours: float, printed: float, tolerance: float) -> bool:
    """Tell whether the relative difference is at most `tolerance`."""
    return abs(ours - printed) <= tolerance * abs(printed)


def digits_agree(ours: float, printed: float, digits: int) -> bool:
    """Tell whether both are the same when written with this many digits."""
    return f"{ours:.{digits - 1}e}" == f"{printed:.{digits - 1}e}"


def by_origin(rows: Iterable[Row]) -> dict[Origin, int]:
    """Count rows by where their values come from, in the order of Origin.

    Kinds that do not occur are left out.
    """
    found = Counter(row.origin for row in rows)
    return {origin: found[origin] for origin in Origin if found[origin]}


def reproduced(rows: Sequence[Row]) -> tuple[str, bool]:
    """Return the claim that no row is lost, with the rows counted by origin."""
    lost = sum(row.verdict is Verdict.LOST for row in rows)
    kinds = ", ".join(f"{origin.value}: {number}" for origin, number in by_origin(rows).items())
    return (
        f"{len(rows) - lost} of {len(rows)} values are reproduced or refuted ({kinds})",
        bool(rows) and not lost,
    )
