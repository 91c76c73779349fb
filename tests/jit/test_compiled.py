"""Compiled and interpreted twins, and functions reached by address."""

from __future__ import annotations

import math
from math import sqrt

import numpy as np
import pytest

from herk.jit.compiled import compiled, interpreted, is_compiled
from herk.jit.pointers import address, at

SIGNATURE = "float64(float64)"
call_at = at(SIGNATURE)


@compiled(cache=False)
def root(x):
    return sqrt(x)  # by name, as generated code calls it


@compiled(cache=False)
def twice_root(x):
    return 2.0 * root(x)


@compiled(SIGNATURE, cache=False)
def picky(x):
    if x < 0.0:
        raise ValueError("negative")
    return x


@compiled(cache=False)
def apply(number, x):
    return call_at(number)(x)


def test_a_twin_calls_twins_and_gives_the_same_numbers() -> None:
    twin = interpreted(twice_root)
    assert is_compiled(twice_root)
    assert not is_compiled(twin)
    assert twin(2.0) == twice_root(2.0) == 2.0 * math.sqrt(2.0)


def test_outside_their_domain_both_give_nan() -> None:
    with np.errstate(invalid="ignore"):
        assert math.isnan(interpreted(twice_root)(-1.0))
    assert math.isnan(twice_root(-1.0))


def test_functions_are_called_by_address() -> None:
    assert apply(address(picky), 3.0) == 3.0
    assert apply(address(root, SIGNATURE), 9.0) == 3.0


def test_exceptions_come_through_a_call_by_address() -> None:
    with pytest.raises(ValueError, match="negative"):
        apply(address(picky), -1.0)


def test_interpreted_code_finds_interpreted_functions_by_address() -> None:
    def plain(x: float) -> float:
        return x + 1.0

    assert interpreted(apply)(address(plain), 1.0) == 2.0
