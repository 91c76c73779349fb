"""Parts that go through a singular configuration at once: the product of their determinants keeps its sign."""

from __future__ import annotations

import pytest

import herk

CROSSING = {"z": "0 = z**2 - (t - 1)**2*(1 + x**2)", "w": "0 = w**2 - (t - 1)**2*(1 + x**2)"}
VANISHING = {"z": "0 = (t - 1)*(z - x)", "w": "0 = (t - 1)*(w - sin(t))"}
REGULAR = {"z": "0 = z**3 + z - (t - 1)*(1 + x**2)", "w": "0 = w**3 + w + (t - 1)*(1 + x**2)"}


def twins(constraints: dict[str, str], names: str, start: float) -> herk.Model:
    """Return x = sin(t) with a part for each of the names, all singular at t = 1 or none."""
    equations = ["x' = cos(t)", *(constraints[name] for name in names)]
    return herk.Model.from_equations(
        "twins", equations, start={"x": 0} | dict.fromkeys(names, start), t_span=(0, 2)
    )


@pytest.mark.parametrize("names", ["z", "zw"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize(
    ("constraints", "start"), [(CROSSING, -1.0), (VANISHING, 0.0)], ids=["cross", "none"]
)
def test_parts_that_are_singular_at_once_end_a_run_as_one_does(
    constraints: dict[str, str], start: float, names: str, rtol: float
) -> None:
    sol = herk.solve_dae(twins(constraints, names, start), method="radau5", rtol=rtol, atol=rtol)
    assert not sol.success
    assert sol.t[-1] == pytest.approx(1.0, abs=1e-6)


def test_parts_in_opposite_states_are_seen_too() -> None:
    model = herk.Model.from_equations(
        "twins", ["x' = cos(t)", *CROSSING.values()], start={"x": 0, "z": -1, "w": 1}, t_span=(0, 2)
    )
    sol = herk.solve_dae(model, method="radau5")
    assert not sol.success
    assert sol.t[-1] == pytest.approx(1.0, abs=1e-6)


def test_regular_parts_are_followed() -> None:
    model = herk.Model.from_equations(
        "twins", ["x' = cos(t)", *REGULAR.values()], start={"x": 0}, t_span=(0, 2)
    )
    sol = herk.solve_dae(model, method="radau5")
    z, w = (sol.y[sol.names.index(name)] for name in "zw")
    assert sol.success
    assert z == pytest.approx(-w, abs=1e-12)
