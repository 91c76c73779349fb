"""Large models: forms with sparse matrices, consistent starts, and the first result."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse

import herk
from herk.core import InputError
from herk.jit.native import Native
from herk.model.model import Model
from tests.model.index_reduction.structural.models import chain, ladder

N = 25


def hanging() -> Model:
    """Return a chain at rest that hangs straight down: every rod carries what is below it."""
    y0 = [v for i in range(N) for v in (0.0, -1.0 - i)] + [0.0] * (2 * N) + [None] * N
    return chain(N).with_start(y0)


TENSIONS = np.array([(N - i) * 0.5 * 9.81 / 2 for i in range(N)])  # 2 T l = m g (N - i)


def test_matrices_of_a_large_form_are_sparse_and_right() -> None:
    form = chain(N).form()
    y = np.random.default_rng(2).uniform(-1.0, 1.0, form.n)
    assert scipy.sparse.issparse(form.E)
    np.testing.assert_array_equal(form.E.toarray(), np.diag([1.0] * 2 * N + [0.5] * 2 * N + [0.0] * N))
    jac = form.jac_g(0.0, y)
    assert scipy.sparse.issparse(jac)
    moved = [(form.g(0.0, y + h) - form.g(0.0, y - h)) / 2e-6 for h in 1e-6 * np.eye(form.n)]
    np.testing.assert_allclose(jac.toarray(), np.array(moved).T, atol=1e-7)
    assert form.generated.required == tuple(range(4 * N, 5 * N))
    assert form.generated.structure.shape == (3 * N, 5 * N)
    assert form.algebraic == form.generated.required


def test_a_large_form_survives_pickling() -> None:
    form = chain(N).form()
    again = pickle.loads(pickle.dumps(form))
    y = np.linspace(0.0, 1.0, form.n)
    np.testing.assert_array_equal(again.g(0.0, y), form.g(0.0, y))


def test_forms_of_lower_index_exist_for_large_models_too() -> None:
    form = chain(N).form("index1")
    assert (form.index, form.m) == (1, N)
    assert chain(N).form("index3").variable_index == (1,) * 2 * N + (2,) * 2 * N + (3,) * N


def test_open_start_values_of_a_large_model_are_computed() -> None:
    found = herk.consistent_start(hanging())
    np.testing.assert_allclose(found[4 * N :], TENSIONS, rtol=1e-12)
    np.testing.assert_array_equal(found[: 4 * N], hanging().y0[: 4 * N])


def test_what_need_not_move_does_not_move() -> None:
    wrong = np.array([*hanging().y0[: 4 * N], *(TENSIONS + 1.0)])
    found = herk.consistent_start(hanging(), 0.0, wrong)
    np.testing.assert_array_equal(found[: 4 * N], wrong[: 4 * N])
    np.testing.assert_allclose(found[4 * N :], TENSIONS, rtol=1e-12)


def test_a_wrong_start_of_a_large_model_is_repaired() -> None:
    model = hanging()
    wrong = np.array([*model.y0[: 4 * N], *TENSIONS])
    wrong[: 2 * N] += 1e-3 * np.random.default_rng(0).uniform(-1.0, 1.0, 2 * N)
    found = herk.consistent_start(model, 0.0, wrong)
    assert np.abs(model.form().g(0.0, found)).max() < 1e-11
    assert np.abs(found - wrong)[: 4 * N].max() < 5e-3


def test_values_that_constraints_do_not_determine_are_named_and_not_all_of_them() -> None:
    model = chain(N).with_start([None] * 5 * N)
    with pytest.raises(
        InputError, match=r"x0, y0, .* and 85 others are left open, but 75 constraints cannot"
    ):
        herk.solve_dae(model, (0, 0.01), method="dopri5")


def test_a_chain_that_hangs_straight_stays_where_it_is() -> None:
    sol = herk.solve_dae(hanging(), (0, 0.5), method="dopri5")
    assert sol.success, sol.message
    np.testing.assert_allclose(sol.y[:, -1], [*hanging().y0[: 4 * N], *TENSIONS], rtol=1e-10, atol=1e-10)


def test_a_chain_let_go_keeps_its_energy_and_its_lengths() -> None:
    sol = herk.solve_dae(chain(N), (0, 0.3), method="dopri5", rtol=1e-9, atol=1e-11)
    assert sol.success, sol.message
    heights, speeds = sol.y[1 : 2 * N : 2], sol.y[2 * N : 4 * N]
    energy = 0.25 * (speeds**2).sum(axis=0) + 0.5 * 9.81 * heights.sum(axis=0)
    assert np.abs(energy).max() < 1e-6  # it begins with none of either kind
    assert heights[-1, -1] < -0.4  # and falls: g t^2 / 2
    assert sol.residual < 1e-11


def test_nothing_is_compiled_for_other_parameter_values_of_a_large_model() -> None:
    model = ladder(60)
    first = herk.solve_dae(model, (0, 0.1), method="dopri5")
    assert first.success, first.message
    before = Native.compilations
    other = herk.solve_dae(model, (0, 0.1), method="dopri5", parameters={"R": 0.2})
    assert other.success, other.message
    assert Native.compilations == before


def test_the_defect_of_a_large_model_is_that_of_its_formulas() -> None:
    sol = herk.solve_dae(chain(N), (0, 0.05), method="dopri5", rtol=1e-8, atol=1e-10, defect=True)
    assert 0.0 < sol.defect < 1e-5


def test_sensitivities_of_a_large_model_are_those_of_free_fall_or_refused() -> None:
    with pytest.raises(InputError, match="of more than 100 unknowns need method='radau5'"):
        herk.solve_dae(chain(N), (0, 0.005), method="dopri5", sensitivities=["g"])
    sol = herk.solve_dae(chain(N), (0, 0.005), method="radau5", sensitivities=["g"])
    falling = sol.dyd("g")[2 * N + 1 : 4 * N : 2, -1]  # dw/dg = -t of the bobs far from where it hangs
    np.testing.assert_allclose(falling[5:], -0.005, rtol=1e-6)


def test_a_large_run_that_ends_early_says_so_without_dense_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    from herk.integrate import renewal

    def dense(*_: object) -> float:
        raise AssertionError("a dense matrix was made")

    monkeypatch.setattr(renewal, "regularity", dense)
    names = [f"x{i}" for i in range(101)]
    f = ["x0**2", *(f"-x{i}" for i in range(1, 100)), "x100 - x0"]  # x0 = 1 / (1 - t)
    model = Model("pole", names, {(i, i): 1 for i in range(100)}, f, t_span=(0, 2), y0=[*[1.0] * 100, None])
    sol = herk.solve_dae(model, method="dopri5")
    assert not sol.success
    assert sol.t[-1] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("name", ["index1", "index2", "ggl"])
def test_a_chain_let_go_level_falls_as_free_rods_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At rest and straight, the second derivatives of all lengths vanish without tensions: y'' = -g."""
    monkeypatch.setattr(np.linalg, "lstsq", None)  # full matrices take minutes at a thousand rods
    y0 = [v for i in range(N) for v in (1.0 + i, 0.0)] + [0.0] * (2 * N) + [None] * N
    form = chain(N).with_start(y0).form(name)
    _, rate = form.start()
    fall = rate[2 * N : 4 * N].reshape(N, 2)
    np.testing.assert_allclose(fall, np.tile([0.0, -9.81], (N, 1)), atol=1e-9)
