"""The whole study: tables, figures and orders in the order of the paper, with what it claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from baselines.second_order.march import March
from herk.reproductions.published import Erratum, Origin, Row, Verdict, reproduced
from herk.reproductions.second_order import circle, circuit, coefficients, controlled, raised, track
from herk.reproductions.second_order.circle import Curve
from herk.reproductions.second_order.circuit import Order
from herk.reproductions.second_order.controlled import Controlled
from herk.reproductions.second_order.errata import every_erratum
from herk.reproductions.second_order.raised import Raised
from herk.reproductions.second_order.track import Jumps

LEAST_RATIO = 100.0
LATE = 0.01  # after the start of Figure 3, where the order is raised
STEPS = "the variable steps are not printed: ours are doubled and halved every third step"
SAID = {
    4: "second order much better",
    5: "almost the same",
    6: "second order better, λ above all",
    7: "second order better",
}  # of a figure, in the text


@dataclass(frozen=True)
class Study:
    """Everything the report and the figures are made of."""

    jumps: list[Jumps]
    curves: list[Curve]
    orders: list[Order]
    circuit: dict[str, March]
    ways: list[Raised]
    errata: list[Erratum]
    controlled: list[Controlled]
    rows: list[Row] = field(default_factory=list)
    name: str = "second_order"
    title: str = (
        "L. Wunderlich, Numerical solution of semi-explicit systems of second order differential-algebraic"
        " equations"
    )

    def claims(self) -> list[tuple[str, bool]]:
        """Return what the study claims, and whether it holds."""
        second, first = circle.pair(self.curves, 6)
        return [
            *(self._table(part, count) for part, count in (("Table 1", 10), ("Table 2", 12))),
            *self._modified_bdf(),
            (
                (
                    "Example 1.2, step halved: direct BDF errs by O(h) in x2, first-order BDF by O(1), and by"
                    " O(1/h) in v2"
                ),
                raised.shown(self.ways),
            ),
            (
                "circuit: every method has its order",
                all(row.verdict is Verdict.SAME for row in self.rows if row.part == "Orders"),
            ),
            (
                "simplifying assumptions and their twins hold in exact arithmetic for every tableau",
                coefficients.twins_agree(),
            ),
            (
                (
                    f"Example 2.11: error of λ {first.largest[-1] / second.largest[-1]:.0f} times smaller"
                    " than by the first-order one (65)"
                ),
                first.largest[-1] > 10 * second.largest[-1],
            ),
            reproduced(self.rows),
            (
                f"{sum(e.holds for e in self.errata)} of {len(self.errata)} errata are shown by numbers",
                all(e.holds for e in self.errata),
            ),
        ]

    def _modified_bdf(self) -> list[tuple[str, bool]]:
        least = min(self.jumps, key=lambda each: each.ratio)
        bdf = [o for o in self.orders if o.problem == "circular_track" and o.method.startswith("BDF")]
        return [
            (
                (
                    "modified BDF has no jump in λ when step or order change: its largest error is at least"
                    f" {least.ratio:.0f} times smaller"
                ),
                least.ratio >= LEAST_RATIO,
            ),
            (
                "at the start its error of λ falls with h, that of BDF for first order does not",
                _starts(self.jumps[:3]),
            ),
            (
                "modified BDF of order k = 1 to 4 on index 3: y, y' and λ of order k",
                all(_reached(o, o.claimed) for o in bdf),
            ),
        ]

    def _table(self, part: str, count: int) -> tuple[str, bool]:
        near = [
            row for row in self.rows if row.part == part and row.verdict in (Verdict.SAME, Verdict.ROUNDING)
        ]
        return (
            f"{len(near)} of {count} values of {part} agree to all digits, up to one unit in the last",
            len(near) == count,
        )


def _starts(tables: list[Jumps]) -> bool:
    """Tell whether the first error of the modified method is O(h), h = 1e-3, 5e-3, 1e-2.

    And the other one about 2 for all h.
    """
    modified, ordinary, steps = (
        [float(v) for v in values]
        for values in zip(*((j.modified[0], j.ordinary[0], j.t[0] - 1) for j in tables), strict=True)
    )
    return max(m / h for m, h in zip(modified, steps, strict=True)) < 9 and min(ordinary) > 2


def _reached(order: Order, claimed: int) -> bool:
    return bool((order.observed > claimed - circuit.SLACK).all())


def figure_rows(curves: list[Curve], jumps: list[Jumps]) -> list[Row]:
    """Check what the text says about Figures 2 to 7."""
    made = []
    for figure, each in zip((2, 3), jumps, strict=True):
        made += [_jump_row(figure, each), _similar_row(figure, curves)]
    return [*made, *(_better_row(figure, said, curves) for figure, said in SAID.items())]


def _jump_row(figure: int, each: Jumps) -> Row:
    """Compare the largest errors of λ where step or order change."""
    late = each.t > LATE
    said, why = "modified BDF: no high errors at changes", ""
    if figure == 3:
        said = "modified BDF: much smaller errors"
        why = (
            f"{STEPS}. Largest where order 1 ends; at later changes {each.modified[late].max():.0e} against"
            f" {each.ordinary[late].max():.0e}, as BDF2 then errs by O(h) in λ and modified BDF2 by O(h^2)"
        )
    return Row(
        f"Figure {figure}",
        "system (62), BDF",
        "largest error of λ",
        said,
        f"{each.modified.max():.1e} against {each.ordinary.max():.1e}",
        Verdict.SAME if each.ratio >= LEAST_RATIO else Verdict.LOST,
        why,
        origin=Origin.SAID,
    )


def _similar_row(figure: int, curves: list[Curve]) -> Row:
    """Compare the largest errors of y of both ways."""
    second, first = circle.pair(curves, figure)
    ratios = first.largest[:2] / second.largest[:2]
    return Row(
        f"Figure {figure}",
        "system (62), BDF",
        "largest error of y",
        "similar",
        f"{second.largest[:2].max():.1e} against {first.largest[:2].max():.1e}",
        Verdict.SAME if (ratios < 3).all() and (ratios > 1 / 3).all() else Verdict.LOST,
        origin=Origin.SAID,
    )


def _better_row(figure: int, said: str, curves: list[Curve]) -> Row:
    """Compare the largest errors of λ of both ways; those of Figures 4 and 5 are the same method."""
    second, first = circle.pair(curves, figure)
    ratio = float(first.largest[-1] / second.largest[-1])
    holds = abs(ratio - 1) < 0.01 if figure in (4, 5) else ratio > 2
    return Row(
        f"Figure {figure}",
        f"system (62), {second.method}",
        "largest error of λ",
        said,
        f"{second.largest[-1]:.1e} against {first.largest[-1]:.1e}",
        Verdict.LOST if not holds else Verdict.WRONG if figure == 4 else Verdict.SAME,
        "both are the same method; see the errata" if figure == 4 else STEPS if figure in (5, 7) else "",
        origin=Origin.SAID,
    )


def run(quick: bool, say: Callable[[str], None]) -> Study:  # noqa: ARG001 - it takes seconds anyway
    """Run everything."""
    say("Tables 1 and 2 ...")
    first, second = track.table1(), {h: track.table2(h) for h in (0.005, 0.01)}
    say("Figures 2 to 7 ...")
    curves, runs_controlled = circle.every_curve(), controlled.every_run()
    changes = [circle.jumps(curves, figure) for figure in (2, 3)]
    say("Example 1.2, circuit and orders ...")
    ways, orders, runs = raised.every_way(), circuit.every_order(), circuit.figure8()
    indices = raised.perturbation_indices()
    rows = [
        *raised.rows(indices, ways),
        *track.rows(first, second),
        *coefficients.rows(),
        *figure_rows(curves, changes),
        *controlled.rows(runs_controlled),
    ]
    rows += [*circuit.start_rows(), *circuit.figure8_rows(runs), *circuit.order_rows(orders)]
    say("errata ...")
    return Study(
        [first, *second.values(), *changes],
        curves,
        orders,
        runs,
        ways,
        every_erratum(curves, ways, indices),
        runs_controlled,
        rows,
    )
