"""A package of another author adds a solver through an entry point.

A broken one is a listed reason, not a crash.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPE = re.compile(r"## Recipe: add a solver.*?```python\n(.*?)```", re.DOTALL)
ASK = """
import json, baselines, testset
from herk.core import Settings
from tests.baselines.alone import solve
solver, problem = baselines.get("scipy_rk23"), testset.get("pendulum", t_end=0.5)
sol = solve(solver, problem, "ode", Settings(rtol=1e-7, atol=1e-9)).solution if __name__ == "__main__" else None
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


PLACES = """
import sys
import numpy as np
from herk.bench import plugins, study, sweeps
from herk.bench.recommend.candidates import candidates
from herk.bench.recommend.examine import Facts

own = plugins.load(sys.argv[1:])
choice = sweeps.Choice(files=tuple(each.path for each in own), own_solvers=tuple(name for each in own for name in each.solvers))
for name in ("work_precision", "rivals"):
    found = sweeps.expand(study.load(name), choice)
    print(name, *{each.problem for each in found if (each.solver, each.form) == ("scipy_rk23", "ode")})
facts = Facts("m", "model", "model", ("x",), (0.0, 1.0), 3, 3, (), (), (), (1.0,), 1.0, 10.0, (0.5, 1.0))
print("recommend", *[solver for solver, _ in candidates(facts)])
"""


@pytest.mark.parametrize("announced", ["entry point", "file"])
def test_one_file_takes_part_in_work_precision_rivals_and_recommend(plugins, announced, tmp_path):
    """Nothing but the recipe of CONTRIBUTING is there: its tags say where it stands."""
    file = tmp_path / "elsewhere" / "own_rk23.py"
    file.parent.mkdir()
    file.write_text(f"{(plugins / 'rk23_plugin.py').read_text()}\n\nSOLVERS = [Rk23]\n")
    if announced == "file":
        shutil.rmtree(plugins / "rk23_plugin-1.0.dist-info")
    (plugins / "places.py").write_text(PLACES)
    given = [str(file)] if announced == "file" else []
    lines = run(plugins, str(plugins / "places.py"), *given).splitlines()
    told = {line.split()[0]: line.split()[1:] for line in lines}
    assert {"pendulum", "spring_chain", "akzo"} <= set(told["work_precision"])
    assert {"pendulum", "wheatstone", "four_bar"} <= set(told["rivals"])
    assert "scipy_rk23" in told["recommend"]
