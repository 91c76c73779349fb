"""Many unknowns: values on patterns give what full matrices give, in memory of the size of the entries."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array, eye_array, hstack

import herk
import testset
from herk.core import InputError
from herk.integrate.steppers.half_explicit import ready
from herk.integrate.steppers.half_explicit.sparse_machine import SparseMachine

PAIRS = 60  # unknowns y_i, z_i with z_i = y_i^2
PLACES = np.arange(PAIRS)


def exact(t: float) -> np.ndarray:
    y = np.sin(t + PLACES)
    return np.concatenate([y, y**2])


def mass(t: float = 0.0) -> csr_array:
    """Return a matrix that couples neighbours, and knows nothing of z."""
    band = diags_array(
        [np.full(PAIRS - 1, 1.0), np.full(PAIRS, 4.0 + t), np.full(PAIRS - 1, 1.0)], offsets=(-1, 0, 1)
    )
    return csr_array(hstack([band, csr_array((PAIRS, PAIRS))]))


def system(E, *, jac_g=None, sparsity=None) -> herk.Dae:
    """E y' = E d/dt sin(t + i), z = y^2; the zero rows of E are filled up."""
    below = csr_array((PAIRS, 2 * PAIRS))

    def whole(t: float) -> csr_array:
        from scipy.sparse import vstack

        return csr_array(vstack([E(t), below]))

    def f(t, y):
        slope = np.concatenate([np.cos(t + PLACES), np.zeros(PAIRS)])
        return whole(t) @ slope

    def g(t, y):
        return y[PAIRS:] - y[:PAIRS] ** 2

    matrix = whole(0.0) if E is constant else lambda t, y: whole(t)
    return herk.Dae(E=matrix, f=f, g=g, n=2 * PAIRS, m=PAIRS, jac_g=jac_g, jac_g_sparsity=sparsity)


def constant(t: float) -> csr_array:
    return mass()


def slopes(t, y):
    return hstack([diags_array(-2 * y[:PAIRS]), eye_array(PAIRS)])


def values(t, y):
    return np.column_stack([-2 * y[:PAIRS], np.ones(PAIRS)]).ravel()


SPARSITY = hstack([eye_array(PAIRS), eye_array(PAIRS)])
WAYS = {
    "sparse": {"jac_g": slopes},
    "dense": {"jac_g": lambda t, y: slopes(t, y).toarray()},
    "values": {"jac_g": values, "sparsity": SPARSITY},
    "differences on a known pattern": {"sparsity": SPARSITY},
    "differences on a pattern found": {},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_give_a_jacobian_leads_to_the_exact_solution(way: str) -> None:
    dae = system(constant, **WAYS[way])
    sol = herk.solve_dae(dae, (0.0, 2.0), exact(0.0), method="dop853", rtol=1e-9, atol=1e-12)
    assert sol.success, sol.message
    assert sol.y[:, -1] == pytest.approx(exact(2.0), abs=1e-8)
    assert sol.residual < 1e-14


def test_a_sparse_e_that_changes_is_factored_on_the_way() -> None:
    sol = herk.solve_dae(system(mass, **WAYS["values"]), (0.0, 2.0), exact(0.0), method="dopri5", rtol=1e-8)
    assert sol.y[:, -1] == pytest.approx(exact(2.0), abs=1e-6)


def test_values_between_steps_lie_on_the_constraints() -> None:
    times = np.linspace(0.0, 2.0, 17)
    dae = system(constant, **WAYS["values"])
    sol = herk.solve_dae(dae, (2.0, 0.0), exact(2.0), method="dop853", rtol=1e-9, t_eval=times[::-1])
    assert sol.y == pytest.approx(np.array([exact(t) for t in times[::-1]]).T, abs=1e-7)
    assert np.abs(sol.y[PAIRS:] - sol.y[:PAIRS] ** 2).max() < 1e-14


def test_the_chain_is_the_same_with_values_on_patterns_and_with_full_matrices(monkeypatch) -> None:
    chain = testset.get("hanging_chain", N=25, t_end=0.6)
    options = {"method": "dop853", "rtol": 1e-9, "atol": 1e-11}
    sparse = herk.solve_dae(chain, **options)
    full = chain.form("index3").source
    monkeypatch.setattr(herk.core.dae, "LARGE", 1000)
    dense = herk.solve_dae(full, chain.t_span, chain.y0, **options)
    assert sparse.y[:50, -1] == pytest.approx(dense.y[:50, -1], abs=1e-7)
    assert sparse.residual < 1e-12


def test_selections_change_on_the_way_and_dense_output_knows_them() -> None:
    chain = testset.get("hanging_chain", N=25, t_end=1.2, angle=1.4)
    sol = herk.solve_dae(chain, method="dop853", rtol=1e-8, dense_output=True)
    assert sol.success, sol.message
    assert len(sol.selections) > 1
    times = (sol.t[:-1] + sol.t[1:]) / 2
    assert max(np.abs(chain.dae.g(t, sol.sol(t))).max() for t in times[::5]) < 1e-11
    energies = [chain.invariants[0].value(t, sol.sol(t)) for t in times[::5]]
    assert np.ptp(energies) < 1e-5


def test_memory_grows_with_the_entries_and_not_with_their_square() -> None:
    peaks = []
    for N in (500, 2000):
        chain = testset.get("hanging_chain", N=N, t_end=1e-4)
        herk.solve_dae(chain, method="dop853", first_step=1e-5)
        tracemalloc.start()
        herk.solve_dae(chain, method="dop853", first_step=1e-5)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 5 * peaks[0]


def test_a_jacobian_with_an_entry_outside_its_pattern_is_refused() -> None:
    dae = system(constant, jac_g=slopes, sparsity=hstack([csr_array((PAIRS, PAIRS)), eye_array(PAIRS)]))
    with pytest.raises(InputError, match=r"jac_g has an entry at \(1, 1\), where jac_g_sparsity has none"):
        herk.solve_dae(dae, (0.0, 1.0), exact(0.0), method="dopri5")


def test_wrong_starts_and_constraints_are_refused_as_for_few_unknowns() -> None:
    dae = system(constant, **WAYS["values"])
    with pytest.raises(InputError, match=r"row 3 of g is .* and|y0 is inconsistent"):
        herk.solve_dae(dae, (0.0, 1.0), exact(0.0) + (np.arange(2 * PAIRS) == 3), method="dopri5")
    contrary = herk.Dae(
        E=dae.E, f=dae.f, g=lambda t, y: np.append(dae.g(t, y), y[0] - 2 * t), n=dae.n, m=PAIRS + 1
    )
    with pytest.raises(InputError, match="contradicts E y' = f"):
        herk.solve_dae(contrary, (0.0, 1.0), exact(0.0), method="dopri5")
    twice = herk.Dae(
        E=dae.E, f=dae.f, g=lambda t, y: np.append(dae.g(t, y), dae.g(t, y)[:1]), n=dae.n, m=PAIRS + 1
    )
    with pytest.raises(InputError, match="not independent at the start: dg/dy has rank 60"):
        herk.solve_dae(twice, (0.0, 1.0), exact(0.0), method="dopri5")


def test_the_machine_is_the_sparse_one() -> None:
    from herk.integrate.options import request
    from herk.integrate.prepared import OPTIONS
    from herk.model.evaluate import linearise

    asked = request(system(constant, **WAYS["values"]), (0.0, 1.0), exact(0.0), "dopri5", OPTIONS, {})
    made = ready.ready(asked, exact(0.0), linearise(asked.dae, 0.0, exact(0.0)))
    assert isinstance(made, SparseMachine)
    assert made.state.words.size < 60 * asked.dae.n


def test_radau_takes_every_jacobian_a_large_system_may_bring() -> None:
    for way in ("sparse", "values"):
        dae = system(constant, **WAYS[way])
        sol = herk.solve_dae(dae, (0.0, 0.1), exact(0.0), method="radau5", rtol=1e-6)
        assert sol.success, sol.message
        assert sol.y[:, -1] == pytest.approx(exact(0.1), abs=1e-5)
    chain = testset.get("hanging_chain", N=25, t_end=0.02)  # its values are compiled
    implicit, explicit = (herk.solve_dae(chain, method=name, rtol=1e-7) for name in ("radau5", "dop853"))
    assert implicit.y[:50, -1] == pytest.approx(explicit.y[:50, -1], abs=1e-6)
