"""A recommendation as one self-contained page.

The sections of the text, escaped, in the style of the report.
"""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from herk.bench import environment, whole_files
from herk.bench.recommend.answer import HEAD, Recommendation, cells
from herk.bench.recommend.rank import Row

TEMPLATES = Path(__file__).with_name("templates")
NAME = "recommend.html"
NUMBERS = ("rank", "rtol", "error", "time", "steps", "evaluations", "max |g|", "compile")


def write(recommendation: Recommendation, out: Path) -> Path:
    """Write the page into the folder and return its path."""
    return whole_files.text(Path(out) / NAME, render(recommendation))


def render(recommendation: Recommendation) -> str:
    """Return the page as text."""
    pages = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    style = Markup((TEMPLATES / "page.css").read_text(encoding="utf-8"))  # noqa: S704 - our own file
    levels = [
        ("as written" if level == 0 else f"hidden, level {level}", each)
        for level, each in enumerate(recommendation.constraints)
    ]
    return pages.get_template(NAME).render(
        found=recommendation, style=style, levels=levels, head=[(name, name in NUMBERS) for name in HEAD],
        rows=[(row is recommendation.chosen, _cells(row)) for row in recommendation.rows],
        versions=environment.fields(),
    )  # fmt: skip


def _cells(row: Row) -> list[tuple[str, bool]]:
    return [(text, name in NUMBERS) for name, text in zip(HEAD, cells(row), strict=True)]
