"""One look for every figure: colours, markers and lines that tell solvers and forms apart, in grey too."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogFormatter, LogLocator, NullFormatter, NullLocator

from herk.bench import whole_files

# Colours of Okabe and Ito, distinguishable with every kind of colour vision (their yellow is too faint on
# white), and three of Tol's.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
    "#882255",
    "#999933",
    "#332288",
)
MARKERS = (
    "o",
    "s",
    "^",
    "D",
    "v",
    "P",
    "X",
    "<",
    ">",
    "p",
    "h",
)  # 11 and 10 are coprime: 110 solvers have looks of their own
LINES = {
    "overdetermined": (),
    "ode": (5, 2),
    "index1": (1.5, 1.5),
    "ggl": (7, 2, 1.5, 2),
    "baumgarte": (3, 1.5),
    "index2": (8, 3),
    "index3": (2, 4),
}
OTHER_LINE = (6, 2, 1, 2, 1, 2)
SAME = "same"
FACES = {
    "ggl": "#B0B0B0",
    "baumgarte": "#B0B0B0",
    "index2": SAME,
    "index3": "black",
}  # forms are told apart without their dashes, too
GREY = "#666666"
GHOST = "#D0D5DA"  # curves of other panels, behind
RC: Any = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "axes.edgecolor": "#888888",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "lines.linewidth": 1.4,
    "lines.markersize": 5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "text.parse_math": False,  # names come from records: a dollar sign is a dollar sign
    "svg.fonttype": "none",
    "svg.hashsalt": "herk",
    "figure.dpi": 120,
    "path.simplify_threshold": 0.3,  # points closer to the line than that are not seen, but weigh
}
# Coordinates are cut, scales of glyphs and the texts of labels are not.
PLACES = re.compile(rb'(?<=[\s"])(?:d|points|x|y|x1|x2|y1|y2)="[^"]*"|translate\([^)]*\)')
# Decades on an axis, and the multiples of powers of ten that have a label on one as short as that.
SUBS = ((0.6, tuple(map(float, range(1, 10)))), (1.7, (1.0, 2.0, 5.0)), (3.0, (1.0, 3.0)), (math.inf, (1.0,)))
EXPONENT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Look:
    """How one curve is drawn; ours are heavier and filled, rivals thin and hollow."""

    colour: str
    marker: str
    dashes: tuple[float, ...]
    ours: bool
    face: str = "white"  # of the markers of rivals, by form

    def line(self) -> dict[str, Any]:
        """Return the keywords of matplotlib's plot."""
        return {
            "color": self.colour,
            "marker": self.marker,
            "markerfacecolor": self.colour if self.ours or self.face == SAME else self.face,
            "linewidth": 1.8 if self.ours else 1.1,
            "linestyle": (0, self.dashes) if self.dashes else "-",
        }


def looks(
    curves: Iterable[tuple[str, str]], ours: Collection[str], first: Collection[str] = ()
) -> dict[tuple[str, str], Look]:
    """Return a look for every (solver, form): colour and marker by solver, line by form.

    Solvers in `first` have the first colours.
    """
    pairs = sorted(set(curves))
    solvers = sorted(
        {solver for solver, _ in pairs}, key=lambda name: (name not in first, name not in ours, name)
    )
    colours = {solver: COLOURS[k % len(COLOURS)] for k, solver in enumerate(solvers)}
    markers = {solver: MARKERS[k % len(MARKERS)] for k, solver in enumerate(solvers)}
    found = {}
    for solver, form in pairs:
        dashes, face = LINES.get(form, OTHER_LINE), FACES.get(form, "white")
        found[solver, form] = Look(colours[solver], markers[solver], dashes, solver in ours, face)
    return found


def power(value: float, _: object = None) -> str:
    """Return the label of a tick: 10⁻³, 2·10⁻³."""
    if value <= 0:
        return ""
    exponent = math.floor(math.log10(value) + 1e-9)
    leading = f"{value / 10.0**exponent:.0f}"
    return f"{'' if leading == '1' else f'{leading}·'}10{str(exponent).translate(EXPONENT)}"


def logarithmic(axis: Any) -> None:
    """Make an axis with its data logarithmic, with at most eight labels.

    Powers of ten, and multiples of them on a short one: a single label would not tell the scale.
    """
    _widen(axis)
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    low, high = sorted(axis.get_view_interval())
    decades = math.log10(high / low) if low > 0 else math.inf
    subs = next(subs for most, subs in SUBS if decades < most)
    axis.set_major_locator(LogLocator(base=10, subs=subs, numticks=8))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(power))


def plain_powers(drawn: Figure) -> None:
    """Give logarithmic axes our labels in place of matplotlib's, which are formulas and not read here."""
    for axis in (axis for axes in drawn.axes for axis in (axes.xaxis, axes.yaxis)):
        if isinstance(axis.get_major_formatter(), LogFormatter):
            axis.set_major_formatter(FuncFormatter(power))
        if isinstance(axis.get_minor_formatter(), LogFormatter):
            axis.set_minor_formatter(NullFormatter())


def _widen(axis: Any) -> None:
    """Give an axis on which all points have one value a decade to either side: a scale needs two ends."""
    siblings = getattr(axis.axes, f"get_shared_{axis.axis_name}_axes")().get_siblings(axis.axes)
    ends = [getattr(each, f"{axis.axis_name}axis").get_data_interval() for each in siblings]
    low, high = (pick(value for pair in ends for value in pair) for pick in (min, max))
    if (
        0 < low <= high < low * (1 + 1e-9)
    ):  # a median is not quite its only value: it went through a logarithm
        axis.axes.set(**{f"{axis.axis_name}lim": (low / 10, high * 10)})


def legend_below(
    figure: Figure, axes: Axes, columns: int = 3, rank: Callable[[str], Any] | None = None
) -> None:
    """Put the legend under the plots, where it covers nothing; `rank` orders its labels."""
    handles, labels = axes.get_legend_handles_labels()
    if rank:
        pairs = sorted(zip(labels, handles, strict=True), key=lambda pair: rank(pair[0]))
        labels, handles = [label for label, _ in pairs], [handle for _, handle in pairs]
    if handles:
        figure.legend(handles, labels, loc="outside lower left", ncols=columns, handlelength=3.2)


def legend_beside(row: Iterable[Axes]) -> None:
    """Put one legend for a row of plots to its right."""
    panels = list(row)
    found = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if found:
        panels[-1].legend(
            found.values(),
            found.keys(),
            loc="center left",
            bbox_to_anchor=(1.02, 0.5),
            fontsize=7.5,
            handlelength=3.2,
        )


def figure(width: float = 7.2, height: float = 4.4) -> Figure:
    """Return an empty figure; call it and draw inside `mpl.rc_context(RC)`."""
    return Figure(figsize=(width, height), layout="constrained")


def save(drawn: Figure, path: Path) -> list[Path]:
    """Write path.svg and path.png.

    The SVG holds no date and two decimals, so that it changes only when a number does.
    """
    svg, png = (path.with_name(f"{path.name}.{ending}") for ending in ("svg", "png"))
    plain_powers(drawn)
    with mpl.rc_context(RC):
        drawn.draw_without_rendering()
        drawn.set_layout_engine(
            "none"
        )  # the layout is done, once for both files; savefig would do it twice for each
        vector, dots = io.BytesIO(), io.BytesIO()
        FigureCanvasAgg(drawn).print_png(dots, metadata={"Software": None})
        FigureCanvasSVG(drawn).print_svg(vector, metadata={"Date": None, "Creator": None})
    return [whole_files.data(svg, small(vector.getvalue())), whole_files.data(png, dots.getvalue())]


def draw(
    drawings: Mapping[str, Callable[[Any], Figure]], study: object, folder: Path, rc: Any = RC
) -> list[Path]:
    """Write every drawing of a study into the folder under its name, and return the files."""
    with mpl.rc_context(rc):
        return [path for name, drawing in drawings.items() for path in save(drawing(study), folder / name)]


def small(svg: bytes) -> bytes:
    """Return an SVG without digits that nobody sees."""
    return b"\n".join(line.strip() for line in cut(svg, 2).splitlines())


def cut(svg: bytes, decimals: int) -> bytes:
    """Return an SVG whose coordinates have this many decimals."""
    digits = re.compile(rb"(\d+\.\d{%d})\d+" % decimals)
    return PLACES.sub(lambda found: digits.sub(rb"\1", found[0]), svg)
