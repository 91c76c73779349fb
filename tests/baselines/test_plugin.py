"""A package of another author adds a solver through an entry point.

A broken one is a listed reason, not a crash.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPE = re.compile(r"## Recipe: add a solver.*?```python\n(.*?)```", re.DOTALL)
ASK = """
import json, baselines, testset
from herk.core import Settings
from herk.bench.runner import process
solver, problem = baselines.get("scipy_rk23"), testset.get("pendulum", t_end=0.5)
sol = process.solve(solver, problem, "ode", Settings(rtol=1e-7, atol=1e-9)).solution if __name__ == "__main__" else None
error = float(abs(sol.y[:, -1] - problem.reference.y).max()) if sol else None
print(json.dumps([baselines.names(), baselines.broken(), error, str(sol.reason), sol.message])) if sol else None
"""


@pytest.fixture
def plugins(tmp_path):
    """Write what installing two packages leaves behind: modules and the metadata of their distributions."""
    code = RECIPE.search((ROOT / "CONTRIBUTING.md").read_text()).group(1)
    assert len(code.splitlines()) < 60
    (tmp_path / "rk23_plugin.py").write_text(code)
    (tmp_path / "broken_plugin.py").write_text("import a_module_nobody_has\n")
    for name, points in {
        "rk23_plugin": "scipy_rk23 = rk23_plugin:Rk23",
        "broken_plugin": "broken = broken_plugin:Solver",
    }.items():
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[herk.solvers]\n{points}\n")
    (tmp_path / "ask.py").write_text(ASK)
    return tmp_path


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        env={"PYTHONPATH": f"{folder}:{ROOT}", "PATH": "/usr/bin:/bin", "HOME": str(Path.home())},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_recipe_of_contributing_works_as_a_plugin_and_a_broken_plugin_is_listed(plugins):
    names, broken, error, reason, message = json.loads(run(plugins, str(plugins / "ask.py")))
    assert "scipy_rk23" in names
    assert "ida_scikits" in names
    assert list(broken) == ["broken"]
    assert "a_module_nobody_has" in broken["broken"]
    assert reason == "finished", message
    assert error < 1e-5


def test_list_solvers_shows_versions_forms_availability_and_broken_plugins(plugins):
    lines = run(plugins, "-m", "herk.bench", "list", "solvers").splitlines()
    row = {line.split()[0]: line for line in lines if line.strip()}
    assert "ode" in row["scipy_rk23"]
    assert "a_module_nobody_has" in row["broken"]
    assert "SUNDIALS" in row["ida_sundae"]
    assert "index3" in row["ida_sundae"]
    assert "overdetermined" in row["herk_dopri5"]
