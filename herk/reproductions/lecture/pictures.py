"""The pictures of the lecture on index reduction.

A wrong start, drift, and Baumgarte's stabilisation, with the law each one follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import testset
from baselines.irk.fixed import FixedStep
from baselines.prepared import Implicit
from herk.core import InputError, Settings, Solution
from herk.core.dae import Array
from herk.reproductions.published import Origin, Row, Verdict

SOLVER = FixedStep(
    "radau_iia2",
    "irk",
    ("index1", "index2", "index3", "baumgarte"),
    3,
    False,
    method_family="radau_iia",
    stages=2,
)
OUTWARD = 0.15  # speed along q that violates the constraint q.v = 0 of the wrong start
WRONG_END, WRONG_STEP = 5.0, 1e-3
DRIFT_END, DRIFT_STEP = 100.0, 0.02
PAIRS = (
    (0.0, 0.0),
    (1.0, 2.0),
    (25.0, 10.0),
    (400.0, 40.0),
)  # (kappa_0, kappa_1): none, and critically damped ones
DAMPED = (4.0, 4.0)  # of the start that violates g = 0
AGREES = 1e-6


@dataclass(frozen=True)
class Trace:
    """A run of the pendulum: times, points, and its two hidden constraints g = q.q - 1 and g' / 2 = q.v."""

    label: str
    t: Array
    y: Array

    @property
    def length(self) -> Array:
        """Return q.q - 1."""
        return np.asarray((self.y[:3] ** 2).sum(axis=0) - 1)

    @property
    def speed(self) -> Array:
        """Return q.v."""
        return np.asarray((self.y[:3] * self.y[3:6]).sum(axis=0))


@dataclass(frozen=True)
class Pictures:
    """What the figures draw."""

    wrong: dict[str, Trace]
    drift: dict[str, Trace]
    stabilised: dict[tuple[float, float], Trace]
    decaying: Trace


def pictures() -> tuple[list[Row], Pictures]:
    """Make all runs."""
    first, wrong = wrong_start()
    second, drift = drifting()
    third, stable, decaying = stabilised()
    return [*first, *second, *third], Pictures(wrong, drift, stable, decaying)


def trace(form: Any, label: str, t_end: float, step: float, y0: Any = None) -> Trace:
    """Run the solver on a form from any start the form accepts."""
    prepared = Implicit(form, (0.0, t_end), form.start(y0), form.to_model_states)
    sol: Solution = SOLVER.solve(prepared, Settings(step=step))
    if not sol.success:
        raise InputError(f"{label}: {sol.message}")
    return Trace(label, sol.t, sol.y)


def wrong_start() -> tuple[list[Row], dict[str, Trace]]:
    """Start index 1 with a speed along q.

    Only g'' = 0 is imposed, so g grows linearly and the pendulum lengthens.
    """
    model = testset.get("pendulum_3d").model
    q, v = np.array(model.y0[:3], dtype=float), np.array(model.y0[3:6], dtype=float)
    start = [*q, *(v + OUTWARD * q), None]
    found = {
        "index 1, wrong start": trace(
            model.form("index1"), "index 1, wrong start", WRONG_END, WRONG_STEP, start
        ),
        "index 3, consistent start": trace(
            model.form("index3"), "index 3, consistent start", WRONG_END, WRONG_STEP
        ),
    }
    try:
        model.form("index3").start(start)
        refusal = ""
    except InputError as error:
        refusal = str(error)
    ours = float(found["index 1, wrong start"].length[-1])
    law = 2 * OUTWARD * WRONG_END
    good = abs(ours - law) < AGREES and bool(refusal)
    why = (
        f"g = g(0) + g'(0) t = {law:g} at t = {WRONG_END:g} exactly; the index-3 form refuses this start and"
        " names the rows"
    )
    row = Row(
        "Index reduction",
        "index 1 from q.v = 0.15",
        "q.q - 1 at t = 5",
        "wrong solution",
        f"{ours:.6f}",
        _word(good),
        why,
        origin=Origin.SAID,
    )
    return [row], found


def drifting() -> tuple[list[Row], dict[str, Trace]]:
    """Run from a consistent start to t = 100.

    The forms with a differentiated constraint drift, index 3 does not.
    """
    model = testset.get("pendulum_3d").model
    found = {
        name: trace(model.form(name), name, DRIFT_END, DRIFT_STEP) for name in ("index1", "index2", "index3")
    }
    result = []
    for name, printed in (("index1", "drifts"), ("index2", "drifts"), ("index3", "does not drift")):
        half, end = (float(np.abs(found[name].length[: len(found[name].t) // part]).max()) for part in (2, 1))
        good = end < 1e-12 if name == "index3" else end > 1e-6 and end > 1.5 * half
        why = f"Radau IIA with 2 stages, h = {DRIFT_STEP:g}; up to t = 50 it is {half:.1e}"
        result.append(
            Row(
                "Index reduction",
                name,
                "largest |q.q - 1| up to t = 100",
                printed,
                f"{end:.1e}",
                _word(good),
                why,
                origin=Origin.SAID,
            )
        )
    return result, found


def stabilised() -> tuple[list[Row], dict[tuple[float, float], Trace], Trace]:
    """Replace g'' = 0 by g'' + kappa_1 g' + kappa_0 g = 0.

    Drift stays bounded, and errors of the start die out as the equation says.
    """
    model = testset.get("pendulum_3d").model
    found = {
        pair: trace(_baumgarte(model, *pair), f"({pair[0]:g}, {pair[1]:g})", DRIFT_END, DRIFT_STEP)
        for pair in PAIRS
    }
    free = float(np.abs(found[PAIRS[0]].length).max())
    bounded = [_bounded_row(found[pair], free) for pair in PAIRS[1:]]
    decaying = trace(
        _baumgarte(model, *DAMPED),
        f"({DAMPED[0]:g}, {DAMPED[1]:g})",
        WRONG_END,
        WRONG_STEP,
        _long_start(model),
    )
    return [*bounded, _decay_row(decaying)], found, decaying


def _bounded_row(stable: Trace, free: float) -> Row:
    """Compare the drift with that of the run without stabilisation, and its halves with each other."""
    drift = np.abs(stable.length)
    largest, late = float(drift.max()), float(drift[len(drift) // 2 :].max())
    good = largest < free / 10 and late <= 1.5 * float(drift[: len(drift) // 2].max())
    return Row(
        "Index reduction",
        f"(κ0, κ1) = {stable.label}",
        "largest |q.q - 1| up to t = 100",
        "stabilised",
        f"{largest:.1e}",
        _word(good),
        f"without stabilisation {free:.1e}; no growth in the second half",
        origin=Origin.SAID,
    )


def _decay_row(decaying: Trace) -> Row:
    """Compare the error of a start that is too long with the solution of its equation."""
    exact = decay(decaying.t, decaying.length[0], 2 * decaying.speed[0])
    wrong = float(np.abs(decaying.length - exact).max())
    return Row(
        "Index reduction",
        f"(κ0, κ1) = {decaying.label}",
        "largest deviation of g from its equation",
        "stable",
        f"{wrong:.1e}",
        _word(wrong < AGREES),
        "start with q too long by 5 %: g follows g'' + 4 g' + 4 g = 0",
        origin=Origin.SAID,
    )


def decay(t: Array, g: float, slope: float) -> Array:
    """Return g(t) of g'' + 4 g' + 4 g = 0."""
    return np.asarray((g + (slope + 2 * g) * t) * np.exp(-2 * t))


def _long_start(model: Any) -> list[float | None]:
    y = np.array(model.y0[:6], dtype=float)
    y[:3] *= 1.05
    return [*y, None]


def _baumgarte(model: Any, k0: float, k1: float) -> Any:
    return model.form("baumgarte", k0=k0, k1=k1) if k0 or k1 else model.form("index1")


def _word(good: bool) -> Verdict:
    return Verdict.SAME if good else Verdict.LOST
