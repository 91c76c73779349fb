"""The README tells the truth: its examples run as printed and print what is shown."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest

import herk
from herk.core import Settings, Solver

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()
ROUNDING = re.compile(
    r"^\d(\.\d+)?e-\d+$"
)  # a size of rounding errors: another processor may print another digit


def examples() -> list[tuple[str, str | None]]:
    """Return each Python block of the README with the text block that follows it, if one does."""
    pattern = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", re.DOTALL)
    return [(match[1], match[2]) for match in pattern.finditer(TEXT)]


def agree(shown: str, printed: str) -> bool:
    """Compare word by word; sizes of rounding errors may differ by a factor of 20."""
    left, right = shown.split(), printed.split()
    return len(left) == len(right) and all(
        a == b or (bool(ROUNDING.match(a) and ROUNDING.match(b)) and 0.05 < float(a) / float(b) < 20)
        for a, b in zip(left, right, strict=True)
    )


def test_the_examples_run_as_printed_and_print_what_is_shown(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    names: dict[str, object] = {}
    for code, shown in examples():
        with redirect_stdout(io.StringIO()) as output:
            exec(compile(code, "README.md", "exec"), names)
        assert agree(shown or "", output.getvalue()), output.getvalue()
    assert (tmp_path / "pendulum.png").exists()


def test_the_readme_has_examples_with_output() -> None:
    assert len(examples()) >= 4
    assert sum(shown is not None for _, shown in examples()) >= 3


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(((?!http)[^)]+)\)", TEXT))))
def test_what_the_readme_links_to_exists(link: str) -> None:
    assert (ROOT / link).exists()


@pytest.mark.parametrize("tool", sorted(set(re.findall(r"python (tools/\w+\.py)", TEXT))))
def test_the_tools_the_readme_names_exist(tool: str) -> None:
    assert (ROOT / tool).exists()


def test_the_recipes_of_contributing_work_and_are_short() -> None:
    recipes = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    assert [len(recipe.splitlines()) < 30 for recipe in recipes] == [True, True]
    names: dict[str, Any] = {}
    for recipe in recipes:
        exec(compile(recipe, "CONTRIBUTING.md", "exec"), names)
    problem, solver = names["problem"](), names["Rk23"]()
    assert isinstance(solver, Solver)
    assert solver.supports(problem, "ode")[0]
    assert not solver.supports(problem, "index3")[0]
    by_solver = solver.solve(solver.prepare(problem, "ode"), Settings(rtol=1e-6))
    assert np.allclose(by_solver.y[:, -1], problem.reference.y, atol=1e-4)
    assert np.allclose(herk.solve_dae(problem, rtol=1e-10).y[:, -1], problem.reference.y, atol=1e-8)
