"""Orders that theory gives, where the lecture prints something else or nothing, with the reason in words.

For Gauss and Lobatto IIIA in index 3, and for odd n_s in the x of Lobatto IIIC, we know no printed order:
these were written down after measuring two problems, and are what every further run is held to.
"""

from __future__ import annotations

from herk.reproductions.lecture import printed

_SWAPPED = (
    "odd and even are exchanged in print: R(inf) = (-1)^n_s; for R(inf) = -1 the errors of two steps cancel"
    " and the order is n_s + 1, for R(inf) = +1 it is n_s (Hairer, Wanner II, Theorem VI.1.1)"
)
_STAGE_ORDER = (
    "y has the stage order q, z has q - 1, and q is n_s - 1 for Lobatto IIIC (Hairer, Lubich, Roche 1989;"
    " Theorem 2.1 of Schropp's paper); in print stands what q = n_s would give"
)
_PARITY = (
    "a bound that is sharp for even n_s only: for odd n_s the order is 2 n_s - 2 (measured with 2 to 7"
    " stages, see errata)"
)
_SMALL = (
    "the table asks for n_s > 2: with stage order 1 the stage values of z are wrong by O(1), and what follows"
    " depends on the problem"
)
_GAUSS = "|R(inf)| = 1 and no damping: each differentiation costs two orders more, z does not converge"
_SINGULAR = (
    "A is singular: stage 1 is the old value, the constraint holds at the others (then all is defined);"
    " |R(inf)| = 1"
)


def order(family: str, stages: int, index: int, component: str) -> int:
    """Return the order expected of generic problems; in index 3 those in which z enters linearly."""
    s, odd, published = stages, stages % 2, printed.order(family, stages, index, component)
    if family == "gauss" and (index, component) == (1, "z"):
        return s + 1 if odd else s
    if index < 3:
        assert published is not None
        return published
    place = "xyz".index(component)
    return {
        "gauss": (s + odd, s + odd - 2, s + odd - 4),
        "radau_ia": (s, s - 1, s - 2),
        "radau_iia": (2 * s - 1, s, s - 1),
        "lobatto_iiia": (2 * s - 2 - 2 * odd, s - odd, s - odd - 2),
        "lobatto_iiic": (2 * s - 3 + odd, s - 1, s - 2),
    }[family][place]


def reason(family: str, stages: int, index: int, component: str) -> str:
    """Return why theory and print differ, or what is special about the combination."""
    if family == "gauss":
        return {(1, "z"): _SWAPPED, (3, "x"): _GAUSS, (3, "y"): _GAUSS, (3, "z"): _GAUSS}.get(
            (index, component), ""
        )
    if family == "lobatto_iiia":
        return _SINGULAR if index else ""
    if index == 3 and stages == 2 and family in printed.MORE_THAN_TWO:
        return _SMALL
    if index == 3 and family == "lobatto_iiic":
        return _STAGE_ORDER if component != "x" else _PARITY if stages % 2 else ""
    return ""
