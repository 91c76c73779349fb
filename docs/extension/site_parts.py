"""What Sphinx needs of us: pictures made by the pages, generated lists, formulas as MathML."""

from __future__ import annotations

import inspect
from typing import Any

import lists
import pages
from docutils import nodes
from docutils.utils.math.latex2mathml import parse_latex_math

GENERATED = pages.DOCS / "generated"


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("builder-inited", make)
    app.connect("autodoc-process-docstring", keep_columns)
    app.connect("autodoc-process-signature", plain_defaults)
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
    return {"version": "1", "parallel_read_safe": True}


def make(_app: Any) -> None:
    """Make pictures and lists; a picture younger than its page stays."""
    GENERATED.mkdir(exist_ok=True)
    for name, text in lists.all_lists().items():
        (GENERATED / f"{name}.md").write_text(text)
    folder = pages.DOCS / "pictures"
    folder.mkdir(exist_ok=True)
    for page in pages.pages():
        wanted = [folder / name for name in pages.pictures(page)]
        if any(
            not path.exists() or path.stat().st_mtime < page.stat().st_mtime
            for path in wanted
        ):
            wrong = pages.run(page, folder)
            if wrong:
                raise RuntimeError("\n".join(wrong))


def inline_math(self: Any, node: Any) -> None:
    """Write a formula within a line."""
    self.body.append(_mathml(node.astext(), inline=True))
    raise nodes.SkipNode


def block_math(self: Any, node: Any) -> None:
    """Write a formula of its own."""
    self.body.append(_mathml(node.astext(), inline=False))
    raise nodes.SkipNode


def _mathml(latex: str, *, inline: bool) -> str:
    from docutils.utils.math import mathml_elements as mml

    tree = mml.math(xmlns="http://www.w3.org/1998/Math/MathML")
    tree.set("display", "inline" if inline else "block")
    parse_latex_math(tree, latex)
    return tree.toxml()


def plain_defaults(*given: Any) -> tuple[str | None, str | None]:
    """Show a mapping that nobody can change as what it is to the reader."""
    signature, returns = given[-2:]
    return signature and signature.replace("MappingProxyType({})", "{}"), returns


def keep_columns(
    _app: Any, what: str, _name: str, value: Any, _options: Any, lines: list[str]
) -> None:
    """Show docstrings that align their text in columns as they are written, and whole those of properties."""
    if what == "property":
        lines[:] = [
            *(inspect.getdoc(value) or "").splitlines(),
            "",
        ]  # a colon in them begins no type
    if any(line.startswith((":param", ":return", ".. rubric")) for line in lines):
        return  # sections in NumPy's manner, taken apart already
    if any("  " in line.strip() or line.startswith(" ") for line in lines):
        first = lines[: lines.index("")] if "" in lines else lines
        rest = lines[len(first) + 1 :]
        lines[:] = [*first, "", "::", "", *("    " + line for line in rest), ""]
