"""Every truth satisfies the equations of its own member, as written; seeds decide all of a member."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from tests.fuzz.families import FAMILIES
from tests.fuzz.mechanism import compare
from tests.fuzz.member import JudgeError, Member
from tests.fuzz.units import in_units, permuted

SEEDS = {"mechanisms": range(6)}  # their judges take half a second each
ALLOWED = 1e-6


def residual(member: Member, t: np.ndarray) -> np.ndarray:
    """Return |E y' - f| relative to what the rows are made of; y' by differences of fourth order."""
    symbols = sp.symbols(member.states)
    clock = sp.Symbol("t")
    names = (
        {"t": clock}
        | dict(zip(member.states, symbols, strict=True))
        | {p: sp.Symbol(p) for p in member.parameters}
    )
    values = {sp.Symbol(p): value for p, value in member.parameters.items()}
    E = sp.lambdify(
        [clock, *symbols],
        sp.Matrix([[sp.sympify(e, names).subs(values) for e in row] for row in member.E]),
        "numpy",
    )
    f = sp.lambdify([clock, *symbols], [sp.sympify(row, names).subs(values) for row in member.f], "numpy")
    h = 1e-4 * abs(member.t_span[1] - member.t_span[0])
    y = [member.truth(t + k * h) for k in (-2, -1, 0, 1, 2)]
    rate = (y[0] - 8 * y[1] + 8 * y[3] - y[4]) / (12 * h)
    found = []
    for k, time in enumerate(t):
        left, here = np.array(E(time, *y[2][:, k]), dtype=float), np.array(f(time, *y[2][:, k]), dtype=float)
        jump = [
            np.abs(f_of(f, time, y[2][:, k], j, member.sizes[j]) - here) for j in range(len(member.states))
        ]
        terms = np.abs(left) @ np.maximum(
            np.abs(rate[:, k]), np.array(member.sizes) / abs(member.t_span[1] - member.t_span[0])
        )
        found.append(np.abs(left @ rate[:, k] - here) / (terms + np.sum(jump, axis=0)))
    return np.array(found).T


def f_of(f, t: float, y: np.ndarray, j: int, size: float) -> np.ndarray:
    """Return f with one unknown moved by a thousandth of its size: what a row is made of."""
    moved = y.copy()
    moved[j] += 1e-3 * size
    return np.array(f(t, *moved), dtype=float)


def judged_times(member: Member, count: int) -> np.ndarray:
    """Return times before the end of the solution, away from corners and singular places."""
    t0, t1 = member.t_span
    last = t1 if member.ends_at is None else t0 + 0.9 * (member.ends_at - t0)
    t = t0 + (last - t0) * (np.arange(count) + 0.37) / count
    bad = np.array([*member.corners, *member.singular_at, np.inf])
    return t[np.abs(t[:, None] - bad).min(axis=1) > 2e-3 * abs(t1 - t0)]


@pytest.mark.parametrize("family", FAMILIES)
def test_truth_satisfies_the_equations_as_written(family: str) -> None:
    for seed in SEEDS.get(family, range(12)):
        member = FAMILIES[family](seed)
        wrong = residual(member, judged_times(member, 11)).max()
        assert wrong < ALLOWED, f"{member.label} ({member.kind}): {wrong:.1e}"


def test_a_truth_that_crosses_two_switches_at_once_satisfies_the_equations() -> None:
    member = FAMILIES["switching"](2000017)  # sign(x) and Abs(x): only one of them had been crossed
    assert residual(member, judged_times(member, 60)).max() < ALLOWED


@pytest.mark.parametrize("family", FAMILIES)
def test_the_check_of_truths_finds_a_wrong_one_in_every_unknown(family: str) -> None:
    member = FAMILIES[family](101)
    t, span = judged_times(member, 11), abs(member.t_span[1] - member.t_span[0])
    for j, size in enumerate(member.sizes):
        unit = np.eye(len(member.sizes))[:, j : j + 1]
        wrong = replace(
            member, truth=lambda s, u=unit, c=size: member.truth(s) + 1e-2 * c * u * np.sin(7 * s / span)
        )
        assert residual(wrong, t).max() > 10 * ALLOWED, member.states[j]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_decides_all_of_a_member(family: str) -> None:
    first, second, other = (FAMILIES[family](seed) for seed in (5, 5, 6))
    assert first == second
    assert first != other
    t = np.linspace(*first.t_span, 7) if first.ends_at is None else np.zeros(1)
    assert np.array_equal(first.truth(t), second.truth(t))


def test_new_units_and_order_change_neither_equations_nor_truth() -> None:
    plain = next(member for member in map(FAMILIES["piecewise"], range(50)) if member.kind == "Max and Min")
    rng = np.random.default_rng(3)
    other = permuted(in_units(plain, rng), rng)
    assert other.E != plain.E
    assert sorted(other.states) == sorted(plain.states)
    assert residual(other, judged_times(other, 11)).max() < ALLOWED
    place = [other.states.index(name) for name in plain.states]
    ratio = other.truth(np.array(other.t_span[1:]))[place] / plain.truth(np.array(plain.t_span[1:]))
    assert np.allclose(ratio[:, 0], np.array(other.sizes)[place] / np.array(plain.sizes), rtol=1e-12)


def test_judges_that_differ_say_so() -> None:
    one = np.ones((2, 5))
    compare("agreeing", one, one * (1 + 0.9e-6))
    for other in (one * (1 + 1.1e-6), np.where(np.eye(2, 5), np.nan, one)):
        with pytest.raises(JudgeError, match="differ"):
            compare("differing", one, other)
