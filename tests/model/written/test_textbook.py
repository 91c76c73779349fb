"""Models as their textbooks print them, solved to eight digits of solutions found another way.

The crane and the reactor are here; pendulum, four-bar, top and disc are in test_mechanics.py, the circuits in
tests/circuit.
"""

from __future__ import annotations

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

import herk

TIGHT = {"method": "dop853", "rtol": 1e-11, "atol": 1e-11}

CRANE = [
    "m*x'' = -lam*(x - s)",  # load, y downwards
    "m*y'' = -lam*y + m*g",
    "M*s'' = F + lam*(x - s)",  # trolley, driven by F
    "J*r'' = G + lam*r",  # winch, driven by G
    "0 = (x - s)**2 + y**2 - r**2",  # rope
    "x = p",  # the path prescribed for the load
    "y = q",
]
CRANE_VALUES = {"m": 10.0, "M": 5.0, "J": 2.0, "g": 9.81}
PATH = {"p": "2*t**2*exp(-t/3)", "q": "4 - sin(t)/2"}


def exact_crane(t_end: float) -> dict[str, float]:
    """Return positions and forces from the path by differentiation alone."""
    t = sp.Symbol("t")
    m, M, J, g = CRANE_VALUES.values()
    x, y = 2 * t**2 * sp.exp(-t / 3), 4 - sp.sin(t) / 2
    lam = m * (g - y.diff(t, 2)) / y
    s = x + m * x.diff(t, 2) / lam
    r = sp.sqrt((x - s) ** 2 + y**2)
    found = {"x": x, "y": y, "s": s, "r": r, "lam": lam}
    found |= {"F": M * s.diff(t, 2) - lam * (x - s), "G": J * r.diff(t, 2) - lam * r, "ds": s.diff(t)}
    return {name: float(formula.evalf(30, subs={t: t_end})) for name, formula in found.items()}


def test_the_crane_on_a_prescribed_path_has_index_5_and_finds_its_forces() -> None:
    start = {name: value for name, value in exact_crane(0.0).items() if name in ("x", "y", "s", "r")}
    model = herk.Model.from_equations(
        "crane", CRANE, parameters=CRANE_VALUES, specified=PATH, start=start, t_span=(0, 1.5)
    )
    assert herk.regularize(model).index == 5
    sol = herk.solve_dae(model, **TIGHT)
    assert sol.success, sol.message
    end = dict(zip(model.names, sol.y[:, -1], strict=True))
    for name, value in exact_crane(1.5).items():
        assert abs(end[name] - value) < 1e-8 * max(1.0, abs(value)), name


REACTOR = [
    "C' = k1*(C0 - C) - R",
    "T' = k1*(T0 - T) + k2*R - k3*(T - Tc)",
    "0 = R - k4*exp(-k5/T)*C",
    "T = Tset",  # the temperature prescribed, the coolant's wanted
]
REACTOR_VALUES = {"k1": 1.0, "k2": 200.0, "k3": 2.0, "k4": 7e5, "k5": 5000.0, "C0": 1.0, "T0": 350.0}


def test_the_reactor_of_prescribed_temperature_has_index_2_and_finds_its_coolant() -> None:
    model = herk.Model.from_equations(
        "reactor",
        REACTOR,
        parameters=REACTOR_VALUES,
        specified={"Tset": "350 + 20*sin(t)"},
        start={"C": 0.9},
        t_span=(0, 3),
    )
    assert herk.regularize(model).index == 2

    def rate(t, c):
        return 1.0 - c - 7e5 * np.exp(-5000 / (350 + 20 * np.sin(t))) * c

    concentration = solve_ivp(rate, (0, 3), [0.9], method="DOP853", rtol=1e-12, atol=1e-13).y[0, -1]
    temperature, slope = 350 + 20 * np.sin(3), 20 * np.cos(3)
    reaction = 7e5 * np.exp(-5000 / temperature) * concentration
    coolant = temperature + (slope - (350 - temperature) - 200 * reaction) / 2
    sol = herk.solve_dae(model, **TIGHT)
    end = dict(zip(model.names, sol.y[:, -1], strict=True))
    assert abs(end["C"] - concentration) < 1e-8
    assert abs(end["Tc"] - coolant) < 1e-8 * abs(coolant)


def test_an_implicit_equation_follows_its_exact_solution() -> None:
    """With p = y' the time is log(p + e^p), so that p(1) is a root and y(1) an integral over p."""
    model = herk.Model.from_equations(
        "implicit", ["y' + exp(y') = z", "z' = z"], start={"y": 0, "z": 1, "y'": 0}, t_span=(0, 1)
    )
    assert "y' enters equation 0 nonlinearly" in " ".join(model.notes)
    sol = herk.solve_dae(model, **TIGHT)
    end = dict(zip(model.names, sol.y[:, -1], strict=True))
    u = sp.Symbol("u")
    p = float(sp.nsolve(u + sp.exp(u) - sp.E, u, 1.0, prec=30))
    # dy = p dt = p (1 + e^p)/(p + e^p) dp
    area = sp.Integral(u * (1 + sp.exp(u)) / (u + sp.exp(u)), (u, 0, p)).evalf(20)
    assert abs(end["dy"] - p) < 1e-8
    assert abs(end["y"] - float(area)) < 1e-8
