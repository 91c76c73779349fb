"""References of the classical problems.

Digits that were printed, closed forms against digits computed elsewhere, several end times.
"""

from __future__ import annotations

import numpy as np
import pytest

import testset

PRINTED = (
    "car_axis",
    "charge_pump",
    "nand_gate",
    "oregonator",
    "robertson",
    "slider_crank",
    "transistor_amplifier",
)


@pytest.mark.parametrize("name", PRINTED)
def test_digits_right_in_print_are_as_many_as_are_said(name):
    reference = testset.get(name).reference
    wrong = np.abs(reference.published - reference.y)
    sizes = np.abs(reference.y)
    assert not wrong[sizes == 0].any()
    digits = -np.log10(np.maximum(wrong[sizes > 0] / sizes[sizes > 0], 1e-17))
    assert digits.min() == pytest.approx(reference.published_digits, abs=0.1)
    assert reference.digits >= reference.published_digits
    assert reference.published_note


@pytest.mark.parametrize(
    ("name", "t_end", "digits"),
    [
        (
            "pendulum_2d",
            10.0,
            (
                -0.1456007488310404688386,
                -0.9893434297249061266174,
                -4.400840298075236505224,
                0.6476675577294157167990,
                -14.84015144587359189926,
            ),
        ),
        (
            "knife_edge",
            5.0,
            (
                2.37207295147777830227,
                17.9297101973878951641,
                5.23598775598298873077,
                -2.86830960753838598195,
                4.96805797209443093006,
                1.04719755119659774615,
                15.0184339854393607145,
            ),
        ),
        (
            "knife_edge",
            6.0,
            (0.0, 19.87223188837772372, 6.283185307179586477, 0.0, 0.0, 1.047197551196597746, 0.0),
        ),
        (
            "arevalo",
            5.0,
            (
                -0.1323517500977730289,
                0.9912028118634735981,
                9.912028118634735981,
                1.323517500977730289,
                -100.0,
                0.0,
            ),
        ),
        (
            "circular_track",
            5.0,
            (
                -0.1323517500977730289,
                0.9912028118634735981,
                9.912028118634735981,
                1.323517500977730289,
                -100.0,
            ),
        ),
        (
            "charge_pump",
            1e-7,
            (
                2.913255125602790772e-11,
                1.4345184857905081e-11,
                -1.4345184857905081e-11,
                1.4345184857905081e-11,
                -1.4345184857905081e-11,
                20.0,
                8.9657405361906758,
                35.862962144762703,
                0.0,
            ),
        ),
        ("charge_pump", 1.2e-6, (1.26280042987675930755e-13, 0, 0, 0, 0, 0, 0, 0, 1.52256610384853371092e-4)),
    ],
)
def test_closed_form_has_the_digits_computed_in_quadruple_precision(name, t_end, digits):
    reference = testset.get(name, t_end=t_end).reference
    allowed = np.where(np.array(digits) == 0, 3e-13, 2e-13 * np.abs(digits))
    assert (np.abs(reference.exact(t_end) - digits) <= allowed).all()


def test_charge_pump_on_the_ramp_has_the_published_voltages_and_current():
    y = testset.get("charge_pump").reference.exact(55e-9)
    np.testing.assert_allclose(
        y[[0, 6, 7, 8]],
        [1.4513567614280470858e-11, 4.4334161865027181, 17.733664746010873, -2.92638894398e-3],
        rtol=1e-11,
    )


@pytest.mark.parametrize(
    ("name", "ends"), [("robertson", (0.4, 40.0, 4e3, 1e5, 1e7, 4e10, 1e11)), ("oregonator", (30.0, 360.0))]
)
def test_one_file_holds_references_for_several_end_times(name, ends):
    found = [testset.get(name, t_end=t_end).reference for t_end in ends]
    assert [reference.t for reference in found] == list(ends)
    assert sum(reference.published is not None for reference in found) == 1
    assert testset.get(name, t_end=1.0).reference is None
    if name == "robertson":
        np.testing.assert_allclose([reference.y.sum() for reference in found], 1.0, rtol=1e-15)


def full_charges(u1: float, u2: float, u3: float) -> tuple[float, float]:
    """Return the charges of gate and channel with all cases of the transistor.

    As the Test Set states them.
    """
    vt0, gamma, phi, cox = 0.2, 0.035, 1.01, 4e-12
    flat = vt0 - gamma * np.sqrt(phi) - phi
    ugs, ugd = max(u1 - u2, u1 - u3), min(u1 - u2, u1 - u3)
    ubs = ugs - u1
    threshold = vt0 + gamma * (np.sqrt(phi - ubs) - np.sqrt(phi))
    if u1 <= flat:
        return cox * (u1 - flat), 0.0
    if ugs <= threshold:
        return cox * gamma * (np.sqrt(gamma**2 / 4 + u1 - flat) - gamma / 2), 0.0
    s, d = ugs - threshold, max(ugd - threshold, 0.0)
    H = s + d - s * d / (s + d)
    return cox * (2 * H / 3 + gamma * np.sqrt(phi - ubs)), -cox * H / 3


def test_charge_pump_satisfies_the_full_law_of_its_transistor():
    exact = testset.get("charge_pump").reference.exact
    for t in (1e-9, 50.05e-9, 50.2e-9, 53e-9, 59e-9, 80e-9, 112e-9, 119.8e-9, 119.95e-9, 410.3e-9):
        y = exact(t)
        gate, channel = full_charges(*y[5:8])
        np.testing.assert_allclose(y[[0, 2, 4]], [gate, channel, channel], rtol=1e-12)
        np.testing.assert_allclose(y[[1, 3]], [1.6e-12 * y[6], 0.4e-12 * y[7]], rtol=1e-14)


def test_a_curve_between_its_points_satisfies_equations_and_constraints():
    """The wind pendulum has no formula: its solution over time is a polynomial through stored values."""
    p = testset.get("wind_pendulum", t_end=10.0)
    exact = p.reference.exact
    np.testing.assert_allclose(exact(0.0), p.y0, rtol=1e-15)
    np.testing.assert_allclose(exact(10.0), p.reference.y, rtol=1e-15)
    for t in np.linspace(0.07, 9.93, 23):
        y, h = exact(t), 1e-3
        assert np.abs(p.dae.g(t, y)).max() < 3e-13
        near = [exact(t + k * h) for k in (-2, -1, 1, 2)]
        rate = (8 * (near[2] - near[1]) - (near[3] - near[0])) / (12 * h)
        np.testing.assert_allclose(p.dae.E @ rate, p.dae.f(t, y), atol=1e-9)
