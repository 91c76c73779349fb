"""What is wrong in the paper, shown with numbers computed here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from herk.reproductions.projection.orders import Observed
from herk.reproductions.published import Erratum
from testset.pendulum_unit import exact


def third_deviation() -> Erratum:
    """Evaluate d3 as printed and corrected along the exact solution of (4.1)."""
    u1, u2, v1, v2, lam = np.array([exact(t) for t in np.linspace(0.0, 20.0, 401)]).T
    length, speed = u1**2 + u2**2, v1**2 + v2**2
    printed, right = (np.abs(-k * lam * length - 2 * u2 + 2 * speed).max() for k in (2, 4))
    return Erratum(
        "Example 1, d3(t)",
        "-2 lambda (u1^2 + u2^2) - 2 u2 + 2 v1^2 + 2 v2^2",
        "-4 lambda (u1^2 + u2^2) - 2 u2 + 2 v1^2 + 2 v2^2",
        "d3 is the second derivative of u1^2 + u2^2 - 1 along (4.1); on the exact solution the printed one"
        f" reaches {printed:.2f}, the corrected one {right:.0e}",
        bool(printed > 1 and right < 1e-12),
    )


def order_of_positions(orders: Sequence[Observed]) -> Erratum:
    """Show that methods which are not stiffly accurate do not gain the order in u.

    That the remark after Theorem 2.1 promises.
    """
    own = [o for o in orders if o.component == "u" and o.covered and not o.method.stiffly_accurate]
    pairs = [
        (plain, with_it)
        for plain in own
        for with_it in own
        if plain.method == with_it.method and with_it.projected > plain.projected
    ]
    seen = [
        f"Radau IA, s = {a.method.stages} (q = {a.method.stage_order}, p = {a.method.order}): {b.order:.2f},"
        f" without {a.order:.2f}"
        for a, b in pairs
    ]
    holds = bool(pairs) and all(
        abs(b.order - (b.claimed - 1)) < 0.2 and a.order > a.claimed - 0.2 for a, b in pairs
    )
    return Erratum(
        "Remark after Theorem 2.1",
        "order q + 1 in u for p >= q + 2",
        "order q + 1 for stiffly accurate methods; q in general, as in (2.9)",
        f"observed order of u with projection: {'; '.join(seen)}. The step leaves g = 0 by O(h^(q+1));"
        " projecting u on it and leaving the tangential part of v as it is changes the angular velocity by"
        " that factor in every step, so h^q is what adds up: the lower left block of (3.26) is not zero, and"
        " times the error of u it is of order q + 1 only",
        holds,
    )


def every_erratum(orders: Sequence[Observed]) -> list[Erratum]:
    """Return both."""
    return [third_deviation(), order_of_positions(orders)]
