"""The whole study: tables, drift, orders, in the order of the paper, with what it claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from herk.reproductions.projection import counts, drift, orders
from herk.reproductions.projection.counts import Cell
from herk.reproductions.projection.drift import Drift
from herk.reproductions.projection.errata import every_erratum
from herk.reproductions.projection.orders import Observed
from herk.reproductions.published import Erratum, Origin, Row, Verdict

SLACK = 0.25  # an observed order may fall short of the claimed one by this much
UNDAMPED = (
    "no claim, as R(inf) = {:+d} and (B2) does not hold. The multiplier obeys e_new = R(inf) e_old +"
    " O(h^(q-1)): for -1 two steps cancel and q - 1 remains, for +1 the errors add up to q - 2; u and v keep"
    " q by the projection"
)


@dataclass(frozen=True)
class Study:
    """Everything the report and the figures are made of."""

    cells: list[Cell]
    drifts: dict[tuple[str, bool], Drift]
    orders: list[Observed]
    errata: list[Erratum]
    rows: list[Row] = field(default_factory=list)
    name: str = "projection"
    title: str = "J. Schropp, Projected Runge-Kutta methods for differential algebraic equations of index 3"

    def claims(self) -> list[tuple[str, bool]]:
        """Return what the study claims, and whether it holds."""
        printed, original = ([c for c in self.cells if c.original is wanted] for wanted in (False, True))
        saved = counts.savings(printed)
        covered = [o for o in self.orders if o.covered and o.projected]
        reached = [o.order >= o.method.stage_order - (o.component == "lambda") - SLACK for o in covered]
        worst = max((abs(c.difference) for c in printed), default=0.0)
        far = max((abs(c.difference) for c in original), default=0.0)
        return [
            (
                f"all {len(printed)} printed counts within 25 % (largest difference {100 * worst:.0f} %)",
                all(c.matches for c in printed),
            ),
            (
                f"counts of the original RADAU5 within 15 % (largest difference {100 * far:.1f} %)",
                all(c.matches for c in original),
            ),
            (
                (
                    f"projection saves evaluations and Jacobians in every run ({100 * min(saved):.0f} to"
                    f" {100 * max(saved):.0f} %)"
                ),
                min(saved) > 0,
            ),
            (
                "with projection g and Dg f stay at rounding",
                all(drift.at_rounding(d) for d in self.drifts.values() if d.projected),
            ),
            (
                "without projection Dg f is visibly not zero",
                all(drift.visible(d) for d in self.drifts.values() if not d.projected),
            ),
            (
                "Theorem 2.1: every method that fulfils (B1)-(B3) reaches the orders q, q, q - 1",
                bool(reached) and all(reached),
            ),
            (f"{len(self.errata)} errata shown", all(e.holds for e in self.errata)),
        ]


def order_row(seen: Observed) -> Row:
    """Return an observed order as a row of the report.

    For methods outside the theorem it is held to what follows without (B2).
    """
    m, part, quantity, ours = seen.method, "Theorem 2.1", f"order of {seen.component}", round(seen.order, 2)
    case = f"{m.family}, s = {m.stages}, p = {m.order}, q = {m.stage_order}"
    if not seen.covered:
        fits = abs(seen.order - seen.undamped) <= SLACK
        shown, verdict = f"no claim (expected {seen.undamped})", Verdict.SAME if fits else Verdict.LOST
        return Row(
            part,
            case,
            quantity,
            shown,
            ours,
            verdict,
            UNDAMPED.format(round(m.at_infinity)),
            origin=Origin.OURS,
        )
    if seen.order >= seen.claimed - SLACK:
        why = (
            "higher than claimed: the projection removes the largest part of the error"
            if seen.order > seen.claimed + SLACK
            else ""
        )
        return Row(part, case, quantity, seen.claimed, ours, Verdict.SAME, why, origin=Origin.PRINTED)
    wrong = seen.component == "u" and not m.stiffly_accurate and seen.order >= m.stage_order - SLACK
    why = "the remark's q + 1 holds for stiffly accurate methods only, (2.9) itself holds: see the errata"
    verdict = Verdict.WRONG if wrong else Verdict.LOST
    return Row(part, case, quantity, seen.claimed, ours, verdict, why if wrong else "", origin=Origin.PRINTED)


def run(quick: bool, say: Callable[[str], None]) -> Study:
    """Run everything; if time is short, orders are measured for three stages only."""
    say("Tables 1 and 2: Radau5 with and without projection ...")
    cells = counts.every_cell()
    say("Figures 1 to 5 ...")
    drifts = drift.every_drift()
    say("Theorem 2.1: orders with constant steps ...")
    seen = orders.every_order(quick)
    rows = (
        [counts.row(c) for c in cells]
        + [drift.row(d) for d in drifts.values()]
        + [order_row(o) for o in seen if o.projected]
    )
    return Study(cells, drifts, seen, every_erratum(seen), rows)
