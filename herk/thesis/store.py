"""Generated modules on disk: written once, checked, and imported under a stable name.

So that compiled code outlives the process.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from herk.jit.cache import folder

GENERATOR = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[
    :10
]  # the names of texts carry what they are made from
_loaded: dict[tuple[str | None, ...], ModuleType] = {}


def load(name: str, write: Callable[[], str]) -> ModuleType:
    """Return the module of this name.

    Its text comes from `write()` if it is not stored yet, or not as it was written.
    """
    known = (
        *map(os.environ.get, ("HERK_CACHE_DIR", "XDG_CACHE_HOME", "HOME")),
        GENERATOR,
        name,
    )  # what the path is made from
    if known not in _loaded:
        path = folder() / f"{name}_{GENERATOR}.py"
        if not _intact(path):
            _keep(path, write())
        _loaded[known] = _imported(path)
    return _loaded[known]


def _intact(path: Path) -> bool:
    """Tell whether the file is there and its first line carries the hash of the rest."""
    try:
        first, rest = path.read_bytes().split(b"\n", 1)
    except (OSError, ValueError):
        return False
    return first == _seal(rest)


def _seal(text: bytes) -> bytes:
    return b"# " + hashlib.sha256(text).hexdigest().encode()


def _keep(path: Path, text: str) -> None:
    """Store the text in one atomic move.

    A sound file that another process stored meanwhile stays: its machine code may be in use.
    """
    data = text.encode()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".tmp")
    with os.fdopen(handle, "wb") as file:
        file.write(_seal(data) + b"\n" + data)
    try:
        os.link(temporary, path)
    except OSError:  # there already, or a file system without links
        if not _intact(path):
            Path(importlib.util.cache_from_source(path)).unlink(
                missing_ok=True
            )  # a damaged file may share time and size with the new one
            os.replace(temporary, path)
    Path(temporary).unlink(missing_ok=True)


def _imported(path: Path) -> ModuleType:
    name = f"herk_generated_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
