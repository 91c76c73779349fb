"""Fits to data: herk.fit beside SciPy's least squares with differences, and how often intervals hold."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import least_squares

import herk
import testset
from herk.core.dae import Array
from herk.parameters.fitted import Fit
from herk.reproductions.published import Erratum, Origin, Row, Verdict

REPEATS = 100  # experiments of which intervals of 95 % are asked to hold the truth in at least COVERED
COVERED = 90
QUICK = 20


@dataclass(frozen=True)
class Experiment:
    """A model with true values, what is measured when and how exactly, and where searches begin."""

    name: str
    model: Any
    first: Mapping[str, float]
    times: Array
    sigma: Mapping[str, float]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def truth(self) -> dict[str, float]:
        """Return the true values of what is sought."""
        known = {p.name: float(value) for p, value in self.model.parameters.items()}
        return {name: known[name] for name in self.first}

    def measured(self, seed: int) -> dict[str, Array]:
        """Return one set of measurements."""
        dice = np.random.default_rng(seed)
        exact = herk.solve_dae(self.model, t_eval=self.times, rtol=1e-10, atol=1e-12, **self.options)
        return {"t": self.times} | {
            name: exact[name] + dice.normal(0.0, deviation, self.times.size)
            for name, deviation in self.sigma.items()
        }


def double_pendulum() -> Experiment:
    """Return two masses on rods, let go from rest; lengths, the second mass and friction are sought."""
    rows = [
        "x1'' = -2*x1*a - 2*(x1 - x2)*b - d*x1'",
        "y1'' = -2*y1*a - 2*(y1 - y2)*b - 9.81 - d*y1'",
        "m*x2'' = 2*(x1 - x2)*b - d*x2'",
        "m*y2'' = 2*(y1 - y2)*b - 9.81*m - d*y2'",
        "0 = x1**2 + y1**2 - l1**2",
        "0 = (x2 - x1)**2 + (y2 - y1)**2 - l2**2",
    ]
    model = herk.Model.from_equations(
        "double pendulum",
        rows,
        parameters={"l1": 1.0, "l2": 0.8, "m": 0.5, "d": 0.1},
        start={"x1": 0.6, "y1": -0.8, "x2": 1.08, "y2": -1.44, "x1'": 0, "y1'": 0, "x2'": 0, "y2'": 0},
        t_span=(0, 2),
    )
    first = {"l1": 1.1, "l2": 0.75, "m": 0.6, "d": 0.05}
    return Experiment("double_pendulum", model, first, np.linspace(0, 2, 41), {"x1": 0.01, "x2": 0.01})


def akzo() -> Experiment:
    """Return the reaction of the test set; its rate constants are sought from five concentrations."""
    model = testset.get("akzo").model
    sigma = {"y1": 5e-4, "y2": 2e-6, "y3": 2e-4, "y4": 5e-6, "y5": 1e-4}
    first = {"k1": 15.0, "k2": 0.7, "k3": 0.07, "k4": 0.5}
    return Experiment("akzo", model, first, np.linspace(0, 180, 46), sigma, {"method": "radau5"})


EXPERIMENTS = {"double_pendulum": double_pendulum, "akzo": akzo}


def by_herk(experiment: Experiment, data: Mapping[str, Array]) -> Fit:
    """Fit with exact derivatives."""
    return herk.fit(experiment.model, data, experiment.first, sigma=experiment.sigma, **experiment.options)


def by_differences(experiment: Experiment, data: Mapping[str, Array]) -> Any:
    """Fit as one does without derivatives: SciPy takes differences of solutions."""
    names, sigma = list(experiment.first), experiment.sigma

    def misfit(values: Array) -> Array:
        own = dict(zip(names, map(float, values), strict=True))
        model = experiment.model.with_parameters(**own)
        start = herk.consistent_start(model, model.t_span[0], model.y0)
        how = {"t_eval": experiment.times, "rtol": 1e-8, "atol": 1e-10, "consistent": "trust"}
        sol = herk.solve_dae(model, y0=start, **how, **experiment.options)
        return np.concatenate([(sol[name] - data[name]) / sigma[name] for name in sigma])

    first = np.array(list(experiment.first.values()))
    return least_squares(misfit, first, x_scale=np.abs(first))


def coverage(experiment: Experiment, repeats: int) -> dict[str, int]:
    """Return in how many repeated experiments the interval of 95 % of each value holds the truth."""
    held = dict.fromkeys(experiment.first, 0)
    for seed in range(repeats):
        found = by_herk(experiment, experiment.measured(seed))
        for name, true in experiment.truth.items():
            low, high = found.interval(name)
            held[name] += low <= true <= high
    return held


@dataclass(frozen=True)
class Compared:
    """One experiment: seconds and trials of both ways, values of both, and how often intervals held."""

    name: str
    seconds: tuple[float, float]
    trials: tuple[int, int]
    values: tuple[Array, Array]
    errors: Array
    held: Mapping[str, int]
    repeats: int

    @property
    def agree(self) -> bool:
        """Tell whether both ways found the same, beside the standard errors."""
        return bool((np.abs(self.values[0] - self.values[1]) <= 0.05 * self.errors).all())


def compared(experiment: Experiment, repeats: int) -> Compared:
    """Run both ways on the same data, in turn, the shorter of three times counts."""
    data = experiment.measured(0)
    mine, other = by_herk(experiment, data), by_differences(experiment, data)
    seconds = []
    for way in (by_herk, by_differences):
        times = []
        for _ in range(3):
            started = time.process_time()
            way(experiment, data)
            times.append(time.process_time() - started)
        seconds.append(min(times))
    trials = mine.nfev, other.nfev + len(experiment.first) * other.njev
    return Compared(
        experiment.name,
        (seconds[0], seconds[1]),
        trials,
        (mine.values, other.x),
        np.array(list(mine.errors.values())),
        coverage(experiment, repeats),
        repeats,
    )


@dataclass(frozen=True)
class Study:
    """Everything the report and the figure are made of."""

    cases: list[Compared]
    rows: list[Row]
    errata: list[Erratum] = field(default_factory=list)
    name: str = "fitting"
    title: str = "Fits to data: exact derivatives beside finite differences"

    def claims(self) -> list[tuple[str, bool]]:
        """Return what the study claims, and whether it holds."""
        least = min(count / case.repeats for case in self.cases for count in case.held.values())
        faster = min(case.seconds[1] / case.seconds[0] for case in self.cases)
        return [
            ("both ways find the same values", all(case.agree for case in self.cases)),
            (f"exact derivatives are at least {faster:.1f} times faster than differences", faster > 1.0),
            (
                f"intervals of 95 % hold the truth in at least {COVERED} % of the experiments"
                f" (least: {100 * least:.0f} %)",
                least >= COVERED / 100,
            ),
        ]


def rows_of(case: Compared) -> list[Row]:
    """Return one experiment as rows: herk.fit beside finite differences, and counts of intervals."""
    mine, other = case.seconds
    shown = {
        "seconds of finite differences beside ours": (
            other / mine,
            f"{1e3 * other:.0f} ms, ours {1e3 * mine:.0f} ms",
        ),
        "solutions of finite differences beside ours": (
            case.trials[1] / case.trials[0],
            f"{case.trials[1]}, ours {case.trials[0]}",
        ),
    }
    rows = []
    for quantity, (ratio, why) in shown.items():
        verdict = Verdict.SAME if ratio > 1.0 else Verdict.LOST
        given = case.name, "one data set", quantity, "more than 1", round(ratio, 2)
        rows.append(Row(*given, verdict, why, origin=Origin.OURS))
    for name, count in case.held.items():
        quantity = f"intervals of {name} that hold the truth, of {case.repeats}"
        fine = count >= COVERED / 100 * case.repeats
        verdict = Verdict.BAND if fine else Verdict.LOST
        expected = round(0.95 * case.repeats)
        why = "intervals of 95 % of linear theory; a binomial count"
        rows.append(Row(case.name, "repeated", quantity, expected, count, verdict, why, origin=Origin.OURS))
    return rows


def run(quick: bool, say: Callable[[str], None]) -> Study:
    """Run all experiments; fewer repetitions if time is short."""
    cases = []
    for name, make in EXPERIMENTS.items():
        say(f"Fits of {name} ...")
        cases.append(compared(make(), QUICK if quick else REPEATS))
    return Study(cases, [row for case in cases for row in rows_of(case)])
