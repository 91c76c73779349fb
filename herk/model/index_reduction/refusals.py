"""Why a model is refused or its ranks are in doubt, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

import mpmath
import sympy as sp

from herk.codegen.numbers import readable
from herk.linalg.rank import Split
from herk.model.index_reduction.cloud import Cloud
from herk.model.index_reduction.findings import Row
from herk.model.index_reduction.points import OutsideError


def fault(cloud: Cloud, before: Sequence[sp.Expr], new: sp.Expr) -> str:
    """Say why no point satisfies the constraints together with the new one."""
    name, shown = cloud.model.name, readable(new)
    if not new.free_symbols & set(cloud.model.states):
        return f"Model {name!r} has no solution: its equations lead to 0 = {shown}, which cannot hold."
    try:
        used = cloud.gradients([*before, new], cloud.onto(before)).relations.get(len(before))
    except OutsideError:
        return f"Model {name!r}: the derivatives of 0 = {shown} have no finite value near the start."
    if used is None:
        found = "no real point was found that satisfies" + (
            " all constraints found so far and" if before else ""
        )
        return (
            f"Model {name!r}: {found} 0 = {shown}; the equation has no solution, or the start is too far from"
            " one."
        )
    others = " and ".join(f"0 = {readable(before[k])}" for k in sorted(used))
    return f"Model {name!r} has no solution: 0 = {shown} contradicts {others}."


def doubts(found: Split, rows: Sequence[Row], cloud: Cloud) -> list[str]:
    """Return a sentence for every rank that was close, or not the same at all points."""
    close = [
        f"Doubtful rank: {rows[i].label} differs from a combination of other rows only by {size:.1e}"
        " (relative)."
        for i, size in found.doubts
    ]
    places = [(i, cloud.points[p]) for i, p in found.drops]
    return close + [
        f"Doubtful rank: {rows[i].label} behaves differently at one consistent point"
        f" {'near' if point.near else 'far from'} the start (t = {mpmath.nstr(point.t, 4)})."
        for i, point in places
    ]
