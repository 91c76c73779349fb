"""Generated modules on disk: written once, checked, and imported under a stable name, so that compiled code outlives the process."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

from herk.core.cache import folder

# What the generated text and the machine code kept beside it are made from: a change in any of them makes every stored file stale.
_GENERATORS = ("code", "equations", "generated", "linear", "stage", "store", "structure")
_MAKERS = ("core/jit.py", "core/dae.py", *(f"model/{name}.py" for name in _GENERATORS))


def _generator() -> str:
    root = Path(__file__).parents[1]
    return hashlib.sha256(b"\0".join((root / name).read_bytes() for name in _MAKERS)).hexdigest()[:10]


GENERATOR = _generator()
_loaded: dict[tuple[str | None, ...], ModuleType] = {}


@cache
def version() -> str:
    """Return a hash of everything that takes part in reading a model and deriving its forms."""
    texts = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def load(name: str, write: Callable[[], str]) -> ModuleType:
    """Return the module of this name; its text comes from `write()` if it is not stored yet, or not as it was written."""
    known = (*map(os.environ.get, ("HERK_CACHE_DIR", "XDG_CACHE_HOME", "HOME")), GENERATOR, name)  # what the path is made from
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
    """Store the text in one atomic move. A sound file that another process stored meanwhile stays: its machine code may be in use."""
    data = text.encode()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".tmp")
    with os.fdopen(handle, "wb") as file:
        file.write(_seal(data) + b"\n" + data)
    try:
        os.link(temporary, path)
    except OSError:  # there already, or a file system without links
        if not _intact(path):
            Path(importlib.util.cache_from_source(path)).unlink(missing_ok=True)  # a damaged file may share time and size with the new one
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
