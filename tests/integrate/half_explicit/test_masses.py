"""Which determinants are watched: those of blocks of [E; g_y] with a row of E in which something varies."""

from __future__ import annotations

import pytest

from herk.integrate.options import Request
from herk.integrate.steppers.half_explicit import ready as made
from herk.model.model import Model


def watched(E: list[list[object]], f: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many blocks the machine of a run notes."""
    import herk

    found: list[int] = []
    inner = made.note_masses

    def noted(asked: Request, y: object, filled: object, state: object) -> None:
        inner(asked, y, filled, state)
        found.append(state.e_blocks)

    monkeypatch.setattr(made, "note_masses", noted)
    states = ["x", "y", "z", "w"][: len(f)]
    herk.solve_dae(Model("noted", states, E, f, t_span=(0, 0.1), y0=[1.0] * len(f)), method="dopri5")
    return max(found, default=0)


def test_constant_matrices_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    assert watched([["1", "2"], [0, 0]], ["-x", "x + y - 2"], monkeypatch) == 0


def test_an_E_of_differential_components_alone_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    assert watched([["1 + t", 0], [0, 0]], ["-x", "x*y - 1"], monkeypatch) == 0


def test_a_row_that_varies_beside_a_constraint_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert watched([["1", "t - 1"], [0, 0]], ["-x", "x + y - 2"], monkeypatch) == 1


def test_constraints_that_vary_beside_a_constant_row_are(monkeypatch: pytest.MonkeyPatch) -> None:
    assert watched([["1", "-1"], [0, 0]], ["-x", "x*y - 1"], monkeypatch) == 1


def test_a_constant_pair_beside_one_that_varies_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    E = [["1", "t - 1", 0, 0], [0, 0, "1", "2"], [0] * 4, [0] * 4]
    assert watched(E, ["-x", "-z", "x + y - 2", "z + w - 2"], monkeypatch) == 1
