"""Lists that are made from the program itself: messages, problems of the test set, methods."""

from __future__ import annotations

import ast
from pathlib import Path

import messages
import provoked

ROOT = Path(__file__).parents[2]
LONGEST = 160  # characters of an example


def all_lists() -> dict[str, str]:
    """Return the generated pages by name."""
    return {
        "messages": message_list(),
        "problems": problem_list(),
        "methods": method_list(),
    }


def message_list() -> str:
    """Return every message, module by module."""
    lines = [
        "# All messages",
        "",
        "Every message of herk, grouped by module, with an input that triggers it; `...` stands for names and"
        " numbers. The list is generated from the source. Names used in the inputs are defined at the end.",
    ]
    causes = provoked.examples()
    for module, skeletons in messages.found().items():
        purpose = (
            ast.get_docstring(
                ast.parse((ROOT / (module.replace(".", "/") + ".py")).read_text())
            )
            or ""
        )
        lines += [
            "",
            f"## {module}",
            "",
            purpose.splitlines()[0].replace("<", "&lt;"),
            "",
        ]
        for text in dict.fromkeys(" ".join(text.split()) for text in skeletons):
            cause = causes.get(text, "")
            shown = cause if len(cause) <= LONGEST else f"{cause[:LONGEST]} ..."
            lines.append(
                f"- {text.replace('`', '').replace('*', '').replace('<', '&lt;')}"
            )
            lines += ["", f"  `{shown}`", ""] if cause else [""]
    lines += [
        "",
        "## Names used in the inputs",
        "",
        "```python",
        provoked.setup(),
        "```",
    ]
    return "\n".join(lines) + "\n"


def problem_list() -> str:
    """Return the problems of the test set, a short section each."""
    import testset

    lines = ["# Problems of the test set"]
    for name in sorted(testset.names()):
        problem = testset.get(name)
        span = f"t = {problem.t_span[0]:g} to {problem.t_span[1]:g}"
        tags = ", ".join(sorted(problem.tags)).replace("_", " ")
        lines += [
            "",
            f"## {name}",
            "",
            f"{problem.title}: {len(problem.y0)} unknowns, {span}.",
            "",
        ]
        lines += [f"- Kind: {tags}", f"- Source: {' '.join(problem.source.split())}"]
        if problem.reference is not None:
            lines.append(f"- Reference: {' '.join(problem.reference.source.split())}")
    return "\n".join(lines) + "\n"


def method_list() -> str:
    """Return the half-explicit methods as a table."""
    import herk

    lines = [
        "# Methods",
        "",
        "| name | stages | order | step control |",
        "| --- | --- | --- | --- |",
    ]
    for name in herk.METHODS:
        tableau = herk.METHODS[name]
        control = "adaptive" if tableau.adaptive else "fixed step"
        lines.append(f"| `{name}` | {len(tableau.b)} | {tableau.order} | {control} |")
    return "\n".join(lines) + "\n"
