"""What is wrong or incomplete in the tables of the lecture, each with the numbers that show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from baselines.irk.families import tableau
from herk.reproductions.lecture import beyond, conditions, theory
from herk.reproductions.lecture.conditions import Growth
from herk.reproductions.lecture.orders import AGREES, Key, Measured, Slopes
from herk.reproductions.published import Erratum, Verdict


def every_erratum(
    found: Mapping[Key, Measured],
    as_defined: Mapping[beyond.Key, Measured],
    squared: Mapping[beyond.Key, Slopes],
    odd: Mapping[int, float | None],
    growth: Sequence[Growth],
) -> list[Erratum]:
    """Return all errata."""
    return [
        _swapped(found),
        _definition(as_defined),
        _lobatto(found),
        _bound(odd),
        _linear(squared),
        _condition(growth),
    ]


def _swapped(found: Mapping[Key, Measured]) -> Erratum:
    pairs = _against(found, 1, "gauss", ("z",))
    return Erratum(
        "table of index 1 and 2, Gauss-Legendre, z of index 1",
        "n_s for odd n_s, n_s + 1 for even n_s",
        "n_s + 1 for odd n_s, n_s for even n_s: R(inf) is -1 for odd n_s",
        *_shown(pairs),
    )


def _definition(as_defined: Mapping[beyond.Key, Measured]) -> Erratum:
    pairs = [
        (f"{family} {s}", measured.order("z"), tableau(family, s).order)
        for (family, s), measured in as_defined.items()
    ]
    return Erratum(
        "definition of Runge-Kutta methods for index 1, and the column z of its table",
        "z_{n+1} from 0 = g(t_{n+1}, x_{n+1}, z_{n+1}), with orders n_s or n_s + 1",
        "with this definition z has the order of x for every method; the printed orders are those of z_{n+1}"
        " = z_n + h sum b_i z'_i",
        *_shown(pairs),
    )


def _lobatto(found: Mapping[Key, Measured]) -> Erratum:
    pairs = [pair for pair in _against(found, 3, "lobatto_iiic", ("y", "z")) if " 2 " not in pair[0]]
    return Erratum(
        "table of index 3, Lobatto IIIC, y and z",
        "n_s and n_s - 1",
        "n_s - 1 and n_s - 2: the stage order of Lobatto IIIC is n_s - 1",
        *_shown(pairs),
    )


def _bound(odd: Mapping[int, float | None]) -> Erratum:
    pairs = [(f"n_s = {s}", order, 2 * s - 3 + s % 2) for s, order in odd.items()]
    return Erratum(
        "table of index 3, Lobatto IIIC, x",
        "2 n_s - 3",
        "2 n_s - 3 for even n_s, 2 n_s - 2 for odd n_s (measured; we know no proof)",
        *_shown(pairs),
    )


def _linear(squared: Mapping[beyond.Key, Slopes]) -> Erratum:
    pairs = [
        (
            f"{family} {s}",
            slopes.order("x"),
            min(theory.order(family, s, 3, "x"), 2 * tableau(family, s).stage_order - 2),
        )
        for (family, s), slopes in squared.items()
    ]
    return Erratum(
        "table of index 3, x, for the canonical form y' = f_y(t, x, y, z, u)",
        "2 n_s - 1 for Radau IIA, 2 n_s - 3 for Lobatto IIIC, n_s for Radau IA",
        "these hold if z enters f_y linearly; otherwise at most 2q - 2 with the stage order q: 2 n_s - 2, 2"
        " n_s - 4, min(n_s, 2 n_s - 4)",
        *_shown(pairs),
    )


def _condition(growth: Sequence[Growth]) -> Erratum:
    seen = [each for each in growth if each.index]
    text = ", ".join(
        f"index {each.index}: {each.exponent('slides') + 0.0:.2f}, with derivatives of z"
        f" {each.exponent('alike'):.2f}"
        for each in seen
    )
    holds = bool(seen) and all(
        conditions.judge(each.index, each.exponent("slides")) is Verdict.WRONG for each in seen
    )
    return Erratum(
        "order reduction, condition of the Newton matrix",
        "O(h^-k) where k is the index",
        "h^-(k-1) for the unknowns k_i and z_i of the definition; h^-k is reached if the derivatives of z are"
        " the unknowns",
        f"exponents measured on the pendulum: {text}",
        holds,
    )


def _against(
    found: Mapping[Key, Measured], index: int, family: str, groups: Iterable[str]
) -> list[tuple[str, float | None, int]]:
    return [
        (f"{family} {s} {group}", measured.order(group), theory.order(family, s, index, group))
        for (at, name, s), measured in found.items()
        if (at, name) == (index, family)
        for group in groups
    ]


def _shown(pairs: Iterable[tuple[str, float | None, int]]) -> tuple[str, bool]:
    """Return measured orders beside expected ones, and whether all agree."""
    pairs = list(pairs)
    text = ", ".join(
        f"{name}: {'none' if ours is None else f'{ours:.2f}'} (expected {expected})"
        for name, ours, expected in pairs
    )
    return text, bool(pairs) and all(
        ours is not None and abs(ours - expected) <= AGREES for _, ours, expected in pairs
    )
