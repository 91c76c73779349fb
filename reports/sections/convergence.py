"""Section: whether a method keeps its order."""

from __future__ import annotations

from reports import figures, orders, verdicts
from reports.contents import Contents
from reports.section import Picture, Section
from reports.tables import Table

TITLE = "Convergence"
WORDS = (
    "Fixed steps, halved again and again. The observed order is the median of the last three slopes above rounding; "
    f"it counts as kept if it is at most {orders.SLACK:g} below the claimed one. Grey triangles have the slope of the claimed order."
)


def section(contents: Contents) -> Section:
    """Return the section."""
    found = orders.ladders(contents)
    frame = orders.table(contents, found)
    if frame.empty:
        tried = f"None of the {len(contents.fixed)} runs with fixed steps reached the end; see Failures."
        return Section("convergence", TITLE, (tried if len(contents.fixed) else "There are no runs with fixed steps in these records.",))
    marks = {"verdict": lambda value: {"kept": "good", "below": "bad"}.get(value, "")}
    formats = {"claimed": lambda value: f"{value:g}", "observed": lambda value: f"{value:.2f}"}
    listing = Table("orders", "Observed against claimed order.", frame, formats, marks, folded=len(frame) > 40)
    look, pictures = figures.looks(contents), []
    claims = {ladder.solver: orders.claimed(contents, ladder.solver) for ladder in found}
    for case in dict.fromkeys(ladder.case for ladder in found):
        here = [ladder for ladder in found if ladder.case == case]
        pictures.append(Picture(f"convergence_{case}", f"Error against step on {case}.", figures.convergence(here, look, claims)))
    return Section("convergence", TITLE, tuple(verdicts.order_words(frame)), (WORDS,), (listing,), tuple(pictures))
