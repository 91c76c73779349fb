"""Where generated and compiled code is kept between processes, and what makes it stale."""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path

# numba checks only the file a compiled function stands in, not those of the functions and constants it takes
# from elsewhere. So all compiled code of the package lives in a folder named after the text of every file
# that takes part: those with compiled functions, and what they import, directly or not.
_ROOT = Path(__file__).parents[1]
_COMPILED = re.compile(rb"^\s*@compiled\(|^\w+ = Program\(", re.MULTILINE)
MOST_VERSIONS = 6  # of the sources, whose compiled code stays on disk
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
def compiled_sources() -> str:
    """Return a hash of all source text that compiled code of this package is made from."""
    texts = {path: path.read_bytes() for path in sorted(_ROOT.rglob("*.py"))}
    return _mark([texts[path] for path in sorted(_sources(texts))])


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
    kept, room = folder() / f"compiled_{compiled_sources()}", source.parent
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
    found = os.stat(place)
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _sweep(place: Path) -> None:
    """Remove the code of old versions, and what interrupted writes left behind."""
    kept = sorted(place.glob("compiled_*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in kept[MOST_VERSIONS:]:
        shutil.rmtree(old, ignore_errors=True)
    for left in [*place.glob("*.tmp*"), *place.glob("compiled_*/**/*.tmp.*")]:
        try:
            if time.time() - left.stat().st_mtime > LITTER:
                left.unlink()
        except OSError:
            continue


@cache
def _temporary() -> Path:
    place = tempfile.mkdtemp(prefix="herk-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return Path(place)
