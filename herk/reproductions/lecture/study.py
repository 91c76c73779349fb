"""The whole study: order tables, Newton matrix, pictures, errata."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from herk.reproductions.lecture import beyond, conditions, orders, small
from herk.reproductions.lecture.conditions import Growth
from herk.reproductions.lecture.errata import every_erratum
from herk.reproductions.lecture.orders import Key, Measured
from herk.reproductions.lecture.pictures import Pictures, pictures
from herk.reproductions.published import Erratum, Row, Verdict


@dataclass(frozen=True)
class Study:
    """Everything the report and the figures are made of."""

    quick: bool
    rows: list[Row]
    errata: list[Erratum]
    orders: Mapping[Key, Measured]
    growth: list[Growth]
    pictures: Pictures

    name = "lecture"
    title = "M. Diehl, A. Nurkanović: lecture on differential-algebraic equations (2023)"

    def claims(self) -> list[tuple[str, bool]]:
        """Return what the study claims, and whether it holds."""
        tables = self._of("Orders")
        printed = [row for row in tables if isinstance(row.printed, int)]
        same, wrong = (
            sum(row.verdict is verdict for row in printed) for verdict in (Verdict.SAME, Verdict.WRONG)
        )
        gauss = [self.orders[key].order("z") for key in self.orders if key[:2] == (3, "gauss")]
        return [
            (
                (
                    f"{same} of {len(printed)} printed orders are reproduced, {wrong} are refuted with the"
                    " right one"
                ),
                same + wrong == len(printed),
            ),
            (
                "orders that are not printed are those expected",
                _none_lost([row for row in tables if row not in printed]),
            ),
            (
                "z from the constraint, and z entering nonlinearly, have the orders expected",
                _none_lost(self._of("Index 1", "Index 3")),
            ),
            (
                "Gauss methods do not converge in z for index 3",
                all(order is not None and order < orders.AGREES for order in gauss),
            ),
            (
                (
                    "the condition of the Newton matrix grows like h^-(k-1) for the unknowns of the slides,"
                    " like h^-k with derivatives of z"
                ),
                _none_lost(self._of("Newton")),
            ),
            (
                "the small examples have the index, the constraints and the solution of the lecture",
                _none_lost(self._of("Small")),
            ),
            ("wrong start, drift and Baumgarte follow their laws", _none_lost(self._of("Index reduction"))),
            (
                f"{sum(e.holds for e in self.errata)} of {len(self.errata)} errata are shown by numbers",
                all(e.holds for e in self.errata),
            ),
        ]

    def _of(self, *parts: str) -> list[Row]:
        return [row for row in self.rows if row.part.startswith(parts)]


def _none_lost(rows: Sequence[Row]) -> bool:
    """Tell whether there are rows and each is reproduced or refuted."""
    return bool(rows) and all(row.verdict is not Verdict.LOST for row in rows)


def run(quick: bool = False, say: Callable[[str], None] = lambda _: None) -> Study:
    """Run everything; quick leaves out four stages and the smallest step."""
    found = orders.measure(quick, say)
    say("index 1 as defined, nonlinear index 3, Lobatto IIIC")
    as_defined, squared, odd = beyond.defined(quick), beyond.nonlinear(quick), beyond.parity(quick)
    say("Newton matrix, pictures")
    condition_rows, growth = conditions.rows()
    picture_rows, runs = pictures()
    rows = [
        *small.rows(),
        *orders.rows(found),
        *beyond.rows(as_defined, squared),
        *condition_rows,
        *picture_rows,
    ]
    return Study(quick, rows, every_erratum(found, as_defined, squared, odd, growth), found, growth, runs)
