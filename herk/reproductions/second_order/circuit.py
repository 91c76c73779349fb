"""Section 3, the RLC circuit (67) against its exact solution: Figure 8, and the orders of all methods."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

import testset
from baselines.second_order.layout import Ready, ready
from baselines.second_order.march import March, bdf, march
from baselines.second_order.tables import METHODS
from herk.core import Problem
from herk.core.dae import Array
from herk.reproductions.published import Origin, Row, Verdict
from herk.reproductions.second_order.printed import CIRCUIT_RATES, CIRCUIT_START

STEP = 0.01
SLACK = 0.15  # an observed order may differ from the claimed one by this much
COUNTS = (160, 320, 640)
TRACK_COUNTS = (48, 96, 192)
NAMES = ("v_L", "v_C", "v_R", "v_C'")
METHODS_SHOWN = {
    "BDF2": 2,
    "Radau IIA": 3,
    "general linear": 2,
    "Gauss": 4,
}  # with the orders the paper gives


@dataclass(frozen=True)
class Order:
    """Errors of one method with several steps.

    And the order the last two show, for every component or group of components.
    """

    problem: str
    method: str
    claimed: int
    steps: tuple[float, ...]
    errors: Array
    groups: tuple[str, ...]

    @property
    def observed(self) -> Array:
        """Return the orders between the two smallest steps."""
        return np.log2(self.errors[-2] / self.errors[-1])


@cache
def problem(name: str) -> Problem:
    """Return the circuit, or the track of Example 1.3."""
    return testset.get(name, t_end=7.0 if name == "rlc" else 1.5)


@cache
def system(name: str) -> Ready:
    """Return it, compiled."""
    return ready(problem(name), "second_order")


def exact(name: str, t: Array) -> Array:
    """Return the exact solution at these times, as rows."""
    found = problem(name).reference
    assert found is not None
    assert found.exact is not None
    return np.array([found.exact(time) for time in t])


def run(name: str, method: str, grid: Array) -> March:
    """Run one of METHODS_SHOWN, or modified BDF.

    Of order k (`BDFk`) from exact values at the first k times.
    """
    if method.startswith("BDF"):
        k = int(method.removeprefix("BDF"))
        return bdf(system(name), grid, np.full(len(grid) - k, k), modified=True, known=exact(name, grid[:k]))
    return march(
        system(name), METHODS[{"Radau IIA": "radau", "general linear": "glm", "Gauss": "gauss"}[method]], grid
    )


def figure8() -> dict[str, March]:
    """Return the runs of Figure 8, with h = 0.01 on [0, 7].

    BDF begins with order 1 there, as no past is given.
    """
    grid = STEP * np.arange(701)
    runs = {method: run("rlc", method, grid) for method in ("Radau IIA", "general linear")}
    return {"BDF2": bdf(system("rlc"), grid, np.minimum(np.arange(1, 701), 2), modified=True), **runs}


def order(name: str, method: str, claimed: int, counts: tuple[int, ...]) -> Order:
    """Measure the order with several numbers of constant steps."""
    t0, t1 = problem(name).t_span
    errors, groups = [], problem(name).groups
    for count in counts:
        done = run(name, method, np.linspace(t0, t1, count + 1))
        off = np.abs(done.z - exact(name, done.t)).max(axis=0)
        errors.append([off[list(members)].max() for members in groups.values()])
    return Order(
        name, method, claimed, tuple((t1 - t0) / count for count in counts), np.array(errors), tuple(groups)
    )


def every_order() -> list[Order]:
    """Measure all methods on the circuit.

    And BDF of orders 1 to 4, Radau IIA, the general linear method and Gauss on index 3.
    """
    circuit = [order("rlc", method, claimed, COUNTS) for method, claimed in METHODS_SHOWN.items()]
    known = {f"BDF{k}": k for k in range(1, 5)} | METHODS_SHOWN
    return circuit + [
        order("circular_track", method, claimed, TRACK_COUNTS) for method, claimed in known.items()
    ]


def start_rows() -> list[Row]:
    """Compare the start values printed with those of RC = 3, LC = 1/2 and v_C = exp(r t), r = sqrt(7) - 3."""
    r = np.sqrt(7.0) - 3.0
    values = {"v_L": r**2 / 2, "v_C": 1.0, "v_R": 3 * r}
    values |= {f"{name}'": r * value for name, value in values.items()}
    made = []
    for name, printed in {**CIRCUIT_START, **CIRCUIT_RATES}.items():
        same = abs(round(float(values[name]), 4) - printed) < 5e-5
        cut = abs(np.trunc(values[name] * 1e4) / 1e4 - printed) < 5e-5
        verdict = Verdict.SAME if same else Verdict.ROUNDING if cut else Verdict.LOST
        why = "RC = 3 and LC = 1/2, which are not printed" + (
            "" if same else "; the printed value is cut, not rounded"
        )
        made.append(
            Row(
                "Circuit (67)",
                "start",
                f"{name}(0)",
                printed,
                round(float(values[name]), 6),
                verdict,
                why,
                origin=Origin.PRINTED,
            )
        )
    return made


def figure8_rows(runs: dict[str, March]) -> list[Row]:
    """Check what the text says about Figure 8."""
    largest = {
        method: float(np.abs(done.z[:, :3] - exact("rlc", done.t)[:, :3]).max())
        for method, done in runs.items()
    }
    bdf2, radau, glm = (largest[name] for name in ("BDF2", "Radau IIA", "general linear"))
    numbers = f"BDF {bdf2:.1e}, Radau IIA {radau:.1e}, general linear {glm:.1e}"
    ranked, close = (
        Verdict.SAME if holds else Verdict.LOST for holds in (glm < radau < bdf2, radau < 10 * glm)
    )
    return [
        Row(
            "Figure 8",
            "h = 0.01",
            "largest error",
            "general linear best, BDF worst",
            numbers,
            ranked,
            origin=Origin.SAID,
        ),
        Row(
            "Figure 8",
            "h = 0.01",
            "Radau IIA over general linear",
            "close",
            f"factor {radau / glm:.1f}",
            close,
            origin=Origin.SAID,
        ),
    ]


def order_rows(orders: list[Order]) -> list[Row]:
    """Compare claimed orders with those seen on the circuit."""
    made = []
    for each in (o for o in orders if o.problem == "rlc"):
        seen = float(each.observed.min())
        why = ""
        verdict = Verdict.SAME if abs(seen - each.claimed) < SLACK else Verdict.LOST
        if each.method == "general linear" and seen > 3 - SLACK:
            verdict, why = (
                Verdict.SAME,
                (
                    "p = 2 by Definition 2.8 because h^2 y'' is never renewed; nobody uses it, and the"
                    " solution has order 3"
                ),
            )
        case = f"circuit (67), {each.method}"
        made.append(
            Row("Orders", case, "order", each.claimed, round(seen, 2), verdict, why, origin=Origin.PRINTED)
        )
    return made
