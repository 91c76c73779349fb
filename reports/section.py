"""A section of the report as data: verdicts on top, then words, tables, pictures and parts."""

from __future__ import annotations

from dataclasses import dataclass, field

from matplotlib.figure import Figure

from reports.claims import Claim
from reports.tables import Table, slug


@dataclass(frozen=True)
class Picture:
    """A figure of the report: drawn by us, or a file that a study left (a path relative to the report)."""

    name: str
    caption: str
    drawn: Figure | None = None
    path: str | None = None

    @property
    def file(self) -> str:
        """Return the name of its files, without ending."""
        return slug(self.name)


@dataclass(frozen=True)
class Formula:
    """A line of mathematics in LaTeX, with words before it."""

    words: str
    latex: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """A section; one without tables, pictures and parts shows its words only.

    Parts that are not folded are listed on its top.

    `verdicts` are claims: every sentence of the report carries the facts that prove it.
    """

    id: str
    title: str
    verdicts: tuple[Claim, ...] = ()
    words: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    formulas: tuple[Formula, ...] = ()
    parts: tuple[Section, ...] = field(default=())
    folded: bool = False
    tables_first: bool = False
    label: str = ""
    in_summary: bool = True
    short: str = ""  # the title in the bar on top, if it is another one

    @property
    def anchor(self) -> str:
        """Return where links to this section lead."""
        return slug(self.id)

    @property
    def contents(self) -> tuple[Section, ...]:
        """Return the parts that are listed on top."""
        return tuple(part for part in self.parts if not part.folded)

    def all_tables(self) -> list[Table]:
        """Return the tables of this section and its parts."""
        return [*self.tables, *(table for part in self.parts for table in part.all_tables())]

    def all_pictures(self) -> list[Picture]:
        """Return the pictures of this section and its parts."""
        return [*self.pictures, *(picture for part in self.parts for picture in part.all_pictures())]
