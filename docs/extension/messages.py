"""Finds every message in the source of herk: what is raised on purpose, and how a run can end.

A message is known by its skeleton, the words that are the same each time, with ... for what varies.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SENTENCE = re.compile(r"^(?:\.\.\.|[A-Z])(?:\S+\s+){4,}.*\.$", re.DOTALL)
ROOMS = (
    "core",
    "model",
    "circuit",
    "integrate",
    "parameters",
    "jit",
    "codegen",
    "linalg",
)
RAISED = (
    "InputError",
    "RegularizationError",
    "CallableError",
    "FormulaError",
    "TypeError",
    "ValueError",
)


@cache
def found() -> dict[str, list[str]]:
    """Return module -> skeletons of its messages, in the order of the source."""
    messages: dict[str, list[str]] = {}
    for path in sorted(
        path for room in ROOMS for path in (ROOT / "herk" / room).rglob("*.py")
    ):
        skeletons = list(dict.fromkeys(_skeletons(ast.parse(path.read_text()))))
        if skeletons:
            messages[".".join(path.relative_to(ROOT).with_suffix("").parts)] = skeletons
    return messages


def _skeletons(tree: ast.AST) -> Iterator[str]:
    """Yield what is raised, how runs end, and sentences that are made apart from where they are raised."""
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(
            node, (ast.FunctionDef, ast.ClassDef, ast.Module)
        ) and ast.get_docstring(node):
            inside.add(node.body[0].value)  # type: ignore[attr-defined]
        if isinstance(node, (ast.JoinedStr, ast.BinOp)) and node not in inside:
            inside |= {part for part in ast.walk(node) if part is not node}
    for node in ast.walk(tree):
        text = _raised(node) if isinstance(node, ast.Call) else ""
        if (
            not text
            and node not in inside
            and isinstance(node, (ast.JoinedStr, ast.Constant))
        ):
            text = skeleton(node)
            text = text if SENTENCE.search(text) else ""
        if len(re.sub(r"\W", "", text)) > 5:
            yield text


def _raised(node: ast.Call) -> str:
    name = (
        node.func.id
        if isinstance(node.func, ast.Name)
        else getattr(node.func, "attr", "")
    )
    if name in RAISED and node.args:
        return skeleton(node.args[0])
    if name == "_end" and len(node.args) == 2:
        return skeleton(node.args[1])
    known_by_name = name in ("nearest", "place", "among") and len(node.args) == 3
    if known_by_name and not isinstance(node.args[2], ast.Name):
        return f"There is no {skeleton(node.args[2])} named ..."
    return ""


def skeleton(node: ast.expr) -> str:
    """Return the constant words of an expression that makes a text."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return re.sub(
            r"(\.\.\.\s*)+(?=\.\.\.)",
            "",
            "".join(skeleton(part) for part in node.values),
        )
    if isinstance(node, ast.BinOp):
        return skeleton(node.left) + skeleton(node.right)
    return "..."


def inventory() -> str:
    """Return all messages as a text, one on each line, sorted, modules left out: messages may move."""
    return (
        "\n".join(
            sorted(
                {" ".join(text.split()) for texts in found().values() for text in texts}
            )
        )
        + "\n"
    )
