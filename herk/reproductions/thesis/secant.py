"""Chapter 5: the variant for an E that is not regularly reducible, as printed.

And what takes its place here.
"""

from __future__ import annotations

import numpy as np

from herk.core import Dae
from herk.core.dae import Array
from herk.integrate.solve import solve_dae
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.integrate.steppers.half_explicit.tableaus import get
from herk.reproductions.published import Erratum, Origin, Row, Verdict
from herk.reproductions.thesis.experiments import slope
from herk.thesis import ThesisError, herkosidae

METHODS = {"heun": 2, "kutta3": 3, "rk4": 4}
STEPS = (1 / 10, 1 / 20, 1 / 40)
AGREES = 0.15
T_END = 1.0


def mixed_f(t, x):  # type: ignore[no-untyped-def]
    """Return f of [1 1; 0 0] x' = f: x1 + x2 decays, and x1 = x2 + x2^3 + sin t."""
    return np.array([-x[0] - x[1], x[0] - x[1] - x[1] ** 3 - np.sin(t)])


def mixed_g(t, x):  # type: ignore[no-untyped-def]
    """Return the constraint."""
    return np.array([x[0] - x[1] - x[1] ** 3 - np.sin(t)])


def mixed_jac(t, x):  # type: ignore[no-untyped-def] # noqa: ARG001
    """Return dg/dx."""
    return np.array([[1.0, -1.0 - 3.0 * x[1] ** 2]])


MIXED = Dae(
    E=np.array([[1.0, 1.0], [0.0, 0.0]]), f=mixed_f, g=mixed_g, jac_g=mixed_jac, n=2, m=1, names=("x1", "x2")
)
START = (2.0, 1.0)


def exact(t: float) -> Array:
    """Return the solution: x1 + x2 = 3 e^-t, and x2^3 + 2 x2 = 3 e^-t - sin t by Cardano's formula."""
    half = (3 * np.exp(-t) - np.sin(t)) / 2
    root = np.sqrt(half**2 + 8 / 27)
    x2 = np.cbrt(half + root) + np.cbrt(half - root)
    return np.array([3 * np.exp(-t) - x2, x2])


def start_rate(t: float, x: Array) -> Array:
    """Return x' from [E; g_x] x' = [f; -g_t], which has full column rank where E has not."""
    full = np.vstack([np.asarray(MIXED.E), mixed_jac(t, x)])
    return np.asarray(np.linalg.lstsq(full, np.append(mixed_f(t, x), np.cos(t)), rcond=None)[0])


def printed_step(tableau: Tableau, t: float, x: Array, h: float, differential: int = 0) -> Array:
    """Make one step of the printed variant.

    Stage derivatives are secants (X_i - x_0)/(c_i h), the first is that of the state.
    """
    algebraic = 1 - differential
    rates = [start_rate(t, x)]
    weights, nodes = np.vstack([tableau.A, tableau.b]), np.append(tableau.c, 1.0)
    stage = x
    for i in range(1, tableau.stages + 1):
        stage = stage.copy()
        stage[differential] = x[differential] + h * sum(
            weights[i, j] * rates[j][differential] for j in range(i)
        )
        stage[algebraic] = _solved(t + nodes[i] * h, stage, algebraic)
        rates.append((stage - x) / (nodes[i] * h))
    return stage


def _solved(t: float, x: Array, algebraic: int) -> float:
    """Return the algebraic component from g = 0 by Newton's iteration."""
    trial = x.copy()
    for _ in range(20):
        change = mixed_g(t, trial)[0] / mixed_jac(t, trial)[0, algebraic]
        trial[algebraic] -= change
        if abs(change) < 1e-13:
            break
    return float(trial[algebraic])


def printed_order(method: str) -> float:
    """Return the observed order of the printed variant."""
    errors = []
    for h in STEPS:
        x = np.array(START)
        for k in range(round(T_END / h)):
            x = printed_step(get(method), k * h, x, h)
        errors.append(float(np.abs(x - exact(T_END)).max()))
    return slope(STEPS, errors)


def modern_order(method: str) -> float:
    """Return the observed order of herk.solve_dae."""
    ends = [solve_dae(MIXED, t_span=(0.0, T_END), y0=START, method=method, step=h).y[:, -1] for h in STEPS]
    return slope(STEPS, [float(np.abs(end - exact(T_END)).max()) for end in ends])


def refused() -> str:
    """Return what the port answers."""
    try:
        herkosidae(MIXED, 0.0, T_END, START)
    except ThesisError as error:
        return str(error)
    return ""


def measure() -> dict[str, tuple[float, float]]:
    """Return the orders of every method, printed variant and ours."""
    return {method: (printed_order(method), modern_order(method)) for method in METHODS}


def rows(found: dict[str, tuple[float, float]], refusal: str) -> list[Row]:
    """Return what becomes of the variant, and of the program without it."""
    part, case = "Chapter 5", "E = [1 1; 0 0], not regularly reducible"
    verdict = Verdict.SAME if "regularly reducible" in refusal else Verdict.LOST
    made = [Row(part, case, "Algorithm 3.3", "not applicable", refusal, verdict, origin=Origin.SAID)]
    for method, order in METHODS.items():
        secants, ours = found[method]
        fits = abs(secants - 1) <= AGREES
        why = "with a_21 = c_2 every secant is x_0', so each stage is Euler's: see the errata"
        said, word = f"a less precise derivative than order {order}", Verdict.WRONG if fits else Verdict.LOST
        made.append(
            Row(
                part,
                f"{case}, {method}",
                "order with secants",
                said,
                round(secants, 2),
                word,
                why,
                origin=Origin.SAID,
            )
        )
        fits = abs(ours - order) <= AGREES
        why, word = (
            "herk.solve_dae takes x' from [E; g_x] x' = [f; -g_t]",
            Verdict.SAME if fits else Verdict.LOST,
        )
        made.append(
            Row(
                part,
                f"{case}, {method}",
                "order of ours",
                order,
                round(ours, 2),
                word,
                why,
                origin=Origin.OURS,
            )
        )
    return made


def erratum(found: dict[str, tuple[float, float]]) -> Erratum:
    """Show that the printed variant is Euler's method whatever the tableau, and does not contain E and f."""
    x, h = np.array(START), 0.1
    euler = x[0] + h * start_rate(0.0, x)[0]
    gaps = [abs(printed_step(get(method), 0.0, x, h)[0] - euler) for method in METHODS]
    text = ", ".join(f"{method} {secants:.2f}" for method, (secants, _) in found.items())
    return Erratum(
        "Chapter 5, variant for a general E",
        "x_i' = (X_i - x_0)/(c_i h), a less precise approximation",
        "E and f are lost: all secants of differential components are x_0', the method is Euler's; [E; g_x]"
        " x' = [f; -g_t] keeps the order",
        f"orders {text}; one step differs from Euler's by {max(gaps):.0e}",
        max(gaps) < 1e-14 and all(abs(secants - 1) <= AGREES for secants, _ in found.values()),
    )
