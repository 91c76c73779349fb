"""What the report cites: BibTeX of the methods, problems and programs that it shows."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("literature.toml")
KINDS = ("solvers", "problems", "forms", "studies")


@cache
def entries() -> Mapping[str, Mapping[str, Any]]:
    """Return every entry by its key."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def cited(**shown: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """Return the entries that belong to the solvers, problems, forms and studies shown."""
    names = {kind: set(shown.get(kind, ())) for kind in KINDS}
    return {
        key: entry
        for key, entry in entries().items()
        if any(
            fnmatchcase(name, pattern)
            for kind in KINDS
            for pattern in entry.get(kind, ())
            for name in names[kind]
        )
    }


def bibtex(chosen: Mapping[str, Mapping[str, Any]]) -> str:
    """Return entries as BibTeX, sorted by key."""
    return "\n\n".join(_entry(key, chosen[key]) for key in sorted(chosen))


def _entry(key: str, entry: Mapping[str, Any]) -> str:
    fields = [f"  {name} = {{{value}}}" for name, value in entry.items() if name not in (*KINDS, "type")]
    return "@{}{{{},\n{}\n}}".format(entry["type"], key, ",\n".join(fields))
