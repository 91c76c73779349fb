"""Probes inside a step: where they stand, what they pass without a question, and that smooth motions are let be."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import herk
import testset
from herk.integrate.steppers.half_explicit.branches import DIP, FALL, turned
from herk.integrate.steppers.half_explicit.probes import probes, steady
from herk.integrate.steppers.half_explicit.tableaus import METHODS

ADAPTIVE = [name for name, tableau in METHODS.items() if len(tableau.error) and probes(tableau)]


@pytest.mark.parametrize("name", ADAPTIVE)
def test_a_pivot_called_steady_is_no_reason_to_shorten_a_step(name: str) -> None:
    tableau = METHODS[name]
    first, early, late = (float(tableau.c[i]) for i in probes(tableau)[0])
    part, source = steady(first, early, late), np.random.default_rng(1)
    for _ in range(2000):
        start, end, a, b, c = source.uniform(0.01, 1.0, 5) ** source.integers(0, 3)
        least = min(a, b, c)
        if min(least, end) >= part * max(start, a):
            assert least >= DIP * min(start, end)
            assert min(least, end) >= FALL * start
            assert not turned(start, 0.0, b, early, c, late)
            assert not turned(start, 0.0, a, first, c, late)
            assert not turned(a, first, c, late, end, 1.0)


@pytest.mark.parametrize("name", ADAPTIVE)
def test_a_jump_anywhere_between_probes_is_no_parabola(name: str) -> None:
    tableau = METHODS[name]
    (first, early, late), (w0, w1, w2, w3) = probes(tableau)
    nodes = sorted({0.0, 1.0, *(float(tableau.c[i]) for i in (first, early, late))})
    for left, right in pairwise(nodes):
        middle, soon, then = (float(tableau.c[i] > (left + right) / 2) for i in (first, early, late))
        off = max(abs(soon - w0 * middle - w1), abs(then - w2 * middle - w3))
        assert off > (0.1 if name == "bs32" else 0.2), (left, right)


def test_steps_along_a_sine_are_not_cut_by_the_low_order_of_stages() -> None:
    chain = testset.get("spring_chain")  # all its unknowns are multiples of sin t and cos t
    h = np.diff(herk.solve_dae(chain, method="dopri5", rtol=5e-5, atol=1e-8).t)[:-1]
    assert (h[1:] > 0.5 * h[:-1]).all()
