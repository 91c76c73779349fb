"""Impulses: constraints that jump carry other unknowns with them through E, as distributional solutions do.

Values behind a jump are exact solutions; which way the state moves is the theory of linear DAEs with
discontinuous sources (Trenn 2013): where y' is an impulse, E y' = f must hold for its coefficients.
"""

from __future__ import annotations

import numpy as np
import pytest

import herk
from herk.integrate import impulses

TIGHT = {"rtol": 1e-9, "atol": 1e-12}
HIGH_PASS = herk.Model(
    "hp", ["vin", "vout"], [[1, -1], [0, 0]], ["vout", "vin-Heaviside(t-1)"], t_span=(0, 2), y0=[0, 0]
)


def equations(*lines: str, **how):
    return herk.Model.from_equations("impulse", list(lines), **{"t_span": (0, 2), **how})


def note_of(sol) -> str:
    (note,) = [each for each in sol.notes if "impulse" in each]
    return note


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau5"])
def test_the_output_of_a_high_pass_jumps_with_its_input_and_decays(method) -> None:
    for _ in range(2):  # the second time with a machine made before
        sol = herk.solve_dae(HIGH_PASS, method=method, dense_output=True, **TIGHT)
        assert sol.success
        np.testing.assert_allclose(sol.y[:, -1], [1.0, np.exp(-1.0)], rtol=1e-8)
        np.testing.assert_allclose(sol(np.array([0.3, 1.0 - 1e-9])), 0.0, atol=1e-15)
        later = np.array([1.0 + 1e-9, 1.2, 1.9])
        np.testing.assert_allclose(sol(later)[1], np.exp(1.0 - later), rtol=1e-7)
        assert note_of(sol).startswith("vin jumps at t = 1, as the constraints demand.")
        assert note_of(sol).endswith("through E: vout jumps with it.")
        plain = herk.solve_dae(HIGH_PASS, method=method, **TIGHT)
        assert plain.y[1, -1] == pytest.approx(np.exp(-1.0), rel=1e-8)
        assert note_of(plain) == note_of(sol)


def test_the_integral_of_a_derivative_jumps_with_what_is_differentiated() -> None:
    sol = herk.solve_dae(equations("x' = q'", "q = Heaviside(t - 1)", start={"x": 0}))
    np.testing.assert_allclose(sol.y[:, -1], 1.0, rtol=1e-14)
    sol = herk.solve_dae(equations("x' = q'", "q = 3*Heaviside(p - 1)", "p' = 1", start={"x": 0.5, "p": 0}))
    assert sol["x"][-1] == pytest.approx(3.5, rel=1e-12)


def test_a_state_that_jumps_at_a_switch_of_its_own_goes_on_from_there() -> None:
    """At x = 1 q jumps by one and x with it."""
    sol = herk.solve_dae(equations("x' = 1 + q'", "q = Heaviside(x - 1)", start={"x": 0}), **TIGHT)
    assert sol.success
    assert sol["x"][-1] == pytest.approx(3.0, rel=1e-9)


@pytest.mark.parametrize(("volt", "second"), [(1.0, 1.0), (1e-9, 1e6), (1e9, 1e-6)])
@pytest.mark.parametrize("method", ["dopri5", "radau5"])
def test_a_step_is_divided_by_capacitors_in_any_units(volt, second, method) -> None:
    """The charge of the node between them stays: v2 jumps by C1/(C1 + C2), and R discharges both."""
    C1, C2, R = 2.0 * second / volt, 3.0 * second / volt, 0.4 * volt
    model = equations(
        "C1*(v1' - v2') = C2*v2' + v2/R",
        "v1 = V*Heaviside(t - T)",
        parameters={"C1": C1, "C2": C2, "R": R, "V": 5.0 * volt, "T": second},
        start={"v2": 0},
        t_span=(0, 4 * second),
    )
    sol = herk.solve_dae(model, method=method, rtol=1e-9, atol=1e-12 * volt)
    assert sol.success
    assert sol["v2"][-1] / volt == pytest.approx(2.0 * np.exp(-3.0 / 2.0), rel=1e-7)


def test_steps_in_a_row_add_up() -> None:
    model = equations(
        "vin' - vout' = vout", "vin = Heaviside(t - 1) - 3*Heaviside(t - 1.5)", start={"vout": 0}
    )
    sol = herk.solve_dae(model, **TIGHT)
    assert sol["vout"][-1] == pytest.approx(np.exp(-1.0) - 3.0 * np.exp(-0.5), rel=1e-8)
    assert note_of(sol).startswith("vin jumps at t = 1, 1.5, as")


def test_a_damper_that_is_pulled_by_a_jump_hands_on_its_impulse() -> None:
    """v1 is a Dirac impulse of one, so that m v2 jumps by c; then x2 = (1 - exp(-c/m (t - 1))) stands still."""
    model = equations(
        "x1' = v1", "3*v1' = force + c*(v2 - v1)", "x1 = Heaviside(t - 1)", "x2' = v2", "m*v2' = c*(v1 - v2)",
        parameters={"c": 2.0, "m": 4.0}, start={"x2": 0, "v2": 0},
    )  # fmt: skip
    sol = herk.solve_dae(model, **TIGHT)
    half = np.exp(-0.5)
    np.testing.assert_allclose([sol["x2"][-1], sol["v2"][-1]], [1.0 - half, 0.5 * half], rtol=1e-7)
    assert note_of(sol).endswith("through E: v2 jumps with it.")


@pytest.mark.parametrize("z", [["x' = z", "x = Heaviside(t - 1)"], ["x' = v", "v' = z", "x = Abs(t - 1)/2"]])
def test_what_has_the_derivative_of_a_jump_jumps_as_high(z) -> None:
    sol = herk.solve_dae(equations(*z, "y' = z", start={"y": 0}))
    assert sol["y"][-1] == pytest.approx(1.0, rel=1e-12)


def test_a_driven_mass_is_where_the_constraints_say_and_nothing_else_jumps() -> None:
    model = equations("x' = v", "2*v' = force", "x = Heaviside(t - 1)")
    sol = herk.solve_dae(model)
    np.testing.assert_allclose(sol.y[:, -1], [1.0, 0.0, 0.0], atol=1e-14)
    assert note_of(sol).endswith("no other unknown whose derivative occurs jumps with it.")


def test_a_diode_behind_a_capacitor_is_no_hindrance() -> None:
    """The current of a diode is finite, however nonlinear: the charge stays, and v2 jumps by a half."""
    model = equations(
        "v1' - v2' = v2' + 1e-12*(exp(v2/0.026) - 1)", "v1 = 0.8*Heaviside(t - 1)", start={"v2": 0}
    )
    sol = herk.solve_dae(model, **TIGHT)
    behind = np.flatnonzero(np.diff(sol["v1"]) > 0.5)[0] + 1
    assert sol["v2"][behind] == pytest.approx(0.4, rel=1e-12)


@pytest.mark.parametrize(
    "lines",
    [
        ["x1' = v1", "v1' = force", "x1 = Heaviside(t - 1)", "v2' = (v1 - v2)**3", "x2' = v2"],  # delta**3
        ["(1 + x2)*q' = (1 + q**2)*x2'", "q = Heaviside(t - 1)"],
        ["x2' = (1 + Heaviside(t - 1))*q'", "q = Heaviside(t - 1)"],  # delta where its factor jumps
        ["x2' = (1 + Heaviside(p - 1))*q'", "q = Heaviside(p - 1)", "p' = 1"],
        ["x1' = v1", "x1 = Heaviside(t - 1)", "v1' = a", "x2' = (2 - t)*a"],  # t times delta'
    ],
)
def test_where_impulses_lead_to_no_sure_value_others_stay_and_a_note_says_so(lines) -> None:
    start = {name: 0 for name in ("x2", "v2", "p") if any(f"{name}'" in each for each in lines)}
    sol = herk.solve_dae(equations(*lines, start=start))
    assert sol["x2"][-1] == pytest.approx(0.0, abs=1e-12)
    assert "does not act on other equations" in note_of(sol)


def test_a_pendulum_goes_on_where_it_is_when_its_weight_jumps(monkeypatch) -> None:
    """Positions and velocities do not jump when forces do: nothing is looked for, no bit changes."""
    looked = []
    monkeypatch.setattr(impulses, "jumped", lambda *given: looked.append(given))
    model = herk.Model(
        "pendulum",
        ["x", "y", "v", "w", "lam"],
        np.diag([1, 1, 1, 1, 0]).tolist(),
        ["v", "w", "-2*x*lam", "-2*y*lam - 9.81*(1 + Heaviside(t - 1))", "x**2 + y**2 - 1"],
        t_span=(0, 2),
        y0=[1, 0, 0, 0, None],
    )
    sol = herk.solve_dae(model, **TIGHT)
    k = np.flatnonzero(sol.t > 1.0)[0]
    assert sol.t[k] - sol.t[k - 1] < 1e-14
    assert sol.y[4, k] - sol.y[4, k - 1] == pytest.approx(-9.81 / 2 * sol.y[1, k], rel=1e-9)
    np.testing.assert_allclose(sol.y[:4, k], sol.y[:4, k - 1], rtol=1e-14)
    assert not looked
    assert sol.notes == ()


def test_sensitivities_behind_an_impulse_that_moves_others_are_refused() -> None:
    model = equations(
        "vin' - vout' = k*vout", "vin = Heaviside(t - 1)", start={"vout": 0}, parameters={"k": 1.0}
    )
    with pytest.raises(herk.HerkError, match="impulse"):
        herk.solve_dae(model, sensitivities=["k"])


@pytest.mark.parametrize("seed", [*range(8), 65])
def test_mixed_linear_systems_jump_as_their_weierstrass_form_does(seed) -> None:
    """E = P diag(1, N) Q, A = P diag(J, 1) Q: of z = Q y the first part goes on, the other becomes -b."""
    rng = np.random.default_rng(seed)
    k, m = 2, 3
    chain = np.diag([1, seed % 2], 1)  # nilpotent, of index 2 or 3

    def mixed() -> np.ndarray:
        lower, upper = (
            np.tril(rng.integers(-2, 3, (k + m, k + m)), -1),
            np.triu(rng.integers(-2, 3, (k + m,) * 2), 1),
        )
        return (lower + np.eye(k + m, dtype=int)) @ (upper + np.eye(k + m, dtype=int))

    P, Q, J, b = mixed(), mixed(), -np.diag(rng.integers(1, 4, k)), rng.integers(1, 5, k + m)
    E = P @ np.block([[np.eye(k, dtype=int), np.zeros((k, m), int)], [np.zeros((m, k), int), chain]]) @ Q
    A = P @ np.block([[J, np.zeros((k, m), int)], [np.zeros((m, k), int), np.eye(m, dtype=int)]]) @ Q
    names = [f"y{i}" for i in range(k + m)]
    f = [
        " + ".join(f"({a})*{name}" for a, name in zip(row, names, strict=True)) + f" + ({c})*Heaviside(t - 1)"
        for row, c in zip(A, P @ b, strict=True)
    ]
    z = np.array([*rng.integers(1, 4, k), *[0] * m], dtype=float)
    model = herk.Model("mixed", names, E.tolist(), f, t_span=(0, 2), y0=np.linalg.solve(Q, z).tolist())
    sol = herk.solve_dae(model, consistent="project", dense_output=True, **TIGHT)
    assert sol.success
    behind = Q @ sol(1.0 + 1e-12)
    np.testing.assert_allclose(behind[:k], z[:k] * np.exp(np.diag(J)), rtol=1e-6)
    np.testing.assert_allclose(behind[k:], -b[k:], rtol=1e-6)
