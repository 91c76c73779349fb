"""Where generated and compiled code is kept between processes, and what makes it stale."""

from __future__ import annotations

import atexit
import hashlib
import os
import platform
import re
import shutil
import stat
import tempfile
import time
import warnings
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import llvmlite.binding as llvm

# numba checks only the file a compiled function stands in, not those of the functions and constants it takes
# from elsewhere. So all compiled code of the package lives in a folder named after the text of every file
# that takes part (those with compiled functions, and what they import, directly or not), the versions of the
# libraries that compile, and the processor.
_ROOT = Path(__file__).parents[1]
_COMPILED = re.compile(rb"^\s*@compiled\(|^\w+ = Program\(", re.MULTILINE)
LIBRARIES = ("llvmlite", "numba", "numpy")
MOST_VERSIONS = 6  # of all that machine code depends on, whose code stays on disk
MOST_PACKAGES = 32  # outside herk, and versions of them, whose code stays beside it
LITTER = 3600.0  # seconds after which a temporary file is nobody's
_IMPORT = re.compile(rb"^\s*from herk\.?([\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


def folder() -> Path:
    """Return the cache folder: $HERK_CACHE_DIR, $XDG_CACHE_HOME/herk or ~/.cache/herk.

    A temporary one takes its place if it cannot be written, or if others can: what lies there is loaded and
    run.
    """
    named = os.environ.get("HERK_CACHE_DIR")
    place = (
        Path(named)
        if named
        else Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "herk"
    )
    return place if _usable(str(place.absolute())) else _temporary()


@cache
def fingerprint() -> str:
    """Return a hash of all that machine code depends on: its source text, the libraries, the processor."""
    texts = {path: path.read_bytes() for path in sorted(_ROOT.rglob("*.py"))}
    return _mark([texts[path] for path in sorted(_sources(texts))] + [each.encode() for each in _compilers()])


def _compilers() -> list[str]:
    """Return what compiles, and for which processor."""
    processor = f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    return [platform.python_version(), *map(_version, LIBRARIES), str(llvm.llvm_version_info), processor]


def _version(library: str) -> str:
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        return f"no {library}"


def _sources(texts: dict[Path, bytes]) -> set[Path]:
    """Return the files with compiled functions, and those they import."""
    found: set[Path] = set()
    open_ones = [path for path, text in texts.items() if _COMPILED.search(text)]
    while open_ones:
        path = open_ones.pop()
        if path in found or path not in texts:
            continue
        found.add(path)
        for module, names in _IMPORT.findall(texts[path]):
            place = _ROOT.joinpath(*module.decode().split("."))
            modules = [place / f"{name.decode()}.py" for name in re.findall(rb"\w+", names)]
            open_ones += [place.with_suffix(".py"), place / "__init__.py", *modules]
    return found


def compiled_folder(source: Path) -> Path:
    """Return where compiled code of this source file is kept.

    In packages outside herk the text of the whole package counts as well.
    """
    kept, room = folder() / f"compiled_{fingerprint()}", source.parent
    if _ROOT in source.parents or not (room / "__init__.py").exists():
        return kept
    return kept / f"{room.name}_{_room_mark(room)}"


@cache
def _room_mark(room: Path) -> str:
    return _mark([path.read_bytes() for path in sorted(room.glob("*.py"))])


def _mark(texts: list[bytes]) -> str:
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:12]


@cache
def _usable(place: str) -> bool:
    try:
        os.makedirs(place, mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError:
        return False
    if not _private(place):
        warnings.warn(
            f"The cache folder {place} belongs to somebody else, or others may write to it; compiled code is"
            " kept in a temporary folder instead. Make it yours alone (chmod 700), or name another one in"
            " HERK_CACHE_DIR.",
            stacklevel=2,
        )
        return False
    _sweep(Path(place))
    return True


def _private(place: str) -> bool:
    """Tell whether nobody else can put anything there."""
    if os.name != "posix":
        return True
    try:
        found = os.stat(place)
    except FileNotFoundError:  # removed by another process meanwhile
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _sweep(place: Path) -> None:
    """Remove the code of old versions, what others can write to, and what interrupted writes left behind."""
    for old in _newest(place, "compiled_*")[MOST_VERSIONS:]:
        shutil.rmtree(old, ignore_errors=True)
    for kept in [*place.glob("compiled_*"), *place.glob("compiled_*/*/")]:
        if not _private(str(kept)):
            shutil.rmtree(kept, ignore_errors=True)
    for old in _newest(place, "compiled_*/*/")[MOST_PACKAGES:]:
        shutil.rmtree(old, ignore_errors=True)
    for left in [*place.glob("*.tmp*"), *place.glob("compiled_*/**/*.tmp.*")]:
        try:
            if time.time() - left.stat().st_mtime > LITTER:
                left.unlink()
        except OSError:
            continue


def _newest(place: Path, pattern: str) -> list[Path]:
    """Return folders, the newest first; another process may remove them meanwhile."""
    found = []
    for path in place.glob(pattern):
        try:
            found.append((path.stat().st_mtime, path))
        except OSError:
            continue
    return [path for _, path in sorted(found, reverse=True)]


@cache
def _temporary() -> Path:
    place = tempfile.mkdtemp(prefix="herk-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return Path(place)
