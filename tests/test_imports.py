"""Imports go one way only, and `import herk` stays light.

Section 2 of the design, checked on the text of every module.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Room -> height; a module may import from its own room and from lower ones. The first matching prefix counts.
HEIGHTS = {
    "herk.__main__": 13,
    "herk.bench.__main__": 12,
    "herk.bench.cli": 12,
    "reports": 11,
    "herk.reproductions": 10,
    "herk.bench": 9,
    "baselines": 8,
    "testset": 8,
    "herk.thesis": 7,
    "herk.parameters": 7,
    "herk.integrate": 6,
    "herk.circuit": 6,
    "herk.model": 5,
    "herk.codegen": 4,
    "herk.linalg": 3,
    "herk.jit": 2,
    "herk.core": 1,
    "herk.results": 0,
}
FACADE = "herk"  # herk/__init__.py names everything and imports it on first use
HEAVY = (
    "herk.bench",
    "herk.reproductions",
    "herk.thesis",
    "baselines",
    "testset",
    "reports",
    "matplotlib",
    "pandas",
    "sympy",
    "numba",
)


def room(module: str) -> str | None:
    """Return the room a module belongs to, None for modules of others."""
    return next((name for name in HEIGHTS if module == name or module.startswith(f"{name}.")), None)


def offence(importer: str, imported: str) -> str | None:
    """Return what is wrong with this import, None if it is allowed."""
    source, target = room(importer), room(imported)
    if source is None or target is None or source == target or HEIGHTS[target] < HEIGHTS[source]:
        return None
    if {source, target} == {"herk.bench.__main__", "herk.bench.cli"}:
        return None
    return f"{importer} imports {imported}"


def imports(text: str) -> set[str]:
    """Return every module a text imports, inside functions and for the type checker too.

    `from a import b` counts as a and a.b.
    """
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def modules() -> dict[str, str]:
    """Return the text of every module of the project by name."""
    files = [
        path
        for package in ("herk", "baselines", "testset", "reports")
        for path in sorted((ROOT / package).rglob("*.py"))
    ]
    names = {
        path: ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in files
    }
    return {name: path.read_text() for path, name in names.items() if not name.startswith("reports.out")}


def test_every_module_of_the_project_has_a_room() -> None:
    assert [name for name in modules() if room(name) is None] == [FACADE]


def test_imports_go_one_way() -> None:
    found = [
        wrong
        for name, text in modules().items()
        for target in imports(text)
        if (wrong := offence(name, target))
    ]
    assert found == []


def test_no_module_imports_the_facade() -> None:
    """The facade would lead around the rule above.

    The bench, baselines and problems may use it, they stand above all of it.
    """
    low = [
        name
        for name, text in modules().items()
        if (room(name) or "")
        in ("herk.core", "herk.jit", "herk.linalg", "herk.codegen", "herk.model", "herk.integrate")
        and FACADE in imports(text)
    ]
    assert low == []


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("herk.core.dae", "herk.model"),
        ("herk.model.start", "herk.integrate.solve"),
        ("herk.integrate.solve", "herk.thesis"),
        ("testset.pendulum", "baselines"),
        ("baselines.scipy_ivp", "testset.pendulum"),
        ("herk.bench.runner.run", "reports.tables"),
        ("herk.bench.listing", "herk.reproductions.documents"),
        ("herk.reproductions.thesis.figures", "reports.figures"),
        ("reports.page", "herk.bench.cli"),
    ],
)
def test_an_import_in_the_wrong_direction_is_an_offence(importer: str, imported: str) -> None:
    assert offence(importer, imported)
    assert offence(imported, importer) is None or {room(importer), room(imported)} == {"baselines", "testset"}


def fresh_import(statement: str) -> tuple[float, set[str]]:
    """Return the processor time of a statement in a new process, and the modules loaded afterwards."""
    report = "print(json.dumps([time.process_time() - start, list(sys.modules)]))"
    code = f"import json, sys, time\nstart = time.process_time()\n{statement}\n{report}"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    seconds, loaded = json.loads(output)
    return seconds, set(loaded)


def test_import_herk_loads_nothing_heavy_and_takes_less_than_a_second() -> None:
    seconds, loaded = fresh_import("import herk")
    assert [name for name in HEAVY if name in loaded] == []
    assert seconds < 1.0


def test_every_public_name_is_there_and_an_unknown_one_is_named() -> None:
    import herk

    assert [name for name in herk.__all__ if not hasattr(herk, name)] == []
    with pytest.raises(AttributeError, match="no attribute 'solve_day'"):
        _ = herk.solve_day
