"""Conditions on the state that the program finds in a model: located, passed, and ended where they chatter."""

from __future__ import annotations

import numpy as np
import pytest

import herk
from herk.model.model import Model
from herk.model.switching import switches_of
from tests.fuzz import piecewise

SETTING = {"rtol": 1e-10, "atol": 1e-12, "switches": True}


def written(piece: piecewise.Piece) -> Model:
    n = len(piece.states)
    E = np.diag([1] * piece.differential + [0] * (n - piece.differential)).tolist()
    start = piece.truth(np.zeros(1))[:, 0].tolist()
    return Model("piece", piece.states, E, piece.f, t_span=(0, piece.t_end), y0=start)


@pytest.mark.parametrize("seed", range(5))
def test_a_bilinear_spring_has_the_digits_of_a_smooth_problem(seed: int) -> None:
    """Its motion is known from half period to half period; the stiffness jumps where x changes its sign."""
    piece = piecewise.bilinear(np.random.default_rng(seed))
    sol = herk.solve_dae(written(piece), **SETTING)
    assert sol.success, sol.message
    assert np.abs(sol.y - piece.truth(sol.t)).max() < 1e-7


@pytest.mark.parametrize(
    ("f", "exact"),
    [
        ("1 - 2*Heaviside(x - 1)*0 + Abs(x - 1)*0", lambda t: t),
        ("Piecewise((1, x < 1), (2, True))", lambda t: np.where(t < 1, t, 2 * t - 1)),
        (
            "Piecewise((1, Or(x < 1, x > 2)), (3, True))",
            lambda t: np.where(t < 1, t, np.minimum(3 * t - 2, t + 2 / 3)),
        ),
        ("1 + Heaviside(x - 1)", lambda t: np.where(t < 1, t, 2 * t - 1)),
        ("2 + sign(1 - x)", lambda t: np.where(3 * t < 1, 3 * t, 1 + (t - 1 / 3))),
        ("Max(1, x)", lambda t: np.where(t < 1, t, np.exp(t - 1))),
        ("Min(2, x + 1)", lambda t: np.where(t < np.log(2), np.exp(t) - 1, 1 + 2 * (t - np.log(2)))),
        ("1 + Abs(x - 1)", lambda t: np.where(t < np.log(2), 2 - 2 * np.exp(-t), np.exp(t - np.log(2)))),
    ],
)
def test_every_kind_of_condition_is_passed_exactly(f: str, exact) -> None:
    model = Model("kinds", ["x"], [[1]], [f], t_span=(0, 2), y0=(0,))
    sol = herk.solve_dae(model, **SETTING)
    assert sol.success, sol.message
    assert np.abs(sol.y[0] - exact(sol.t)).max() < 1e-9


def test_a_block_that_comes_to_rest_by_friction_ends_with_a_reason() -> None:
    """v' = -sign(v): at rest at t = 1, where the equations have no solution that goes on."""
    model = Model("block", ["x", "v"], [[1, 0], [0, 1]], ["v", "-sign(v)"], t_span=(0, 2), y0=(0, 1))
    sol = herk.solve_dae(model, **SETTING)
    assert not sol.success
    assert sol.reason is herk.Reason.STEP_UNDERFLOW
    assert sol.t[-1] == pytest.approx(1.0, abs=1e-6)
    assert sol["x"][-1] == pytest.approx(0.5, abs=1e-6)


def test_a_smooth_model_has_no_switches_and_callables_have_no_conditions() -> None:
    smooth = Model("smooth", ["x"], [[1]], ["-x + Piecewise((1, t < 1), (0, True))"], t_span=(0, 2), y0=(1,))
    assert smooth.conditions == ()
    assert switches_of(smooth, smooth.conditions) is None
    assert herk.solve_dae(smooth, **SETTING).success
    with pytest.raises(herk.InputError, match="needs a herk"):
        herk.solve_dae(herk.Dae(E=np.eye(1), f=lambda t, y: -y, n=1), (0.0, 1.0), [1.0], switches=True)
