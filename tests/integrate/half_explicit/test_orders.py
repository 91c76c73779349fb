"""Every method converges with the order it claims.

Maximum error over time, fixed steps, constraints included.

The rule does not know the claim: the number of steps is doubled from 16 on until the slopes between four
successive step sizes agree within 0.1, and their mean is the observed order. Orders up to 4 settle above
rounding in double precision; for higher ones the same loop, interpreted, runs in 50-digit numbers with
unrounded coefficients. With a selection that is kept while it is good ("sparse", the default) the times of
its changes depend on the step in a way that does not settle, by which errors scatter by some ten per cent.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest

import herk
from tests.integrate import precise_systems, systems
from tests.integrate.extended import long_numbers, number, solve

HIGHEST_IN_DOUBLE = 4
FIRST_COUNT, SETTLED = 16, 0.1
SHARED = 16  # times that all grids share, at which long numbers are compared: the exact pendulum is dear
PROBLEMS = ("academic", "selector_change", "pendulum")
# Procedure 3.11 at every step: then the selection, and with it the error constant, depends on the point alone
SELECTION = "complete"


def system(module: object, name: str) -> object:
    return {"academic": module.ACADEMIC, "selector_change": module.SELECTOR, "pendulum": module.PENDULUM}[
        name
    ]


def error_in_double(name: str, method: str, count: int) -> float:
    problem = system(systems, name)
    t_span = tuple(map(float, system(precise_systems, name).t_span))
    step = (t_span[1] - t_span[0]) / count
    sol = herk.solve_dae(
        problem.dae, t_span, problem.exact(t_span[0]), method=method, step=step, selection=SELECTION
    )
    assert sol.success
    assert sol.nstep == count
    assert sol.t[-1] == t_span[1]
    assert sol.residual < 1e-12
    chosen = slice(None) if count <= 4096 else slice(0, None, count // 4096)
    exact = np.array([problem.exact(t) for t in sol.t[chosen]]).T
    return float(np.max(np.abs(sol.y[:, chosen] - exact) / (1 + np.abs(exact))))


def error_in_long_numbers(name: str, method: str, count: int, monkeypatch: pytest.MonkeyPatch) -> float:
    problem = system(precise_systems, name)
    with long_numbers():
        t, y = solve(problem, method, count, SELECTION, monkeypatch)
        worst = 0.0
        for k in range(1, SHARED + 1):
            place = count * k // SHARED - 1
            exact = [number(value) for value in problem.exact(mpmath.mpf(str(t[place])))]
            worst = max(
                worst, *(float(abs(a - b) / (1 + abs(b))) for a, b in zip(y[place], exact, strict=True))
            )
    return worst


def plateau(error: Callable[[int], float], most: int) -> tuple[float, list[float]]:
    """Return the order by the rule of the first lines, and all slopes seen."""
    count = FIRST_COUNT
    errors, slopes = [error(count)], []
    while True:
        count *= 2
        assert count <= most, f"the slopes do not settle: {slopes}"
        errors.append(error(count))
        slopes.append(float(np.log2(errors[-2] / errors[-1])))
        if len(slopes) >= 3 and max(slopes[-3:]) - min(slopes[-3:]) <= SETTLED:
            return float(np.mean(slopes[-3:])), slopes


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("method", sorted(herk.METHODS))
def test_observed_order_matches_claimed_order(
    method: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = herk.METHODS[method].order
    if order <= HIGHEST_IN_DOUBLE:
        observed, slopes = plateau(lambda count: error_in_double(name, method, count), 1 << 22)
    else:
        observed, slopes = plateau(
            lambda count: error_in_long_numbers(name, method, count, monkeypatch), 1 << 13
        )
    assert abs(observed - order) <= 0.15, f"order {observed:.3f}, slopes {slopes}"
