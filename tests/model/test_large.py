"""Large systems at one point: their constraints are judged as those of small systems are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array

import herk
import testset
from herk.model.contradiction import contradictions
from herk.model.evaluate import linearise
from herk.model.large import _absolute, equations_of

PAIRS = 60


def resting(
    force: float, length: float = 1.0, mass: float = 1.0, time: float = 1.0
) -> tuple[herk.Dae, np.ndarray]:
    """Return a' = force - 0.3 b, b' = 0 with a = b = 1 sixty times, in these units: at rest if force = 0.3."""
    unit = np.repeat([length, mass], PAIRS)

    def f(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([(force - 0.3 * y[PAIRS:] / mass) * length / time, np.zeros(PAIRS)])

    n = 2 * PAIRS
    dae = herk.Dae(
        E=np.eye(n),
        f=f,
        g=lambda t, y: y / unit - 1.0,
        jac_g=lambda t, y: np.diag(1.0 / unit),
        g_t=lambda t, y: np.zeros(n),
        n=n,
        m=n,
    )
    return dae, unit


def rows(sentences: list[str]) -> list[int]:
    """Return the rows of g that are named."""
    return [int(text.split()[1]) for text in sentences]


@pytest.mark.parametrize("units", [(1.0, 1.0, 1.0), (1e-12, 1e9, 1e-6), (1e9, 1e-12, 1e6)])
def test_rates_that_are_zero_but_for_rounding_contradict_nothing(units):
    dae, y = resting(3 * 0.1, *units)  # not quite 0.3
    assert dae.large
    assert dae.f(0.0, y)[0] != 0.0
    assert herk.check_constraints(dae, 0.0, y) == []


@pytest.mark.parametrize("units", [(1.0, 1.0, 1.0), (1e-12, 1e9, 1e-6), (1e9, 1e-12, 1e6)])
def test_rates_beyond_rounding_do_in_whatever_units(units):
    dae, y = resting(0.30001, *units)
    assert rows(herk.check_constraints(dae, 0.0, y)) == list(range(PAIRS))


def test_constraint_is_on_trial_where_another_derivative_is_undetermined():
    n = 2 * PAIRS
    E = np.eye(n)
    E[n - 1, n - 1] = 0.0  # the last unknown occurs nowhere
    dae = herk.Dae(E=E, f=lambda t, y: np.eye(n)[0], g=lambda t, y: [y[0] - 2 * t], n=n, m=1)
    assert herk.check_constraints(dae, 0.0, np.zeros(n)) == [
        "Row 0 of g contradicts E y' = f: along the flow its derivative is -1 instead of 0 (t = 0.0)."
    ]


@pytest.mark.parametrize("component", [0, 37, 49, 50, 81, 99])
def test_sparse_and_dense_matrices_lead_to_the_same_verdict(component):
    chain = testset.get("hanging_chain", N=25, t_end=0.1)
    here = linearise(chain.dae, 0.0, np.array(chain.y0), 0.1)
    assert here.sparse
    assert contradictions(here, 0.0) == contradictions(here.dense(), 0.0) == []
    wrong = replace(here, f=here.f + 0.1 * (np.arange(len(here.f)) == component))
    ball, last = (
        component // 2,
        24 if component < 50 else 49,
    )  # 25 in place, with two coordinates, 25 in speed
    expected = [ball] if ball == last else [ball, ball + 1]  # the rods on both sides of the ball
    for each in (wrong, wrong.dense()):
        assert rows(contradictions(each, 0.0)) == expected


def test_sums_of_absolute_values_are_known_from_products():
    random = np.random.default_rng(1)
    matrix = random.standard_normal((300, 200)) * 10.0 ** random.integers(-9, 9, 300)[:, None]
    size = 10.0 ** random.uniform(-3.0, 3.0, 200)
    ratio = _absolute(lambda b: matrix @ b, size) / (np.abs(matrix) @ size)
    assert ratio.min() > 0.4
    assert ratio.max() < 2.5


@pytest.mark.parametrize("seed", range(5))
def test_what_determines_y_prime_is_found_in_any_units(seed):
    """17 copies of four rows, whose plain numbers span more decades than doubles have digits."""
    dice = np.random.default_rng(seed)
    block = np.array(
        [[1.0, -1.0, 0.0, 1.0], [0.0, 1.0, 2.0, 0.0], [1.0, 0.0, 0.0, -1.0], [1.0, 1.0, 1.0, 0.0]]
    )
    units = 10.0 ** dice.integers(-12, 13, 4)[:, None] * 10.0 ** dice.integers(-12, 13, 4)
    stacked = csr_array(block_diag([block * units] * 17))
    assert abs(np.linalg.det(block)) > 0.5
    assert sorted(equations_of(stacked, stacked.shape[1]).tolist()) == list(range(68))
