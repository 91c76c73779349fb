"""Annotated Python becomes machine code that does what Python does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herk.core import InputError
from herk.jit.by_address import by_address, stand_in
from herk.jit.program import Program
from herk.jit.state import Floats, State, Wholes, address_of, view

LIMIT = 7
unary_at = by_address("float(float)")


class Box(State):
    """Something of every kind."""

    h: float
    count: int
    other: int
    y: Floats
    order: Wholes


def loops(n: int, stop: int) -> int:
    total = 0
    for i in range(n):
        if i == stop:
            break
        if i % 2 == 0:
            continue
        total += i
    else:
        total += 100
    while total > LIMIT:
        total -= 3
    for i in range(n, 0, -2):
        total += i // 2
    return total


def choices(a: float, b: float, k: int) -> float:
    low, high = min(a, b), max(a, b)
    if 0.0 < low < high and k in (1, 3):
        return high**2 - low**0.5
    if not (a <= b or k > 2):
        return abs(a - b)
    return -a if k == 0 else float(min(k, 2)) * b


def guarded(values: Floats, i: int) -> int:
    return 1 if i < values.size and values[i] > 0.0 else 0


def pair(x: float) -> tuple[float, int]:
    return 2.0 * x, 3


def record(box: Box) -> int:
    doubled, three = pair(box.h)
    box.h = doubled
    box.count += three
    part = view(box.y, 1, 2)
    for i in range(part.size):
        part[i] = part[i] + box.order[i]
    box.order[0], box.order[1] = box.order[1], box.order[0]
    return box.y.size


def through(box: Box, x: float) -> float:
    return unary_at(box.other)(x) + 1.0


def square(x: float) -> float:
    return x * x


PROGRAM = Program(loops, choices, guarded, record, through, square)


@settings(deadline=None)
@given(st.integers(0, 30), st.integers(-1, 30))
def test_loops_do_what_python_does(n: int, stop: int) -> None:
    assert PROGRAM[loops].call(n, stop) == loops(n, stop)


@settings(deadline=None)
@given(st.floats(-5, 5), st.floats(-5, 5), st.integers(0, 4))
def test_choices_do_what_python_does(a: float, b: float, k: int) -> None:
    assert PROGRAM[choices].call(a, b, k) == pytest.approx(choices(a, b, k), rel=1e-15, abs=0.0)


def test_the_second_part_of_a_condition_is_only_looked_at_where_it_counts() -> None:
    values = np.array([1.0, -1.0])
    found = [PROGRAM[guarded].call(address_of(values), 2, i) for i in (0, 1, 2, 1 << 40)]
    assert found == [1, 0, 0, 0]


def test_a_state_is_the_same_in_python_and_in_machine_code() -> None:
    boxes = []
    for call in (lambda box: record(box), lambda box: PROGRAM[record].call(box.address)):
        box = Box(y=3, order=2)
        box.h, box.count, box.y[:], box.order[:] = 1.5, 4, [1.0, 2.0, 3.0], [10, 20]
        assert call(box) == 3
        boxes.append((box.h, box.count, box.y.tolist(), box.order.tolist()))
    assert boxes[0] == boxes[1] == (3.0, 7, [1.0, 12.0, 23.0], [20, 10])


def test_functions_are_called_by_address() -> None:
    box = Box()
    box.other = PROGRAM[square].address
    assert PROGRAM[through].call(box.address, 3.0) == 10.0
    box.other = stand_in(square)
    assert through(box, 3.0) == 10.0


def test_a_copy_has_memory_of_its_own_and_shares_what_lives_elsewhere() -> None:
    box, far = Box(y=2), np.array([5, 6])
    box.bind("order", far)
    box.h, box.y[:] = 1.0, 7.0
    other = box.copy()
    box.h, box.y[:] = 2.0, 8.0
    far[0] = 9
    assert (other.h, other.y.tolist(), other.order.tolist()) == (1.0, [7.0, 7.0], [9, 6])
    assert other.address != box.address


def test_the_last_array_can_grow_and_nothing_is_lost() -> None:
    box = Box(order=2, y=2)
    box.h, box.count, box.order[:], box.y[:] = 0.5, 3, [1, 2], [3.0, 4.0]
    larger = box.enlarged("y", 5)
    assert (larger.h, larger.count, larger.order.tolist()) == (0.5, 3, [1, 2])
    assert larger.y.tolist() == [3.0, 4.0, 0.0, 0.0, 0.0]


def wrong_name(x: float) -> float:
    return x + nowhere  # noqa: F821


def wrong_field(box: Box) -> float:
    return box.size  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize(("function", "words"), [(wrong_name, "nowhere"), (wrong_field, "size")])
def test_what_is_not_there_is_named(function, words) -> None:
    with pytest.raises(InputError, match=words):
        Program(function)[function]
