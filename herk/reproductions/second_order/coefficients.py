"""The printed coefficients and orders against exact arithmetic.

Examples 2.4 and 2.11, method (65), simplifying assumptions.
"""

from __future__ import annotations

from typing import Any

from baselines.second_order.assumptions import assumptions, classical_order, exact_gauss, exactness, vanishes
from baselines.second_order.tables import GLM_FIRST, GLM_SECOND, NODES, RADAU, Tableau, collocation
from herk.reproductions.published import Origin, Row, Verdict
from herk.reproductions.second_order.printed import GAUSS_A2, GAUSS_B2, RADAU_A2, RADAU_B2


def _same(ours: Any, printed: Any) -> bool:
    """Compare two nested tables exactly; the printed one is text."""
    import sympy as sp

    if isinstance(printed, str):
        return vanishes(sp.nsimplify(sp.sympify(str(ours))) - sp.sympify(printed))
    return len(ours) == len(printed) and all(_same(a, b) for a, b in zip(ours, printed, strict=True))


def methods() -> dict[str, Tableau]:
    """Return every tableau of the study, exact."""
    return {"Gauss": exact_gauss(), "Radau IIA": RADAU, "nodes 1/4, 1/2, 1": collocation(NODES)}


def _verdict(holds: bool) -> Verdict:
    return Verdict.SAME if holds else Verdict.LOST


def twins_agree() -> bool:
    """Tell whether B~(p), C~(q) and D~(xi) hold as far as B(p), C(q) and D(xi), for every tableau."""
    found = [assumptions(method) for method in methods().values()]
    return all(each[f"{letter}~"] >= each[letter] for each in found for letter in "BCD")


def describe(method: Tableau) -> str:
    """Return B(4), C(2), ... of a tableau."""
    return ", ".join(f"{letter}({value})" for letter, value in assumptions(method).items())


def rows() -> list[Row]:
    """Return what the paper says about its coefficients."""
    gauss, radau, _ = methods().values()
    found: list[tuple[str, str, str, int | str, int | str, bool, str]] = []
    for name, same in (
        ("Gauss", _same(gauss.A2, GAUSS_A2) and _same(gauss.b2, GAUSS_B2)),
        ("Radau IIA", _same(radau.A2, RADAU_A2) and _same(radau.b2, RADAU_B2)),
    ):
        ours = "equal" if same else "different"
        found.append(("Example 2.4", name, "A~ = A A and b~ = b A", "as printed", ours, same, ""))
    for name, method, printed in (("Gauss", gauss, 4), ("Radau IIA", radau, 3)):
        order = classical_order(method)
        found.append(("Example 2.4", name, "order", printed, order, order == printed, describe(method)))
    found += _general_linear()
    return [
        Row(part, case, quantity, printed, ours, _verdict(holds), reason, origin=Origin.PRINTED)
        for part, case, quantity, printed, ours, holds, reason in found
    ]


def _general_linear() -> list[tuple[str, str, str, int | str, int | str, bool, str]]:
    """Return order and stage order of the two general linear methods."""
    second, first = exactness(GLM_SECOND), exactness(GLM_FIRST)
    order_second, order_first = (min(*each["outputs"], *each["stages"]) for each in (second, first))
    twin = collocation(NODES)
    is_collocation = GLM_SECOND.A == [twin.A2, twin.A] and GLM_SECOND.B[:2] == [twin.b2, twin.b]
    same = second["outputs"] == [3, 4, 2] and min(second["stages"]) >= 2 and is_collocation
    why = (
        "it is the collocation Runge-Kutta method with these nodes, of order 3: the third quantity passed on"
        " is neither renewed nor used"
    )
    what = "order and stage order"
    return [
        ("Example 2.11", "second order", what, 2, order_second, same, why),
        ("Method (65)", "first order", what, 2, order_first, order_first == 2, ""),
    ]
