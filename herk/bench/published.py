"""A study of a document: what is printed, what we get, the verdict and why; errata with the numbers that show them."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True)
class Modern:
    """herk.solve_dae on the same problem: 2-norm of the error (at the end, or as the row says), accepted steps, milliseconds."""

    method: str
    error: float
    steps: int
    ms: float


@dataclass(frozen=True)
class Row:
    """One published result; texts where a value is not one number."""

    part: str
    case: str
    quantity: str
    printed: float | str | None
    ours: float | str | None
    verdict: Verdict
    why: str = ""
    modern: Modern | None = None


@dataclass(frozen=True)
class Erratum:
    """A claim about a document: where, what is printed, what is right, the numbers that show it, and whether they do."""

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
