"""What the lecture prints: two tables of orders, and its statement on the Newton matrix."""

from __future__ import annotations

FAMILIES = {
    "gauss": "Gauss-Legendre",
    "radau_ia": "Radau IA",
    "radau_iia": "Radau IIA",
    "lobatto_iiia": "Lobatto IIIA",
    "lobatto_iiic": "Lobatto IIIC",
}
STAGES = (2, 3, 4)
COMPONENTS = {0: ("x",), 1: ("x", "z"), 2: ("x", "z"), 3: ("x", "y", "z")}

# Orders as (factor of n_s, constant), for odd and even n_s; index 0 is the column ODE.
Formula = tuple[int, int]
_TABLES: dict[str, dict[tuple[int, str], tuple[Formula, Formula]]] = {
    "gauss": {
        (0, "x"): ((2, 0), (2, 0)),
        (1, "x"): ((2, 0), (2, 0)),
        (1, "z"): ((1, 0), (1, 1)),
        (2, "x"): ((1, 1), (1, 0)),
        (2, "z"): ((1, -1), (1, -2)),
    },
    "radau_ia": {
        (0, "x"): ((2, -1), (2, -1)),
        (1, "x"): ((2, -1), (2, -1)),
        (1, "z"): ((1, 0), (1, 0)),
        (2, "x"): ((1, 0), (1, 0)),
        (2, "z"): ((1, -1), (1, -1)),
        (3, "x"): ((1, 0), (1, 0)),
        (3, "y"): ((1, -1), (1, -1)),
        (3, "z"): ((1, -2), (1, -2)),
    },
    "radau_iia": {
        (0, "x"): ((2, -1), (2, -1)),
        (1, "x"): ((2, -1), (2, -1)),
        (1, "z"): ((2, -1), (2, -1)),
        (2, "x"): ((2, -1), (2, -1)),
        (2, "z"): ((1, 0), (1, 0)),
        (3, "x"): ((2, -1), (2, -1)),
        (3, "y"): ((1, 0), (1, 0)),
        (3, "z"): ((1, -1), (1, -1)),
    },
    "lobatto_iiia": {
        (0, "x"): ((2, -2), (2, -2)),
        (1, "x"): ((2, -2), (2, -2)),
        (1, "z"): ((2, -2), (2, -2)),
        (2, "x"): ((2, -2), (2, -2)),
        (2, "z"): ((1, -1), (1, 0)),
    },
    "lobatto_iiic": {
        (0, "x"): ((2, -2), (2, -2)),
        (1, "x"): ((2, -2), (2, -2)),
        (1, "z"): ((2, -2), (2, -2)),
        (2, "x"): ((2, -2), (2, -2)),
        (2, "z"): ((1, -1), (1, -1)),
        (3, "x"): ((2, -3), (2, -3)),
        (3, "y"): ((1, 0), (1, 0)),
        (3, "z"): ((1, -1), (1, -1)),
    },
}
MORE_THAN_TWO = ("radau_ia", "lobatto_iiic")  # the table of index 3 asks these for n_s > 2


def order(family: str, stages: int, index: int, component: str) -> int | None:
    """Return the printed order, None where nothing is printed."""
    if index == 3 and stages == 2 and family in MORE_THAN_TWO:
        return None
    formulas = _TABLES[family].get((index, component))
    if formulas is None:
        return None
    factor, constant = formulas[0 if stages % 2 else 1]
    return factor * stages + constant
