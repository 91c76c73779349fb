"""What is wrong in Section 4.4, the pendulum in the wind: its hidden constraints and its start."""

from __future__ import annotations

import numpy as np

import testset
from herk.core.dae import Array
from herk.integrate.solve import solve_dae
from herk.model.contradiction import check_constraints
from herk.reproductions.published import Erratum
from herk.reproductions.thesis import experiments
from herk.reproductions.thesis.systems import SETTINGS_44, WIND_CORRECTED, WIND_PRINTED


def found() -> list[Erratum]:
    """Differentiate the constraints along the flow, by numbers and by computer algebra.

    And measure what the wrong ones cost.
    """
    told = check_constraints(testset.get("wind_pendulum_printed").dae, 0.0, WIND_PRINTED.x0)
    fine = check_constraints(testset.get("wind_pendulum").dae, 0.0, WIND_CORRECTED.x0)
    states = (7.0, 0.3, -1.7, 0.2, 0.1, 4.0)
    difference = (
        _found_constraints(*states)
        - np.array([0.0, 2 * 1.79 * 0.03, -2 * 0.03**2])
        - _printed_constraints(*states)
    )
    off, shown = _cost()
    return [
        Erratum(
            "Section 4.4, hidden constraints",
            "2xv + 2yw = 0 and no l', l''",
            "2xv + 2yw - 2 l l' = 0, and -2 l'^2 - 2 l l'' in the third",
            f"check_constraints: {len(told)} contradictions as printed, {len(fine)} corrected; "
            f"herk.regularize gives the corrected ones. {shown}",
            bool(told)
            and not fine
            and np.abs(difference).max() < 1e-12
            and 0.02 < off[3] < 0.05
            and 0.02 < off[4] < 0.06,
        ),
        Erratum(
            "Section 4.4, start",
            "w(0) = 0",
            "w(0) = -l' = 0.03",
            f"x v + y w = l l' = {2.0 * -0.03:.2f} at t = 0 with y = -2",
            abs(WIND_CORRECTED.x0[1] * WIND_CORRECTED.x0[3] - 2.0 * -0.03) < 1e-15,
        ),
    ]


def _cost() -> tuple[Array, str]:
    """Return how far the program is off over the whole span, and say it in words."""
    outcome = experiments.run(WIND_PRINTED, SETTINGS_44)
    true = solve_dae(
        testset.get("wind_pendulum"),
        rtol=1e-11,
        atol=1e-11,
        method="dop853",
        t_eval=np.minimum(outcome.T[1:], 50.0),
    ).y
    off = np.abs(outcome.X[:, 1:] - true).max(axis=1)
    speed = np.abs(2 * outcome.X[0] * outcome.X[2] + 2 * outcome.X[1] * outcome.X[3]).max()
    shown = (
        f"over [0, 50] the program is off by {off[1]:.1e} in y, {off[3]:.1e} in w, {off[4]:.1e} in lambda; "
        f"its 2xv + 2yw is {speed:.0e}, not 2 l l'"
    )
    return off, shown


def _printed_constraints(t: float, *state: float) -> Array:
    assert WIND_PRINTED.dae.g is not None
    return np.asarray(WIND_PRINTED.dae.g(t, np.array(state)))


def _found_constraints(t: float, *state: float) -> Array:
    """Return what herk.regularize finds, scaled like the printed rows."""
    dae = testset.get("wind_pendulum").dae
    assert dae.g is not None
    g, jac = np.asarray(dae.g(t, np.array(state))), np.asarray(dae.jac_g(t, np.array(state)))  # type: ignore[misc]
    x, y = state[0], state[1]
    order = [
        int(np.argmax([abs(jac[k, 2]) < 1e-14 and abs(jac[k, 4]) < 1e-14 for k in range(3)])),
        0,
        int(np.argmax(np.abs(jac[:, 4]))),
    ]
    order[1] = ({0, 1, 2} - {order[0], order[2]}).pop()
    scales = [2 * x / jac[order[0], 0], 2 * x / jac[order[1], 2], -2 * (x**2 + y**2) / jac[order[2], 4]]
    return np.array([g[k] * c for k, c in zip(order, scales, strict=True)])
