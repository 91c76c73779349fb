"""Narrow pulses of time, which no step meets but by chance, are found in the formulas and met."""

from __future__ import annotations

import math
import random

import pytest

import herk

ROOT_PI = math.sqrt(math.pi)
# a pulse of width w around c, and its integral over the whole of time
SHAPES = {
    "bell": ("exp(-((t - c)/w)**2)", lambda w: ROOT_PI * w),
    "bell to the base 2": ("2**(-((t - c)/w)**2)", lambda w: math.sqrt(math.pi / math.log(2)) * w),
    "bell with two humps": ("((t - c)/w)**2*exp(-((t - c)/w)**2)", lambda w: ROOT_PI / 2 * w),
    "resonance": ("(1 + ((t - c)/w)**2)**(-2)", lambda w: math.pi / 2 * w),
    "soliton": ("sech((t - c)/w)**2", lambda w: 2 * w),
    "soliton written with cosh": ("1/cosh((t - c)/w)**2", lambda w: 2 * w),
    "two smooth steps": ("(tanh((t - c)/w) - tanh((t - c)/w - 6))/2", lambda w: 6 * w),
    "two logistic steps": ("1/(1 + exp(-(t - c)/w)) - 1/(1 + exp(6 - (t - c)/w))", lambda w: 6 * w),
    "two error functions": ("(erf((t - c)/w) - erf((t - c)/w - 6))/2", lambda w: 6 * w),
    "flat top": ("exp(-((t - c)/w)**4)", lambda w: 2 * math.gamma(1.25) * w),
    "flatter top": ("exp(-((t - c)/w)**10)", lambda w: 2 * math.gamma(1.1) * w),
    "resonance of order 4": ("1/(1 + ((t - c)/w)**4)", lambda w: math.pi / math.sqrt(2) * w),
    "resonance of order 6": ("1/(1 + ((t - c)/w)**6)", lambda w: 2 * math.pi / 3 * w),
    "step of a square": ("erfc(((t - c)/w)**2)", lambda w: 2 * math.gamma(0.75) / ROOT_PI * w),
    "square of a step": ("1 - tanh((t - c)/w)**2", lambda w: 2 * w),
    "logistic bump": ("(1 - 1/(1 + exp((c - t)/w)))/(1 + exp((c - t)/w))", lambda w: w),
    "corner on top": ("exp(-Abs(t - c)/w)", lambda w: 2 * w),
    "skew": ("exp((t - c)/w - exp((t - c)/w))", lambda w: w),
}


def fed(pulse: str, **parameters: float) -> herk.Model:
    """Return x' = z, where z is nothing but the pulse."""
    E = [[1, 0], [0, 0]]
    return herk.Model(
        "fed", ["x", "z"], E, ["z", f"z - ({pulse})"], parameters=parameters, t_span=(0, 10), y0=[0, None]
    )


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau5"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_narrow_pulse_is_met_wherever_it_is_and_however_narrow(shape: str, method: str) -> None:
    formula, integral = SHAPES[shape]
    chance = random.Random(f"{shape} {method}")
    for _ in range(3):
        w, c = 10 ** chance.uniform(-6, -1.3), chance.uniform(1, 9)
        sol = herk.solve_dae(fed(f"({formula})/w", w=w, c=c), method=method, rtol=1e-7, atol=1e-10)
        assert sol.success
        assert sol.y[0, -1] == pytest.approx(integral(w) / w, rel=2e-5), (w, c)


def test_pulses_move_with_the_parameters() -> None:
    prepared = herk.prepare(fed("exp(-((t - c)/w)**2)/w", c=3.0, w=0.01))
    for c, w in ((3.0, 0.01), (7.7, 1e-4), (2.2, 1e-5)):
        sol = prepared.solve(parameters={"c": c, "w": w})
        assert sol.y[0, -1] == pytest.approx(ROOT_PI, rel=1e-5)


def test_a_train_of_pulses_is_met_pulse_by_pulse() -> None:
    sol = herk.solve_dae(fed("exp(-sin(t)**2/1e-6)"))
    assert sol.y[0, -1] == pytest.approx(
        3.5e-3 * ROOT_PI, rel=1e-4
    )  # half of one at 0, then at pi, 2 pi, 3 pi


def test_high_powers_are_pulses() -> None:
    whole = ROOT_PI * math.exp(math.lgamma(100.5) - math.lgamma(101.0))  # of sin^200 from 0 to pi
    sol = herk.solve_dae(fed("sin(t)**200").with_span(3 * math.pi), rtol=1e-8)
    assert sol.y[0, -1] == pytest.approx(3 * whole, rel=1e-6)


def test_a_formula_that_has_no_value_at_one_time_is_no_error() -> None:
    assert fed("sin(100*(t - 5))/(t - 5)").breakpoints == ()


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau5"])
def test_a_square_wave_changes_as_often_as_it_says(method: str) -> None:
    chance = random.Random(3)
    for _ in range(4):
        period, part = chance.uniform(0.3, 3.0), chance.choice([1e-6, 0.999, chance.random()])
        wave = f"Piecewise((1, Mod(t, {period!r}) < {part * period!r}), (0, True))"
        sol = herk.solve_dae(fed(wave).with_start([0, 1]), method=method)
        whole, rest = divmod(10.0, period)
        exact = whole * part * period + min(rest, part * period)
        assert sol.y[0, -1] == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize(
    "smooth",
    [
        "exp(-t)",
        "exp(sin(40*t))",
        "tanh(1e5*(t - 5))",
        "1/(1 + exp(99*(t - 5)))",
        "1/(1 + t)",
        "exp(-((t - 5)/4)**2)",
        "sin(t)/(2 + cos(t))",
    ],
)
def test_what_is_no_narrow_pulse_does_not_cut_a_span(smooth: str) -> None:
    assert fed(smooth).breakpoints == ()


def test_formulas_of_the_state_are_no_pulses_in_time() -> None:
    assert fed("exp(-((x - 5)/0.01)**2)").breakpoints == ()


@pytest.mark.parametrize("periodic", ["Mod(t, 1) - 0.5", "sin(pi*t)/pi"])
def test_trains_of_many_pulses_are_met_pulse_by_pulse(periodic: str) -> None:
    model = fed(f"1e3*exp(-(({periodic})/0.001)**2)").with_span(150.25)
    sol = herk.solve_dae(model.with_start([0, 0 if "Mod" in periodic else 1e3]), rtol=1e-8)
    assert sol.y[0, -1] == pytest.approx(150 * ROOT_PI + (0 if "Mod" in periodic else ROOT_PI / 2), rel=1e-5)


def test_humps_that_stand_together_are_met_though_they_are_near_each_other() -> None:
    """exp(-(u**2 - 1)**2) has two peaks; its integral over the whole of u by Bessel functions."""
    from scipy.special import iv

    right = math.pi / 2 * math.exp(-0.5) * (iv(-0.25, 0.5) + iv(0.25, 0.5))
    sol = herk.solve_dae(fed("1e3*exp(-(((t - 5)/1e-3)**2 - 1)**2)"))
    assert sol.y[0, -1] == pytest.approx(right, rel=1e-5)


def test_pulses_that_come_too_often_to_be_met_one_by_one_are_refused() -> None:
    with pytest.raises(herk.InputError, match=r"A narrow pulse, by .*, comes about .* times"):
        fed("exp(-(sin(1e6*t)/1e-3)**2)").breakpoints  # noqa: B018


def test_a_quick_oscillation_is_no_train_of_pulses() -> None:
    assert fed("exp(sin(1e6*t))").breakpoints == ()
