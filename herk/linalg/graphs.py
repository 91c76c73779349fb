"""Graphs of sparse matrices in machine code: entries in order, strong components, cycles of a permutation."""

from __future__ import annotations

import numpy as np

from herk.jit.native import passed
from herk.jit.program import Program
from herk.jit.state import Wholes

NONE, END = -1, -2


def sort_entries(
    rows: Wholes, columns: Wholes, start: Wholes, order: Wholes, count: Wholes, other: Wholes
) -> None:
    """Write the numbers of entries by rows, each in ascending columns, and where rows begin.

    `count`, one longer than there are columns, and `other` are scratch.
    """
    for j in range(count.size):
        count[j] = 0
    for i in range(start.size):
        start[i] = 0
    for p in range(rows.size):
        count[columns[p] + 1] += 1
        start[rows[p] + 1] += 1
    for j in range(1, count.size):
        count[j] += count[j - 1]
    for i in range(1, start.size):
        start[i] += start[i - 1]
    for p in range(rows.size):
        other[count[columns[p]]] = p
        count[columns[p]] += 1
    for k in range(rows.size):
        p = other[k]
        order[start[rows[p]]] = p
        start[rows[p]] += 1
    for i in range(start.size - 1, 0, -1):
        start[i] = start[i - 1]
    start[0] = 0


def find_components(
    start: Wholes, node: Wholes, label: Wholes, after: Wholes, before: Wholes, kept: Wholes
) -> None:
    """Number strong components such that no edge leads to one of a higher number (Pearce 2005).

    Nodes to be looked at are a list linked both ways, so that one met again moves to its front.
    """
    size, index, number, last = label.size, 0, label.size - 1, END
    for i in range(size):
        label[i], after[i], before[i] = NONE, NONE, NONE
    for root in range(size):
        here = root if label[root] == NONE else END
        if here != END:
            after[here], before[here] = END, END
        while here != END:
            v = here
            if label[v] == NONE:
                label[v] = index
                index += 1
                here = follow(v, start, node, label, after, before)
            else:
                here = after[v]
                if here >= 0:
                    before[here] = END
                after[v], before[v] = NONE, NONE
                least = label[v]
                for p in range(start[v], start[v + 1]):
                    least = min(least, label[node[p]])
                if least == label[v]:
                    index -= 1
                    while last != END and label[v] <= label[last]:
                        w = last
                        last = kept[w]
                        label[w] = number
                        index -= 1
                    label[v] = number
                    number -= 1
                else:
                    label[v] = least
                    kept[v] = last
                    last = v
    for i in range(size):
        label[i] = size - 1 - label[i]


def follow(v: int, start: Wholes, node: Wholes, label: Wholes, after: Wholes, before: Wholes) -> int:
    """Put what a node leads to before it in the list; return the front."""
    front = v
    for p in range(start[v], start[v + 1]):
        w = node[p]
        if label[w] == NONE:
            if after[w] != NONE:
                if before[w] != END:
                    after[before[w]] = after[w]
                if after[w] != END:
                    before[after[w]] = before[w]
            after[w] = front
            before[w] = END
            before[front] = w
            front = w
    return front


def count_cycles(order: Wholes, seen: Wholes) -> int:
    """Return how many cycles a permutation has; `seen` is zero at first."""
    count = 0
    for i in range(order.size):
        if not seen[i]:
            count += 1
            j = i
            while not seen[j]:
                seen[j] = 1
                j = order[j]
    return count


_program = Program(sort_entries, find_components, count_cycles)


def by_rows(rows: Wholes, columns: Wholes, size: int) -> tuple[Wholes, Wholes]:
    """Return where the rows of a square matrix begin, and the numbers of its entries by rows and columns."""
    start, order = np.empty(size + 1, dtype=np.int64), np.empty(len(rows), dtype=np.int64)
    places = (np.ascontiguousarray(each, dtype=np.int64) for each in (rows, columns))
    given = *places, start, order, np.empty_like(start), np.empty_like(order)
    _program[sort_entries].call(*passed(given))
    return start, order


def components(rows: Wholes, columns: Wholes, size: int) -> Wholes:
    """Return the number of the strong component of each row of a square matrix with entries there.

    In ascending order of components the matrix is block lower triangular.
    """
    start, order = by_rows(rows, columns, size)
    label, *scratch = (np.empty(size, dtype=np.int64) for _ in range(4))
    given = (
        start,
        np.asarray(columns[order], dtype=np.int64),
        label,
        *scratch,
    )  # which live until the call ends
    _program[find_components].call(*passed(given))
    return label


def parity(order: Wholes) -> int:
    """Return the sign of a permutation: that of the number of its cycles."""
    given = np.ascontiguousarray(order, dtype=np.int64), np.zeros(len(order), dtype=np.int64)
    cycles = _program[count_cycles].call(*passed(given))
    return 1 if (len(order) - cycles) % 2 == 0 else -1
