"""What contradicts what: rows of E y' = f each other, constraints these; and nothing where E is zero."""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_constraints_contradict_nothing_where_e_is_zero(unit: float) -> None:
    """A wheel of radius 1 drives a slider: all is given by g, and a rate that is zero has no size."""

    def g(t: float, y: np.ndarray) -> np.ndarray:
        x, z, s = y / unit
        return np.array([x - np.cos(7 * t), z - np.sin(7 * t), (s - x) ** 2 + (z - 0.3) ** 2 - 2.25])

    dae = herk.Dae(E=np.zeros((3, 3)), f=lambda t, y: np.zeros(3), g=g, n=3, m=3)
    start = unit * np.array([1.0, 0.0, 1 - np.sqrt(2.16)])
    sol = herk.solve_dae(dae, (0.0, 6.0), start, atol=1e-6 * unit)
    assert sol.success, sol.message
    x, z = np.cos(7 * sol.t), np.sin(7 * sol.t)
    np.testing.assert_allclose(sol.y / unit, [x, z, x - np.sqrt(2.25 - (z - 0.3) ** 2)], atol=1e-6)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_rows_of_e_that_exclude_each_other_are_refused(unit: float) -> None:
    """x' = 1 and x' = 2: half-explicit methods took the first, and called it a success."""

    def dae(other: float) -> herk.Dae:
        return herk.Dae(
            E=[[1.0, 0.0], [1 / unit, 0.0]],
            f=lambda t, y: np.array([1.0, other / unit]),
            g=lambda t, y: np.array([y[1] - y[0]]),
            n=2,
            m=1,
        )

    with pytest.raises(herk.InputError, match=r"Rows 0, 1 of E y' = f contradict each other.*Correct E or f"):
        herk.solve_dae(dae(2.0), (0.0, 1.0), [0.0, 0.0])
    assert "contradict each other" in herk.check_constraints(dae(2.0), 0.0, [0.0, 0.0])[0]
    sol = herk.solve_dae(dae(1.0), (0.0, 1.0), [0.0, 0.0], rtol=1e-6)
    assert sol.y[:, -1] == pytest.approx([1.0, 1.0], rel=1e-9)


def test_constraints_without_masses_contradict_nothing_in_any_units() -> None:
    """x = t and z = x: rows that E leaves open are made zero one by one, not all in one sum of squares."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        x, z, first, second, clock = (10.0 ** float(k) for k in rng.integers(-12, 13, 5))

        def g(t: float, y: np.ndarray, units=(x, z, first, second, clock)) -> np.ndarray:
            x, z, first, second, clock = units
            return np.array([first * (x * y[0] - 1.0 - clock * t), second * (z * y[1] - x * y[0])])

        def jac(t: float, y: np.ndarray, units=(x, z, first, second)) -> np.ndarray:
            x, z, first, second = units
            return np.array([[first * x, 0.0], [-second * x, second * z]])

        dae = herk.Dae(E=np.zeros((2, 2)), f=lambda t, y: np.zeros(2), g=g, n=2, m=2, jac_g=jac)
        assert herk.check_constraints(dae, 0.0, [1.0 / x, 1.0 / z]) == []
        sol = herk.solve_dae(dae, (0.0, 1.0 / clock), [1.0 / x, 1.0 / z], atol=[1e-6 / x, 1e-6 / z])
        np.testing.assert_allclose(sol.y[:, -1], [2.0 / x, 2.0 / z], rtol=1e-9)


@pytest.mark.parametrize("given", [(), ("jac_g",), ("g_t",), ("jac_g", "g_t")])
def test_the_wind_pendulum_as_printed_is_refused_in_any_units_and_the_true_one_never(given: tuple) -> None:
    """Its rates are zero at the start; how fast unknowns are that nothing is known of, tolerances tell."""
    rng, wrong = np.random.default_rng(8), testset.get("wind_pendulum_printed")
    for _ in range(10):
        powers = 10.0 ** rng.integers(-12, 13, 14) if "jac_g" in given else 10.0 ** rng.integers(-3, 4, 14)
        for missing, refused in ((1.0, True), (0.0, False)):
            dae, start = pendulum(missing, powers, given)
            options = {"atol": 1e-6 / powers[:5], "rtol": 1e-6, "max_steps": 3}
            if refused:
                with pytest.raises(herk.InputError, match="contradicts E y' = f"):
                    herk.solve_dae(dae, (0.0, 1.0 / powers[13]), wrong.y0 / powers[:5], **options)
            else:
                herk.solve_dae(dae, (0.0, 1.0 / powers[13]), start, **options)


def pendulum(missing: float, powers: np.ndarray, given: tuple) -> tuple[herk.Dae, np.ndarray]:
    """Return the wind pendulum and its start in these units; `missing` is 1 as printed (an erratum), or 0."""
    printed = testset.get("wind_pendulum_printed").dae
    units, rows, heights, clock = powers[:5], powers[5:10], powers[10:13], powers[13]
    there = 1.0 - missing

    def true(t: float, y: np.ndarray) -> np.ndarray:
        length, pull = 0.5 + 0.03 * (50.0 - t), -0.03
        return printed.g(t, y) - there * np.array([0.0, 2 * length * pull, 2 * pull**2])

    def slopes(t: float, y: np.ndarray) -> np.ndarray:
        (x, z, v, w, _), length = y, 0.5 + 0.03 * (50.0 - t)
        last = [2 * (1 - 0.04 * t), -2 * 9.78, 4 * v, 4 * w, -2 * length**2]
        return np.array([[2 * x, 2 * z, 0, 0, 0], [2 * v, 2 * w, 2 * x, 2 * z, 0], last])

    def in_time(t: float, y: np.ndarray) -> np.ndarray:
        length, pull = 0.5 + 0.03 * (50.0 - t), -0.03
        return np.array([-2 * length * pull, -there * 2 * pull**2, -0.08 * y[0] - 4 * length * pull * y[4]])

    derivatives = {
        "jac_g": lambda t, y: heights[:, None] * slopes(clock * t, units * y) * units,
        "g_t": lambda t, y: clock * heights * in_time(clock * t, units * y),
    }
    dae = herk.Dae(
        E=rows[:, None] * printed.E * units / clock,
        f=lambda t, y: rows * printed.f(clock * t, units * y),
        g=lambda t, y: heights * true(clock * t, units * y),
        n=5,
        m=3,
        **{name: derivatives[name] for name in given},
    )
    start = np.array([0.0, -2.0, 0.0, 0.03, 0.0])
    start[4] = true(0.0, start)[2] / 8.0  # the third row is linear in it
    return dae, start / units
