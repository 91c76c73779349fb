"""Figures as parts of a page: written beside it, and inlined as data so that the page needs no other file."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from PIL import Image

from herk.reproductions import style
from reports.section import Picture

SIZE = re.compile(
    rb'<svg[^>]*?\swidth="([\d.]+)pt"[^>]*?\sheight="([\d.]+)pt"|<svg[^>]*?\sheight="([\d.]+)pt"[^>]*?\swidth="([\d.]+)pt"',
    re.DOTALL,
)
HEAD = re.compile(rb"^.*?(?=<svg)|<metadata>.*?</metadata>", re.DOTALL)
NAMES = re.compile(rb' id="[A-Za-z.]+\d?[A-Za-z]*_\d+"')  # of matplotlib's groups, which nothing refers to
QUOTED = re.compile(rb'="([^"\']*)"')
SAFE = " =:/;,'()*@!$+?|"  # in a data URI inside double quotes; no sign that HTML reads is among them
BREAK = re.compile(rb"\s*\n\s*")
WIDEST = 1600  # pixels of an inlined picture


@dataclass(frozen=True)
class Inlined:
    """A picture as the page holds it; files are names and paths relative to the page."""

    src: str
    width: int
    height: int
    files: tuple[tuple[str, str], ...]


def inline(picture: Picture, out: Path) -> Inlined | None:
    """Return a picture for the page, drawn and written to OUT/figures first if it is ours.

    None if its file is not there.
    """
    if picture.drawn is not None:
        svg, png = style.save(picture.drawn, out / "figures" / picture.file)
        found = vector(svg.read_bytes())
        return found and Inlined(*found, (("SVG", f"figures/{svg.name}"), ("PNG", f"figures/{png.name}")))
    path = inside(out, picture.path or "")
    if path is None:
        return None
    files = [path.with_suffix(ending) for ending in (".svg", ".png") if path.with_suffix(ending).is_file()]
    sources = [
        found
        for file in files
        if (found := vector(file.read_bytes()) if file.suffix == ".svg" else raster(file))
    ]
    links = tuple(
        (file.suffix[1:].upper(), quote(file.relative_to(out.resolve()).as_posix())) for file in files
    )
    return Inlined(*min(sources, key=lambda source: len(source[0])), links) if sources else None


def inside(out: Path, path: str) -> Path | None:
    """Return a path given in a record, None if it would lead out of the report."""
    found = (out / path).resolve()
    return found if path and found.is_relative_to(out.resolve()) else None


def vector(svg: bytes) -> tuple[str, int, int] | None:
    """Return an SVG as data with its size in pixels, without digits nobody sees.

    As an image it can neither run nor load anything.
    """
    size = SIZE.search(svg)
    if not size:
        return None
    width, height = (float(each) for each in (size[1] or size[4], size[2] or size[3]))
    return "data:image/svg+xml," + quote(shorter(svg), safe=SAFE), round(width * 4 / 3), round(height * 4 / 3)


def shorter(svg: bytes) -> str:
    """Return an SVG of matplotlib's with fewer characters that looks the same."""
    svg = style.cut(svg, 1)
    for pattern, instead in ((HEAD, b""), (NAMES, b""), (BREAK, b" "), (QUOTED, rb"='\1'")):
        svg = pattern.sub(instead, svg)
    return svg.decode("utf-8", "replace")


def raster(file: Path) -> tuple[str, int, int] | None:
    """Return a picture of dots as data, with 64 colours, which is enough for lines."""
    try:
        with Image.open(file) as image:
            image.thumbnail((WIDEST, WIDEST * 2))
            buffer = io.BytesIO()
            image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
            return (
                "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode(),
                image.width * 2 // 3,
                image.height * 2 // 3,
            )
    except (OSError, ValueError):
        return None
