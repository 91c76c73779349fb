"""method="auto" from the same start again, from others, and in phases that are short."""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset
from herk.integrate import kept
from herk.integrate.options import request
from herk.integrate.prepared import OPTIONS
from herk.integrate.start import started
from herk.model.model import Model


def relaxation(rate: float, t_end: float = 20.0) -> Model:
    """Return y' = -rate (y - cos t) - sin t, z = 2 y, all rates with the same code."""
    f, values = ["-rate*(y - cos(t)) - sin(t)", "z - 2*y"], {"rate": rate}
    E = [[1, 0], [0, 0]]
    return Model("relaxation", ["y", "z"], E, f, parameters=values, t_span=(0, t_end), y0=(1.0, 2.0))


def used(sol: herk.Solution) -> list[str]:
    return [use.method for use in sol.methods]


def test_a_run_asked_for_again_is_the_same_run() -> None:
    first, again = (herk.solve_dae(relaxation(1e5)) for _ in range(2))
    assert used(first) == used(again) == ["radau5"]
    assert np.array_equal(first.t, again.t)
    assert np.array_equal(first.y, again.y)
    assert (first.nfev, first.njev, first.nit) == (again.nfev, again.njev, again.nit)


def test_other_values_spans_and_starts_are_decided_anew() -> None:
    """After a stiff run: a rate of 1 is not stiff, a span of ten times 1/rate is not, open values are."""
    for _ in range(2):
        assert used(herk.solve_dae(relaxation(1e5))) == ["radau5"]
        assert used(herk.solve_dae(relaxation(1.0))) == ["dop853"]
    assert used(herk.solve_dae(relaxation(1e5))) == ["radau5"]
    assert used(herk.solve_dae(relaxation(1e5), (0.0, 1e-4))) == ["dop853"]
    other = herk.solve_dae(relaxation(1e5), y0=(1.5, None))
    assert np.abs(other.y[:, 0] - [1.5, 3.0]).max() < 1e-14
    assert used(other) == ["radau5"]
    assert np.abs(other.y[0, -1] - np.cos(20.0)) < 1e-5


def test_a_prepared_run_follows_its_parameters() -> None:
    run = herk.prepare(relaxation(1e5))
    wanted = [(1e5, "radau5"), (1e5, "radau5"), (1.0, "dop853"), (1e5, "radau5"), (2e5, "radau5")]
    for rate, method in wanted:
        sol, alone = run.solve(parameters={"rate": rate}), herk.solve_dae(relaxation(rate))
        assert used(sol) == [method]
        assert np.array_equal(sol.y, alone.y)


def test_a_phase_that_pays_for_no_change_is_made_with_the_method_in_use() -> None:
    """In the fast phases of the oregonator, of a few hundred steps, nothing is stiff."""
    for rtol in (3e-9, 1e-9, 1e-10):
        sol = herk.solve_dae(testset.get("oregonator"), rtol=rtol, atol=rtol)
        assert sol.success, sol.message
        assert used(sol) == ["radau5"]


def test_a_large_smooth_flow_is_begun_by_the_implicit_method_and_prepared_once(monkeypatch) -> None:
    """Stability asks for more than 300 explicit steps, each of a tenth of the work of an implicit one."""
    problem, tolerances = testset.get("stokes", N=16), {"rtol": 1e-6, "atol": 1e-6}
    plain = herk.solve_dae(problem, method="radau5", **tolerances)
    first = herk.solve_dae(problem, **tolerances)
    assert used(first) == ["radau5"]
    assert "stability" in first.methods[0].why
    assert np.array_equal(first.t, plain.t)
    monkeypatch.setattr(kept, "started", None)  # whoever makes a machine now fails
    again = herk.solve_dae(problem, **tolerances)
    assert np.array_equal(again.t, plain.t)


@pytest.mark.parametrize("off", [0.0, 0.1])
def test_a_solution_is_restless_by_its_own_derivatives_until_its_fastest_change_has_died_out(off) -> None:
    """y' = -r (y - cos t) - sin t from cos 1 + off at t = 1: y'' is -cos t + r^2 off, units are |y| + 1."""
    rate, start = 1e5, float(np.cos(1.0)) + off
    f = [f"-{rate}*(y - cos(t)) - sin(t)"]
    model = Model("relaxation", ["y"], [[1]], f, t_span=(1.0, 20.0), y0=(start,))
    run = started(request(model, None, None, "auto", OPTIONS | {"rtol": 1e-6, "atol": 1e-6}, {}))
    run.go()
    size = start + 1.0
    first = abs(rate * off + np.sin(1.0)) / size
    second = abs(rate**2 * off - np.cos(1.0)) / size
    assert run.machine.state.restless == pytest.approx(max(first, second**0.5), rel=0.02)
