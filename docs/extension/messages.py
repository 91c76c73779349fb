"""Finds every message in the source of herk: what is raised on purpose, and how a run can end.

A message is known by its skeleton, the words that are the same each time, with ... for what varies. Run as a
program it writes docs/messages.txt, the messages somebody has looked at as a user would.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
KNOWN = ROOT / "docs" / "messages.txt"
ROOMS = ("core", "model", "circuit", "integrate", "jit", "codegen", "linalg")
RAISED = ("InputError", "RegularizationError", "CallableError", "FormulaError", "TypeError", "ValueError")


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
        elif name == "_end" and len(node.args) == 2:  # how a run ends
            text = skeleton(node.args[1])
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


def inventory() -> str:
    """Return all messages as a text, one on each line, sorted, modules left out: messages may move."""
    return "\n".join(sorted({" ".join(text.split()) for texts in found().values() for text in texts})) + "\n"


def main() -> int:
    """Write the inventory and say what is new in it."""
    before = set(KNOWN.read_text().splitlines()) if KNOWN.exists() else set()
    KNOWN.write_text(inventory())
    for line in sorted(set(inventory().splitlines()) - before):
        sys.stdout.write(f"new: {line}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
