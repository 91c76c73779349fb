"""The code to paste: short, complete, and run by our tests."""

from __future__ import annotations

from collections.abc import Sequence

from herk.bench.recommend.examine import Facts
from herk.bench.recommend.rank import Row

SCIPY = {
    "scipy_radau": "Radau",
    "scipy_bdf": "BDF",
    "scipy_lsoda": "LSODA",
    "scipy_dop853": "DOP853",
    "scipy_rk45": "RK45",
}


def code(path: str, facts: Facts, row: Row) -> str:
    """Return a program that solves the user's problem the recommended way and prints the end."""
    assert row.rtol is not None
    atol = _atol(row.rtol, facts.sizes)
    if row.solver.startswith("herk_") and row.form == "overdetermined":
        body = _herk(facts, row, atol)
    elif row.solver in SCIPY and row.form == "ode":
        body = _scipy(facts, row, atol)
    else:
        body = _protocol(row, atol)
    return f'{_header(path, facts, body)}{body}print(f"t = {{t[-1]:g}}: y = {{y[:, -1]}}")\n'


def _header(path: str, facts: Facts, body: str) -> str:
    imports = {
        "np.": "import numpy as np",
        "solve_ivp(": "from scipy.integrate import solve_ivp",
        "herk.": "import herk",
        "baselines.": "import baselines",
        "to_solve(": "from herk.bench.plugins import to_solve",
    }
    used = [line for word, line in imports.items() if word in body]
    given = ["", "given = runpy.run_path(FILE)"] if "given[" in body else [""]
    return "\n".join(
        [
            *(["import runpy", ""] if len(given) > 1 else []),
            *used,
            "",
            f"FILE = {path!r}  # defines `{facts.attribute}`",
            *given[1:],
            "",
        ]
    )


def _system(facts: Facts) -> str:
    """Return the expression for what solve_dae takes."""
    if facts.kind == "problem()":
        return f'given["{facts.attribute}"]()'
    if facts.kind == "dae":
        return f'given["{facts.attribute}"], given["t_span"], given["y0"]'
    return f'given["{facts.attribute}"]'


def _herk(facts: Facts, row: Row, atol: str) -> str:
    method = row.solver.removeprefix("herk_")
    return (
        f'sol = herk.solve_dae({_system(facts)}, method="{method}", rtol={row.rtol:.0e}, atol={atol})\n'
        "assert sol.success, sol.message\n"
        f"t, y = sol.t, sol.y{'  # every constraint holds to rounding at every point' if facts.m else ''}\n"
    )


def _scipy(facts: Facts, row: Row, atol: str) -> str:
    method = SCIPY[row.solver]
    jac = "" if method in ("DOP853", "RK45") else "jac=form.rate_jacobian, "
    vector = f"np.array({atol})[list(form.kept)]" if atol.startswith("[") else atol
    model, span, start = (
        ("system", "form.t_span", "")
        if facts.kind == "model"
        else ("system.model", "system.t_span", "system.y0")
    )
    return (
        f"system = {_system(facts)}\n"
        f'form = {model}.form("ode")  # index reduced, algebraic components eliminated; `back` computes them'
        " again\n"
        f"atol = {vector}\n"
        f'sol = solve_ivp(form.rate, {span}, form.start({start})[0], method="{method}",'
        f" {jac}rtol={row.rtol:.0e}, atol=atol)\n"
        "assert sol.success, sol.message\n"
        "t, y = sol.t, form.to_model_states(sol.t, sol.y)\n"
    )


def _protocol(row: Row, atol: str) -> str:
    return (
        f'chosen, problem = baselines.get("{row.solver}"), to_solve(FILE).problem\n'
        f'prepared = chosen.prepare(problem, "{row.form}")  # derives and compiles the form\n'
        f"sol = chosen.solve(prepared, herk.Settings(rtol={row.rtol:.0e}, atol={_tuple(atol)}))\n"
        "assert sol.success, sol.message\n"
        "t, y = sol.t, sol.y\n"
    )


def _tuple(atol: str) -> str:
    return f"({atol[1:-1]})" if atol.startswith("[") else atol


def _atol(rtol: float, sizes: Sequence[float]) -> str:
    """Return atol as text: one number if one digit is the same for all components, a list otherwise."""
    values = [f"{rtol * size:.0e}" for size in sizes]
    return values[0] if len(set(values)) == 1 else f"[{', '.join(values)}]"
