"""Values on patterns are those of the dense functions, and code does not grow with a model."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import herk
import testset
from herk.codegen.on_patterns import OnPatterns
from herk.codegen.shapes import Catalogue
from herk.jit.native import Native
from herk.model.index_reduction.regularize import by_structure
from tests.model.index_reduction.structural.models import chain, ladder

NAMES = ("pendulum", "slider_crank", "time_varying", "rectifier", "transistor_amplifier")


@pytest.mark.parametrize("name", NAMES)
def test_functions_on_patterns_give_what_dense_ones_give(name: str) -> None:
    problem = testset.get(name)
    generated = problem.model.form("overdetermined").generated
    t, par = 0.3, generated.parameters
    y = np.array(problem.y0, dtype=float) + np.random.default_rng(1).uniform(-1e-3, 1e-3, generated.n)
    sparse, n, m = generated.sparse, generated.n, generated.m
    shapes = {"f": (n,), "g": (m,), "g_t": (m,), "E": (n, n), "jac_g": (m, n), "jac_f": (n, n)}
    for which, shape in shapes.items():
        wanted = generated.callable(which)(t, y)
        if which in sparse.patterns:
            found = sparse.matrix(which, t, y, par).toarray()
        else:
            found = np.full(shape, np.nan)
            sparse.functions[which](t, y, par, found)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max(initial=1e-300))
    v = np.linspace(1.0, 2.0, n)
    wanted = np.empty(n * n)
    generated.derivatives()["jac_Ey"](t, y, v, wanted)
    found = sparse.matrix("jac_Ey", t, y, par, v).toarray()
    np.testing.assert_allclose(found, wanted.reshape(n, n), rtol=1e-12, atol=1e-12)


def test_code_does_not_grow_with_the_number_of_rods() -> None:
    sizes = []
    for count in (25, 60):
        model = chain(count)
        system = OnPatterns(model.symbolic(by_structure(model).constraints))
        before = Native.compilations
        assert {"f", "g", "g_t", "E", "jac_g", "jac_f", "jac_Ey"} <= set(system.functions)
        sizes.append([len(system.functions[name].tables) for name in ("f", "jac_f")])
        assert len(list(system.functions.values())) == len(set(system.functions))
        assert Native.compilations == before + 2  # what implicit methods want is made for them alone
    assert sizes[0] == sizes[1]


def test_patterns_of_a_ladder_are_those_on_paper() -> None:
    model = ladder(3)
    system = OnPatterns(model.symbolic(by_structure(model).constraints))
    # u0 ... u3, i1 ... i3, j; u0 = sin(t) and its derivative (j - i1) / C0 = cos(t)
    jac_g = system.patterns["jac_g"]
    assert (jac_g.shape, jac_g.indptr.tolist(), jac_g.indices.tolist()) == ((2, 8), [0, 1, 3], [0, 4, 7])
    assert system.patterns["E"].nnz == 7
    assert system.constant_E


def test_an_analysis_by_structure_can_be_pickled() -> None:
    found = by_structure(ladder(3))
    again = pickle.loads(pickle.dumps(found))
    assert (again.index, again.constraints, again.explain()) == (
        found.index,
        found.constraints,
        found.explain(),
    )


def test_constraints_of_a_large_model_are_written_only_for_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    model = chain(25)
    with monkeypatch.context() as context:
        context.setattr(Catalogue, "written", None)
        assert herk.solve_dae(model, (0.0, 0.01)).success
    found = herk.regularize(model)
    assert len(found.rows) == 3 * 25
    assert list(found.rows) == found.constraints
