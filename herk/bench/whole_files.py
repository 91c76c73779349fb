"""Files that appear whole or not at all: written beside their place under another name, then renamed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


def replace(path: Path, write: Callable[[Path], object]) -> Path:
    """Let `write` fill a temporary file, then put it in place; until then the old file stays as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # The ending stays last, because writers of tables and pictures choose their format by it.
    temporary = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        write(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def text(path: Path, content: str, newline: str | None = None) -> Path:
    """Write a text."""
    return replace(path, lambda place: place.write_text(content, encoding="utf-8", newline=newline))


def data(path: Path, content: bytes) -> Path:
    """Write bytes."""
    return replace(path, lambda place: place.write_bytes(content))
