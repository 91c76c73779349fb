"""Equations assigned to derivatives on the graph of which occurs in which (Dulmage & Mendelsohn)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from herk.linalg.matching import matched_in_rounds


def overdetermined(rows: Mapping[int, Collection[int]]) -> list[list[int]]:
    """Return the parts in which there are more equations than derivatives, as lists of equations.

    Each part is as small as can be: the equations that alternating paths reach from one without assignment.
    """
    matched = _assigned(rows)
    owner = {column: row for row, column in matched.items()}
    parts: list[set[int]] = []
    for start in rows:
        if start in matched:
            continue
        reached, stack = {start}, [start]
        while stack:
            new = {owner[column] for column in rows[stack.pop()]} - reached
            reached |= new
            stack += new
        meeting = [part for part in parts if part & reached]
        parts = [part for part in parts if not part & reached] + [reached.union(*meeting)]
    return [sorted(part) for part in parts]


def connected(rows: Mapping[int, Collection[int]]) -> list[list[int]]:
    """Return the equations that have derivatives in common, directly or through others."""
    from scipy.sparse.csgraph import connected_components

    pattern, numbers, columns = _pattern(rows)
    whole = len(numbers) + len(columns)
    pattern.resize((len(numbers), whole))
    pattern.indices += len(numbers)
    pattern.resize((whole, whole))
    _, labels = connected_components(pattern, directed=False)
    groups: dict[int, list[int]] = {}
    for i, number in enumerate(numbers):
        groups.setdefault(int(labels[i]), []).append(number)
    return list(groups.values())


def _assigned(rows: Mapping[int, Collection[int]]) -> dict[int, int]:
    """Return a derivative for as many equations as possible, all different."""
    if not rows:
        return {}
    pattern, numbers, columns = _pattern(rows)
    return {numbers[i]: columns[k] for i, k in enumerate(matched_in_rounds(pattern).tolist()) if k >= 0}


def _pattern(rows: Mapping[int, Collection[int]]) -> tuple[Any, list[int], list[int]]:
    """Return the graph as a matrix, and what its rows and columns stand for."""
    from scipy.sparse import csr_array

    numbers, columns = list(rows), sorted({column for row in rows.values() for column in row})
    place = {column: k for k, column in enumerate(columns)}
    pairs = [(i, place[c]) for i, number in enumerate(numbers) for c in rows[number]]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return csr_array((np.ones(len(pairs)), tuple(ends)), shape=(len(numbers), len(columns))), numbers, columns
