"""Finds every message in the source of herk: what is raised on purpose, and how a run can end.

A message is known by its skeleton, the words that are the same each time, with ... for what varies.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("core", "model", "circuit", "integrate", "jit", "codegen", "linalg")
RAISED = ("InputError", "RegularizationError", "CallableError", "FormulaError", "TypeError", "ValueError")
ENDED = ("_end", "stop", "ended", "fail")


def found() -> dict[str, list[str]]:
    """Return module -> skeletons of its messages, in the order of the source."""
    messages: dict[str, list[str]] = {}
    for path in sorted(path for room in ROOMS for path in (ROOT / "herk" / room).rglob("*.py")):
        skeletons = list(dict.fromkeys(_skeletons(ast.parse(path.read_text()))))
        if skeletons:
            messages[".".join(path.relative_to(ROOT).with_suffix("").parts)] = skeletons
    return messages


def _skeletons(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in RAISED and node.args:
            text = skeleton(node.args[0])
        elif name == "nearest" and len(node.args) == 3:
            text = f"There is no {skeleton(node.args[2])} named ..."
        else:
            continue
        if len(re.sub(r"\W", "", text)) > 5:
            yield text


def skeleton(node: ast.expr) -> str:
    """Return the constant words of an expression that makes a text."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return re.sub(r"(\.\.\.\s*)+(?=\.\.\.)", "", "".join(skeleton(part) for part in node.values))
    if isinstance(node, ast.BinOp):
        return skeleton(node.left) + skeleton(node.right)
    return "..."


def pattern(text: str) -> re.Pattern[str]:
    """Return what a message with this skeleton looks like."""
    parts = [re.escape(" ".join(part.split())) for part in text.split("...")]
    return re.compile(".*?".join(part for part in parts), re.DOTALL)
