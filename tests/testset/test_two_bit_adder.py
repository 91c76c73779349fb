"""The two-bit adder: wiring, start at rest, and sums of all numbers it can be given."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import scipy.linalg
import sympy as sp

import herk
import testset
from testset import two_bit_adder as adder
from testset.extended.adder import Circuit, Stretch, by_ida

# Nodes without a capacity of their own; the slip gives one to the first three.
BY_SLIP = {5, 36, 85}
CONSTRAINTS = {18, 27, 58, 67, 76, 98, 107, 116, 121, 135, 157, 166, 171} | BY_SLIP


def test_thirty_nine_transistors_use_every_node_once():
    parts = adder.transistors()
    inner = Counter(part.first + k for part in parts for k in range(4))
    wires = {wire for part in parts for wire in (part.gate, part.source, part.drain) if isinstance(wire, int)}
    assert len(parts) == 39
    assert set(inner.values()) == {1}
    assert set(inner) | wires == set(range(1, adder.NODES + 1))
    assert not set(inner) & wires


def test_published_start_is_at_rest_and_rows_without_charge_are_constraints():
    model = testset.get("two_bit_adder").model
    assert {i + 1 for i, row in enumerate(model.leading) if not row} == CONSTRAINTS | set(range(176, 181))
    currents = sp.lambdify([model.t, [*model.states]], list(model.f[: adder.NODES]), "math")
    # Inputs rest at t = 319. The printed start leaves currents of 4e-7; a microvolt in one node makes 1e-3.
    assert np.abs(currents(319.0, model.y0)).max() < 1e-6
    moved = np.array(model.y0)
    moved[17] += 1e-6
    assert np.abs(currents(319.0, moved)).max() > 1e-4


@pytest.fixture(scope="module", params=[False, True], ids=["", "slip"])
def both(request):
    """Return the formulas, with or without the slip, and the same balances as arrays."""
    return adder.equations(320.0, request.param), Stretch(Circuit(request.param), 5.0, 10.0)


def test_balances_as_arrays_are_those_of_the_formulas(both):
    (C, f), stretch = both
    v = np.array(adder.start()[: adder.NODES]) + np.random.default_rng(1).normal(0.0, 0.2, adder.NODES)
    inputs = stretch.level + stretch.slopes * (7.3 - stretch.middle)
    known = [testset.get("two_bit_adder").model.t, [*adder.V, *adder.U.values()]]
    point = 7.3, [*v, *inputs]
    currents = sp.lambdify(known, f[: adder.NODES], "math")(*point)
    assert np.abs(currents - stretch.currents(7.3, v)).max() < 1e-12 * np.abs(currents).max()
    capacities = np.zeros((adder.NODES, adder.NODES))
    for place, value in zip(C, sp.lambdify(known, list(C.values()), "math")(*point), strict=True):
        capacities[place] = value
    assert np.abs(capacities - stretch.matrices(7.3, v)[0]).max() < 1e-12


def test_the_slip_in_published_programs_makes_the_circuit_unstable():
    v = by_ida(1e-4, 10.0)  # at rest, with one input high
    fastest = {}
    for slip in (False, True):
        C, J = Stretch(Circuit(slip), 10.0, 15.0).matrices(10.0, v)
        growth = scipy.linalg.eigvals(J, C)
        fastest[slip] = growth[np.isfinite(growth) & (np.abs(growth) < 1e8)].real.max()  # others: constraints
    assert fastest[False] < 1e-6
    assert fastest[True] > 100


def total(time: float) -> int:
    """Return the sum of the numbers given at a time; their bits come inverted."""
    bit = {name: pulse.left(time)[0] / 5 for name, pulse in adder.INPUTS.items()}
    return int(2 * (2 - bit["A1"] - bit["B1"]) + 2 - bit["A0"] - bit["B0"] + bit["CIN"])


@pytest.mark.slow
def test_all_numbers_are_added_and_the_published_end_is_reached():
    p = testset.get("two_bit_adder")
    times = np.arange(10.0, 321.0, 10.0)
    assert {total(time) for time in times} == set(range(8))
    sol = herk.solve_dae(p, rtol=1e-5, atol=1e-5, t_eval=times)
    assert sol.success, sol.message
    lower, upper, carry = (sol.y[node - 1] > 2.5 for node in (49, 130, 148))
    assert (4 * ~carry + 2 * upper + lower).tolist() == [total(time) for time in times]
    assert np.abs(sol.y[:, -1] - p.reference.y).max() < 1e-4
