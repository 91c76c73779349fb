"""The site's own tools as modules: they import each other by their short names."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def load(name: str) -> ModuleType:
    """Return one of them."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "extension" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


pages, messages, provoked = load("pages"), load("messages"), load("provoked")
