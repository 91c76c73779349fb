"""The experiments behind the figures of Chapter 4: orders, end points, the crane pendulum, the chain, the circuit and Akzo Nobel."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

import herk
import testset
from herk.bench.thesis_study import printed
from herk.bench.thesis_study.equations import PRINTED_G
from herk.bench.thesis_study.rows import Modern, Row, Verdict, close, modern
from herk.bench.thesis_study.systems import (
    ACADEMIC, AKZO, AKZO_END, CHAIN, CIRCUIT, PENDULUM, SELECTOR, SETTINGS_43_FIRST, SETTINGS_43_ORDER, SETTINGS_44, SETTINGS_45, SETTINGS_46,
    SETTINGS_47, SETTINGS_423, WIND_CORRECTED, WIND_PRINTED, System,
)  # fmt: skip
from herk.core.dae import Array
from herk.thesis import METHODS, Outcome, Settings, integrate

STEPS_ACADEMIC = (1 / 10, 1 / 100, 1 / 1000)
STEPS_SELECTOR = (math.pi / 40, math.pi / 400, math.pi / 4000)
STEPS_PENDULUM = (1 / 100, 1 / 300, 1 / 600, 1 / 1000)
CHAIN_TOLERANCES = tuple(10.0**-k for k in range(3, 14))
AKZO_TOLERANCES = tuple(10.0**-k for k in range(6, 17))


@dataclass(frozen=True)
class Orders:
    """Errors for several steps, at the end and the largest over the interval, with the slopes fitted to them in log-log scale."""

    steps: tuple[float, ...]
    at_end: tuple[float, ...]
    largest: tuple[float, ...]
    changes: tuple[int, ...]

    @property
    def order(self) -> float:
        """Return the fitted order at the end."""
        return slope(self.steps, self.at_end)

    @property
    def order_of_largest(self) -> float:
        """Return the fitted order of the largest error."""
        return slope(self.steps, self.largest)


def slope(h: Sequence[float], errors: Sequence[float]) -> float:
    """Fit log error = p log h + c by least squares and return p."""
    return float(np.polyfit(np.log(h), np.log(errors), 1)[0])


def run(system: System, settings: Settings, tf: float | None = None) -> Outcome:
    """Run the program on a system over its span."""
    return integrate(system.dae, system.t_span[0], system.t_span[1] if tf is None else tf, system.x0, settings)


def errors(system: System, outcome: Outcome) -> Array:
    """Return the 2-norm of the error at every point."""
    assert system.exact is not None
    return np.array([np.linalg.norm(x - system.exact(float(t))) for t, x in zip(outcome.T, outcome.X.T, strict=True)])


def orders(system: System, settings: Settings, steps: Sequence[float], tf: float | None = None) -> Orders:
    """Measure the order of a method with constant steps."""
    at_end, largest, changes = [], [], []
    end = system.t_span[1] if tf is None else tf
    for h in steps:
        outcome = run(system, replace(settings, h0=h), tf)
        assert system.exact is not None
        at_end.append(float(np.linalg.norm(outcome.X[:, -1] - system.exact(end))))
        largest.append(float(errors(system, outcome).max()) if system is not PENDULUM else at_end[-1])
        changes.append(len(outcome.selections) - 1)
    return Orders(tuple(steps), tuple(at_end), tuple(largest), tuple(changes))


def modern_order(name: str, method: int, steps: Sequence[float], **changes: float) -> Modern:
    """Measure the order of the same method in the modern mode; error, steps and time are those of the smallest step."""
    problem = testset.get(name, **changes)
    assert problem.reference is not None
    found, count, seconds = [], 0, 0.0
    for h in (steps[0], *steps):  # the first is a warm-up
        start = time.process_time()
        sol = herk.solve_dae(problem, method=METHODS[method], step=h)
        seconds = time.process_time() - start
        found.append(float(np.linalg.norm(sol.y[:, -1] - problem.reference.y)))
        count = sol.nstep
    return Modern(f"{METHODS[method]}, order {slope(steps, found[1:]):.4f}", found[-1], count, 1e3 * seconds)


def figure3() -> tuple[list[Row], dict[str, Orders]]:
    """Return the orders of methods (a) to (d) on the academic example."""
    found = {letter: orders(ACADEMIC, replace(SETTINGS_423, method=printed.METHODS[letter]), STEPS_ACADEMIC) for letter in "abcd"}
    rows = []
    for letter, value in printed.ORDERS_ACADEMIC.items():
        ours = found[letter].order
        same = f"{ours:.4f}" == f"{value:.4f}"
        why = "" if same else f"the last error, {found[letter].at_end[-1]:.1e}, is rounding"
        word = Verdict.SAME if same else Verdict.ROUNDING if abs(ours - value) < 0.01 else Verdict.LOST
        rows.append(Row("Figure 3", f"({letter})", "order", value, ours, word, why, modern_order("academic", printed.METHODS[letter], STEPS_ACADEMIC)))
    return rows, found


def figure4() -> tuple[list[Row], dict[str, Orders], dict[str, Orders]]:
    """Return the orders of (a) to (d) on the selector example, with difference quotients and with the exact Jacobian."""
    noisy = {k: orders(SELECTOR, replace(SETTINGS_423, method=printed.METHODS[k]), STEPS_SELECTOR) for k in "abcd"}
    exact = {k: orders(SELECTOR, replace(SETTINGS_423, method=printed.METHODS[k], Jopt=1), STEPS_SELECTOR) for k in "abcd"}
    rows = []
    for letter, value in printed.ORDERS_SELECTOR.items():
        ours, clean = noisy[letter].order, exact[letter]
        same = f"{ours:.4f}" == f"{value:.4f}"
        why = (
            f"noise chooses the selectors ({noisy[letter].changes[-1]} changes); with the exact Jacobian there is {clean.changes[-1]}, the order is "
            f"{clean.order:.2f} at t_f and {clean.order_of_largest:.2f} over the interval"
        )
        word = Verdict.SAME if same else Verdict.ROUNDING
        rows.append(Row("Figure 4", f"({letter})", "order", value, ours, word, why, modern_order("selector_change", printed.METHODS[letter], STEPS_SELECTOR)))
    return rows, noisy, exact


def figure9() -> tuple[list[Row], Orders]:
    """Return the order of (c) on the pendulum over one period."""
    found = orders(PENDULUM, SETTINGS_43_ORDER, STEPS_PENDULUM, tf=2.0)
    word = Verdict.SAME if f"{found.order:.4f}" == f"{printed.ORDER_PENDULUM:.4f}" else Verdict.LOST
    today = modern_order("pendulum", 3, STEPS_PENDULUM, t_end=2.0, g=PRINTED_G)
    return [Row("Figure 9", "(c)", "order", printed.ORDER_PENDULUM, found.order, word, "", today)], found


def end_points() -> tuple[list[Row], dict[tuple[str, int], Outcome]]:
    """Return the end positions of Figures 5 to 8, where the pendulum should be at (1, 0)."""
    rows, runs = [], {}
    for (letter, count), value in printed.END_POINTS.items():
        outcome = runs[letter, count] = run(PENDULUM, replace(SETTINGS_43_FIRST, method=printed.METHODS[letter], h0=1 / count), 1.0)
        x, y = outcome.X[:2, -1]
        ours = f"({x + 0.0:.4f}, {y + 0.0:.4f})" if not outcome.failure else f"Newton abort at t = {outcome.t_failed:.1f}"
        same = bool(outcome.failure) if value is None else np.abs(outcome.X[:2, -1] - value).max() < 1e-4 and not outcome.failure
        shown = "no convergence" if value is None else f"({value[0]:.4f}, {value[1]:.4f})"
        part = f"Figure {'abcd'.index(letter) + 5}"
        why = "a picture in the thesis; the value is that of the original program"
        rows.append(Row(part, f"({letter}), h = 1/{count}", "(x, y) at t = 1", shown, ours, Verdict.SAME if same else Verdict.LOST, why))
    return rows, runs


def wind() -> tuple[list[Row], dict[str, Outcome]]:
    """Return the pendulum of Section 4.4 as printed and with the true constraints."""
    runs = {"printed": run(WIND_PRINTED, SETTINGS_44), "corrected": run(WIND_CORRECTED, SETTINGS_44)}
    true, today = np.array(printed.WIND_TRUE), modern(testset.get("wind_pendulum"), 1e-10)
    rows = []
    for name, tell in (("printed", "constraints as printed: w and lambda are wrong, see errata"), ("corrected", "constraints with l' and l''")):
        end = runs[name].X[:, -1]
        for k, component in enumerate(("x", "y", "v", "w", "lambda")):
            reference = printed.WIND_END[k] if name == "printed" else true[k]
            near = close(end[k], reference, 0.01)
            word = Verdict.LOST if not near else Verdict.WRONG if name == "printed" and not close(end[k], true[k], 0.05) else Verdict.ROUNDING
            rows.append(Row("Figure 11", f"{name}, h = 1/50", f"{component} at t = 50", float(reference), float(end[k]), word, tell, today))
            today = None
    return rows, runs


@dataclass(frozen=True)
class ChainRun:
    """One point of Figure 15."""

    eps0: float
    Nopt: int
    max_norm: bool
    steps: int
    error: float
    message: str


def chain_run(eps0: float, Nopt: int, max_norm: bool = False, delta: float = 1e-14) -> ChainRun:
    """Run the chain with tol = eps0 and keep its steps and its largest error."""
    outcome = run(CHAIN, replace(SETTINGS_45, eps0=eps0, tol=eps0, Nopt=Nopt, max_norm=max_norm, delta=delta))
    return ChainRun(eps0, Nopt, max_norm, len(outcome.T), float(errors(CHAIN, outcome).max()), outcome.message)


def chain(tolerances: Iterable[float] = CHAIN_TOLERANCES) -> tuple[list[Row], list[ChainRun], Outcome]:
    """Return Figures 13 to 15: the runs depend on rounding, 10 % in steps and a factor 3 in errors are agreement."""
    first = run(CHAIN, SETTINGS_45)
    error = float(errors(CHAIN, first).max())
    band = "rounding chooses between p1 and p3 in every step: 10 % in steps and a factor 3 in the error are agreement"
    word = Verdict.ROUNDING if 1 / 3 <= error / printed.CHAIN_ERROR <= 3 else Verdict.LOST
    today = modern(testset.get("spring_chain"), 1e-7, over_time=True)
    rows = [Row("Figure 14", "eps0 = 1e-7, Nopt = 0", "largest error", printed.CHAIN_ERROR, error, word, band, today)]
    curve = [chain_run(eps0, Nopt, max_norm) for eps0 in tolerances for Nopt in (0, 1) for max_norm in (False, True)]
    tight, today_13 = min(each.eps0 for each in curve), modern(testset.get("spring_chain"), 1e-13, over_time=True)
    for each in curve:
        if each.eps0 == tight == 1e-13 and not each.max_norm:
            case = f"eps0 = 1e-13, Nopt = {each.Nopt}"
            word = Verdict.ROUNDING if close(each.steps, printed.CHAIN_STEPS[each.Nopt], 0.1) else Verdict.LOST
            rows.append(Row("Figure 15", case, "steps", printed.CHAIN_STEPS[each.Nopt], each.steps, word, band, today_13))
            ratio = each.error / printed.CHAIN_ERRORS[each.Nopt]
            rows.append(Row("Figure 15", case, "largest error", printed.CHAIN_ERRORS[each.Nopt], each.error,
                            Verdict.ROUNDING if 1 / 3 <= ratio <= 3 else Verdict.LOST, band))  # fmt: skip
    return rows, curve, first


def circuit() -> tuple[list[Row], Outcome]:
    """Return Figures 16 and 17: the error stays bounded, and e1 has none but Newton's."""
    outcome = run(CIRCUIT, SETTINGS_46)
    assert CIRCUIT.exact is not None
    parts = np.abs(outcome.X.T - np.array([CIRCUIT.exact(float(t)) for t in outcome.T]))
    total = np.linalg.norm(parts, axis=1)
    today = modern(testset.get("cv_circuit"), SETTINGS_46.eps0, over_time=True)
    longer = run(CIRCUIT, SETTINGS_46, 10.0)
    later = float(errors(CIRCUIT, longer).max())
    bounded = later < 3 * total.max()
    rows = [
        Row("Figure 16", "eps0 = 1e-10", "largest error on [0, 1] and [0, 10]", "bounded", f"{total.max():.1e}, {later:.1e}",
            Verdict.SAME if bounded else Verdict.LOST, "the text claims a bound; ten times the span shows it", today),
        Row("Figure 17", "eps0 = 1e-10", "largest error of e1 and of e2", "e1 free of the method's error", f"{parts[:, 2].max():.1e}, {parts[:, 3].max():.1e}",
            Verdict.SAME if parts[:, 2].max() <= SETTINGS_46.tol < parts[:, 3].max() else Verdict.LOST, "e1 comes from the constraint alone"),
    ]  # fmt: skip
    return rows, outcome


def akzo(tolerances: Iterable[float] = AKZO_TOLERANCES) -> tuple[list[Row], Outcome, list[tuple[float, int, float]]]:
    """Return Figures 18 to 20: the largest step, and the error over the steps."""
    outcome, end = run(AKZO, SETTINGS_47), np.array(AKZO_END)
    others = [float(run(AKZO, replace(SETTINGS_47, delta=factor * 1e-14)).H.max()) for factor in (0.8, 0.9, 1.0, 1.1, 1.2)]
    word = Verdict.ROUNDING if 0.9 * min(others) <= printed.AKZO_STEP <= 1.1 * max(others) else Verdict.LOST
    why = (
        f"the picture shows proposed steps; they are noise: {min(others):.1f} to {max(others):.1f} if delta is changed by up to 20 %; "
        f"the longest accepted step is {np.diff(outcome.T).max():.1f}"
    )
    rows = [Row("Figure 19", "eps0 = 1e-7", "longest step", printed.AKZO_STEP, float(outcome.H.max()), word, why, modern(testset.get("akzo"), 1e-7))]
    curve = []
    for eps0 in tolerances:
        each = run(AKZO, replace(SETTINGS_47, eps0=eps0, tol=eps0))
        error = float(np.linalg.norm(each.X[:, -1] - end))
        curve.append((eps0, len(each.T), error))
        met = error <= 20 * eps0 and not each.failure
        rows.append(Row("Figure 20", f"eps0 = {eps0:.0e}", "error", "accuracy met", f"{error:.1e} with {len(each.T)} steps",
                        Verdict.SAME if met else Verdict.LOST, "within 2^p eps0: the coarse value is kept", modern(testset.get("akzo"), max(eps0, 1e-14))))  # fmt: skip
    return rows, outcome, curve
