"""A small set of records whose numbers follow from formulas, so that tests know what a report must say."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from herk.bench import record, store
from herk.reproductions import style
from reports import contents, page

HOSTILE = "<script>alert(1)</script>"
GROUPS = {"positions": [0, 1], "velocities": [2, 3], "multipliers": [4]}
COMPONENTS = ["x", "y", "v", "w", "lam"]
TOLERANCES = [10.0 ** (-k / 4) for k in range(12, 45)]  # 1e-3 down to 1e-11, four in a decade
HALVINGS = [1 / 2**k for k in range(3, 10)]


def run(**fields: Any) -> dict[str, Any]:
    """Return the record of a run; what is not given is that of a run of ours on the pendulum."""
    known: dict[str, Any] = {
        "study": "work_precision",
        "problem": "pendulum",
        "changes": "{}",
        "form": "overdetermined",
        "solver": "herk_dop853",
        "solver_version": "1",
        "rtol": None,
        "atol": None,
        "step": None,
        "options": "{}",
        "status": "ok",
        "reason": "finished",
        "message": "The end was reached.",
        "nstep": 100,
        "nreject": 3,
        "nfev": 1200,
        "ngev": 40,
        "njev": 5,
        "nlu": 4,
        "nit": 9,
        "t_end": 20.0,
        "machine": "Model processor",
        "commit": "0123456789ab",
    }
    return record.make("run", **{**known, **fields})


def sweep(
    solver: str, form: str, order: float, speed: float, ratio: float, **fields: Any
) -> list[dict[str, Any]]:
    """Return runs with error = ratio * tolerance and time = speed * tolerance^(-1/order)."""
    rows = []
    for tolerance in TOLERANCES:
        error = ratio * tolerance
        cost = tolerance ** (-1 / order)
        errors = {f"error_end.{group}": error * 10**-k for k, group in enumerate(GROUPS)}
        rows.append(
            run(
                solver=solver,
                form=form,
                rtol=tolerance,
                atol=tolerance,
                error_end=error,
                error_grid=2 * error,
                mescd=-math.log10(error),
                cpu_min=speed * cost,
                wall_min=speed * cost,
                nfev=round(12 * cost),
                nstep=round(cost),
                **errors,
                **{"drift.all": 1e-15},
                **fields,
            )
        )
    return rows


def convergence() -> list[dict[str, Any]]:
    """Return fixed steps: rk4 keeps order 4 in all groups, heun claims 2 and has 1 in the multipliers."""
    rows = []
    for step in HALVINGS:
        for solver, orders in (("herk_rk4", (4, 4, 4)), ("herk_heun", (2, 2, 1))):
            errors = {
                f"error_grid.{group}": 0.3 * step**order for group, order in zip(GROUPS, orders, strict=True)
            }
            rows.append(
                run(
                    study="convergence",
                    solver=solver,
                    step=step,
                    error_grid=max(errors.values()),
                    error_end=0.1,
                    **errors,
                )
            )
    return rows


def drift() -> list[dict[str, Any]]:
    """Return the drift study: ours at rounding, a rival whose violation grows with the square of time."""
    rows = []
    for end in (20.0, 200.0, 2000.0):
        changes = record.canonical({"t_end": end})
        for solver, form, value in (
            ("herk_dop853", "overdetermined", 3e-15),
            ("scipy_lsoda", "ode", 1e-7 * end**2),
        ):
            made = run(
                study="drift",
                changes=changes,
                solver=solver,
                form=form,
                rtol=1e-6,
                atol=1e-6,
                t_end=end,
                error_end=value,
                t_reached=end,
                **{
                    "drift.all": 2 * value,
                    "drift.level0": value,
                    "drift.level1": value,
                    "drift.level2": 2 * value,
                },
            )
            t = [end * k / 50 for k in range(51)]
            levels = {f"drift.level{k}": [value * (time / end) ** 2 + 1e-17 for time in t] for k in range(3)}
            rows += [
                made,
                *(
                    record.make("series", run=made["key"], name=name, t=t, values=values)
                    for name, values in levels.items()
                ),
            ]
    return rows


def histories() -> list[dict[str, Any]]:
    """Return series of a run of ours: a swing, its reference, steps and one change of the selection."""
    made = run(rtol=1e-6, atol=1e-6, solver="herk_dopri5", error_end=1e-6, mescd=6.0, cpu_min=1e-3)
    t = [0.1 * k for k in range(201)]
    waves = {name: [math.cos(time + k) for time in t] for k, name in enumerate(COMPONENTS)}
    series = {
        **{f"y.{name}": (t, wave) for name, wave in waves.items()},
        **{f"reference.{name}": (t, wave) for name, wave in waves.items()},
    }
    series |= {
        "step": (t, [0.02 + 0.01 * math.sin(time) for time in t]),
        "selection": ([0.0, 7.0], ["0 2 4", "1 3 4"]),
    }
    return [
        made,
        *(
            record.make("series", run=made["key"], name=name, t=t, values=values)
            for name, (t, values) in series.items()
        ),
    ]


def facts() -> list[dict[str, Any]]:
    """Return records of problems and solvers."""
    exact = [-1.0, 0.5, 0.25, 2.0, 3.0]
    known: dict[str, Any] = {
        "groups": GROUPS,
        "components": COMPONENTS,
        "n": 5,
        "m": 3,
        "index": 3,
        "levels": [1, 1, 1],
        "t_span": [0.0, 20.0],
        "tags": ["index3", "mechanical"],
        "equations": [r"\dot{x} = v", r"\dot{v} = - \frac{2 lam x}{m}", "0 = x^{2} + y^{2} - l^{2}"],
        "constraints": [["x^{2} + y^{2} - l^{2}"], ["2 v x + 2 w y"], [r"- 2 g y - \frac{4 lam x^{2}}{m}"]],
        "reference_digits": 14.0,
        "reference_how": "exact solution",
        "reference_y": exact,
        "published_digits": None,
        "published_note": "",
    }
    right = record.make(
        "problem",
        problem="pendulum",
        changes="{}",
        title="Pendulum",
        source="A book & more",
        published_y=None,
        **known,
    )
    printed = [-1.0, 0.5, 0.25, 2.0, 3.0 + 3e-6]  # agrees to six digits
    wrong = record.make(
        "problem",
        problem="akzo",
        changes="{}",
        title="Akzo",
        source="Test Set",
        published_y=printed,
        **{**known, "tags": ["index1", "stiff"], "index": 1},
    )
    solvers = {"herk_dop853": 8, "herk_dopri5": 5, "herk_rk4": 4, "herk_heun": 2}
    ours = [
        record.make(
            "solver",
            solver=name,
            version="1",
            family="herk",
            order=order,
            adaptive=order > 4,
            forms=["overdetermined"],
            tags=["explicit"],
            available=True,
            reason="",
        )
        for name, order in solvers.items()
    ]
    rivals = [
        record.make(
            "solver",
            solver=name,
            version="1",
            family="scipy",
            order=5,
            adaptive=True,
            forms=["ode"],
            tags=["implicit"],
            available=True,
            reason="",
        )
        for name in ("scipy_lsoda", "scipy_radau")
    ]
    return [right, wrong, *ours, *rivals]


def document() -> list[dict[str, Any]]:
    """Return what a study of a document leaves."""
    same = {"study": "thesis", "date": "2026-01-01T00:00:00"}
    rows = [
        ("Fig. 3", "Euler", "order", 1.0, 1.0001, "same", ""),
        ("Fig. 3", "Heun", "order", 2.0, 2.1, "not reproduced", "no idea"),
        ("Table 1", "beta = 0.7", "error", 1e-5, 1e-6, "misprint", "see 4.5"),
    ]
    published = [
        record.make(
            "published", part=a, case=b, quantity=c, printed=d, ours=e, verdict=f, why=g, origin="", **same
        )
        for a, b, c, d, e, f, g in rows
    ]
    return [
        *published,
        record.make(
            "erratum",
            where="page 5",
            printed="g = 13.7",
            right="g = 13.75",
            evidence="the period is 2 s",
            holds=True,
            **same,
        ),
        record.make("claim", text="Orders come out.", holds=True, evidence="", **same),
        record.make("claim", text="Steps come out.", holds=False, evidence="12 against 13", **same),
        record.make("figure", name="orders", caption="Orders again", path="thesis/orders.svg", **same),
        record.make("figure", name="stolen", caption="Out of the folder", path="../../secret.png", **same),
    ]


def everything() -> list[dict[str, Any]]:
    """Return all of it, with a solver that fails and one with a hostile name."""
    asked = {"solver": "scipy_radau", "form": "ode", "problem": "akzo"}
    stopped = {"status": "failed", "reason": "time_limit", "message": "Stopped after 10 s."}
    failed = [run(**asked, **stopped, rtol=rtol, atol=rtol) for rtol in TOLERANCES[:7]]
    survivor = run(
        **asked, rtol=TOLERANCES[7], atol=TOLERANCES[7], mescd=9.0, error_end=1e-9, cpu_min=1e-9
    )  # of four in its decade
    return [
        *facts(),
        *sweep("herk_dop853", "overdetermined", 8, 1e-5, 1.0),
        *sweep("scipy_lsoda", "ode", 8, 24e-5, 1.0),
        *sweep("herk_dop853", "overdetermined", 8, 4e-5, 1.0, problem="akzo"),
        *sweep("scipy_lsoda", "ode", 8, 1e-5, 1.0, problem="akzo"),
        *sweep(HOSTILE, "ode", 4, 1e-4, 3.0),
        *failed,
        survivor,
        *convergence(),
        *drift(),
        *histories(),
        *document(),
    ]


@pytest.fixture(scope="session")
def records() -> list[dict[str, Any]]:
    return everything()


@pytest.fixture(scope="session")
def found(records: list[dict[str, Any]]) -> contents.Contents:
    return contents.sort(records)


@pytest.fixture(scope="session")
def out(records: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with records and the report made from them."""
    return report(tmp_path_factory.mktemp("report"), records)


def report(folder: Path, records: list[dict[str, Any]]) -> Path:
    """Write records, a figure that the study of a document left, and the report."""
    store.Store(folder / "records.jsonl").append(records)
    figure = Figure(figsize=(4, 3))
    figure.subplots().plot([1, 2], [2, 1])
    style.save(figure, folder / "thesis" / "orders")
    page.write(folder)
    return folder
