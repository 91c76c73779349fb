"""The house: no module above 300 lines, no function above 45; the page a function's docstring is does not count."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("herk", "baselines", "testset", "reports")
MODULES = sorted(
    path
    for room in ROOMS
    for path in (ROOT / room).rglob("*.py")
    if "out" not in path.relative_to(ROOT).parts
)
LONGEST_MODULE, LONGEST_FUNCTION = 300, 45


def lines_of_code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many lines a function has, its docstring left out."""
    first, words = function.body[0], 0
    if ast.get_docstring(function) is not None:
        words = first.end_lineno - first.lineno + 1
    return function.end_lineno - function.lineno + 1 - words


def long_functions(text: str) -> dict[str, int]:
    """Return the functions that are too long, and how long they are."""
    functions = (
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    )
    lengths = {node.name: lines_of_code(node) for node in functions}
    return {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION}


def test_all_rooms_are_looked_at() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in MODULES} == set(ROOMS)


def test_a_function_that_is_too_long_is_found() -> None:
    body = "\n".join(f"    x{i} = {i}" for i in range(LONGEST_FUNCTION))
    page = '    """' + "\n" * LONGEST_FUNCTION + '"""\n    return\n'
    assert long_functions(f"def f():\n{body}\n\ndef g():\n{page}") == {"f": LONGEST_FUNCTION + 1}


@pytest.mark.parametrize("room", ROOMS)
def test_modules_and_functions_are_short(room: str) -> None:
    own = [path for path in MODULES if path.relative_to(ROOT).parts[0] == room]
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in own}
    assert not {name: n for name, text in texts.items() if (n := text.count("\n")) > LONGEST_MODULE}
    assert not {name: found for name, text in texts.items() if (found := long_functions(text))}
