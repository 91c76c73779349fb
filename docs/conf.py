"""How the site is built: Sphinx reads the pages here, pictures and lists are made from the program itself."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "extension")]

import herk  # noqa: E402

project = "herk"
author = "the authors of herk"
version = release = herk.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "site_parts"]
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "pictures", "extension", "wrong_inputs"]
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
napoleon_google_docstring = False
html_math_renderer = "mathml"  # drawn by the browser itself: formulas need no network
html_theme = "furo"
html_title = f"herk {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_copyright = False
html_show_search_summary = False  # a page opened as a file may not read its neighbours
html_copy_source = False
