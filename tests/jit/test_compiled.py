"""Functions that numba compiled are told from others and reached by address."""

from __future__ import annotations

import math
from math import sqrt

import numpy as np

from herk.codegen.thunks import with_parameters
from herk.jit.compiled import compiled, is_compiled
from herk.jit.pointers import FUNCTION, address


@compiled(cache=False)
def roots(t, y, out):
    for i in range(y.shape[0]):
        out[i] = t * sqrt(y[i])


@compiled(FUNCTION, cache=False)
def picky(t, y, out):
    if t < 0.0:
        raise ValueError("negative")
    out[0] = y[0]


def test_compiled_functions_are_told_from_others() -> None:
    assert is_compiled(roots)
    assert not is_compiled(roots.py_func)


def test_outside_its_domain_compiled_code_gives_nan() -> None:
    out = np.zeros(1)
    roots(1.0, np.array([-1.0]), out)
    assert math.isnan(out[0])


def test_a_function_is_compiled_when_its_address_is_asked_for_and_called_by_it() -> None:
    out = np.zeros(2)
    assert address(roots, FUNCTION) == address(roots)
    with_parameters(roots)(2.0, np.array([9.0, 16.0]), np.zeros(1), out)
    assert out.tolist() == [6.0, 8.0]


def test_a_function_that_raises_gives_nan_and_where_it_was() -> None:
    thunk, out = with_parameters(picky), np.zeros(1)
    thunk.forget(1)
    thunk(1.0, np.array([5.0]), np.zeros(1), out)
    assert (out[0], thunk.raised) == (5.0, False)
    thunk(-1.0, np.array([7.0]), np.zeros(1), out)
    assert math.isnan(out[0])
    assert thunk.raised
    assert thunk.place.tolist() == [-1.0, 7.0]
