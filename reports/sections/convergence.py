"""Section: whether a method keeps its order."""

from __future__ import annotations

import pandas as pd

from reports import figures, orders, verdicts
from reports.claims import Claim, none
from reports.contents import Contents
from reports.orders import Sweep
from reports.section import Picture, Section
from reports.tables import NONE, Table

TITLE = "Convergence"
WORDS = (
    "Fixed steps, smaller and smaller. Errors are the largest over the points of a run where the reference"
    " is known over time, otherwise those at its end. The observed order is the median of all slopes between"
    f" the last {orders.LAST} steps above rounding (errors below {orders.CONVERGED:g}); it counts as kept if"
    f" it is at most {orders.SLACK:g} below and {orders.ABOVE:g} above the claimed one. A slope above that"
    " is no order: the steps are still too large for it when rounding is reached, as happens with orders of"
    " 8 and 9. Grey triangles have the slope of the claimed order. Implicit Runge-Kutta methods on reduced"
    " forms stand beside without a claim: their order there is not the classical one."
)


def section(contents: Contents) -> Section:
    """Return the section: all cases in one table.

    The figures are with the five problems, of others they are here.
    """
    found = orders.sweeps(contents)
    frame = orders.table(contents, found)
    if frame.empty:
        tried = Claim("unmeasured", {"what": "fixed", "runs": len(contents.fixed), "measured": 0})
        return Section("convergence", TITLE, (tried if len(contents.fixed) else none("fixed"),))
    here = [sweep for sweep in found if sweep.problem not in contents.five]
    return Section(
        "convergence",
        TITLE,
        (verdicts.orders(frame),),
        (WORDS,),
        (listing("orders", "Observed against claimed order.", frame),),
        tuple(pictures(contents, here)),
    )


def of_problem(contents: Contents, name: str) -> Section | None:
    """Return the part of one problem, None if it was not run with fixed steps."""
    found = [sweep for sweep in orders.sweeps(contents) if sweep.problem == name]
    if not found:
        return None
    frame = orders.table(contents, found)
    wide = listing(
        f"orders_{name}",
        f"Orders on {name}: claimed, and observed in each group of components.",
        compact(frame),
    )
    return Section(
        f"orders-{name}",
        "Orders",
        (verdicts.orders(frame, name),),
        (),
        (wide,),
        tuple(pictures(contents, found)),
    )


def compact(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row for every method: its claimed order, the order of each group, and the worst verdict."""
    ranked = ("below", "too few steps above rounding", "kept", orders.FASTER, orders.EXACT, "no claim")
    rows = []
    for (problem, method), part in frame.groupby(["problem", "method"], sort=False):
        seen = dict(zip(part["group"], part["observed"], strict=True))
        rows.append({"method": method, "problem": problem, "claimed": part["claimed"].iloc[0], **seen,
                     "verdict": min(part["verdict"], key=ranked.index)})  # fmt: skip
    wide = pd.DataFrame(rows).sort_values(["problem", "claimed", "method"], ignore_index=True)
    last = wide.pop("verdict")
    return wide.assign(verdict=last).drop(columns=["problem"] if wide["problem"].nunique() == 1 else [])


def listing(name: str, caption: str, frame: pd.DataFrame) -> Table:
    """Return orders as a table."""
    marks = {"verdict": lambda value: {"kept": "good", "below": "bad"}.get(value, "dim")}
    numbers = [
        column for column in frame.columns if pd.api.types.is_float_dtype(frame[column]) and column != "steps"
    ]
    formats = {
        "claimed": lambda value: f"{value:g}",
        **dict.fromkeys([c for c in numbers if c != "claimed"], two),
    }
    return Table(
        name,
        caption,
        frame,
        formats,
        marks,
        folded=len(frame) > 40,
        book="" if name == "orders" else "orders_by_problem",
    )


def two(value: float) -> str:
    """Return an order with two decimals."""
    return NONE if value != value else f"{value:.2f}"


def pictures(contents: Contents, found: list[Sweep]) -> list[Picture]:
    """Return error against step, a picture for each problem."""
    claims = {sweep.solver: orders.claimed(contents, sweep.solver, sweep.form) for sweep in found}
    known = {sweep.solver: orders.order(contents, sweep.solver) for sweep in found}
    drawn = []
    for case in dict.fromkeys(sweep.case for sweep in found):
        here = [sweep for sweep in found if sweep.case == case]
        words = f"Error against step on {case}: a colour for each order, a marker for each method."
        drawn.append(Picture(f"convergence_{case}", words, figures.convergence(here, claims, known)))
    return drawn
