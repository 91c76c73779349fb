"""Annotated Python functions as machine code: compiled once per machine, kept on disk, entered as in C."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from herk.jit.cache import compiled_folder
from herk.jit.lower import Module
from herk.jit.native import c_entry, engine_of, foreign, object_code
from herk.jit.values import Function


class Entry:
    """A function in machine code: its address, and a call from Python with numbers and addresses."""

    def __init__(self, function: Callable[..., Any], address: int, kinds: Function, keep: Any) -> None:
        """Remember what must live as long as the address is used."""
        self.function, self.address, self._keep = function, address, keep
        self.call = foreign(address, kinds, keep)


class Program:
    """Functions that are compiled together, so that each can become part of the others.

    Nothing happens before the first entry is asked for.
    """

    def __init__(self, *functions: Callable[..., Any]) -> None:
        """Name the functions that are called from outside."""
        self.functions = functions
        self._entries: dict[Callable[..., Any], Entry] = {}

    def __getitem__(self, function: Callable[..., Any]) -> Entry:
        """Return the entry of a function."""
        if not self._entries:
            self._make()
        return self._entries[function]

    def _make(self) -> None:
        place = compiled_folder(Path(self.functions[0].__code__.co_filename))
        kept = place / f"{_name(self.functions[0])}.code"
        content = sealed(kept)
        if content is None:
            module = Module()
            taken = [module.take(function) for function in self.functions]
            texts = [c_entry(kinds, _name(f)) for f, kinds in zip(self.functions, taken, strict=True)]
            content = _packed(taken) + object_code("\n".join([module.text(), *texts]))
            seal(kept, content)
        taken, code = _unpacked(content, len(self.functions))
        engine = engine_of(code)
        for function, kinds in zip(self.functions, taken, strict=True):
            at = engine.get_function_address(_name(function))
            self._entries[function] = Entry(function, at, kinds, engine)


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__name__}.entry".replace(".", "_")


def _packed(taken: list[Function]) -> bytes:
    """Return the kinds of the entries as a line of text each."""
    lines = [f"{','.join(kinds.takes)}>{','.join(kinds.returns)}\n" for kinds in taken]
    return "".join(lines).encode()


def _unpacked(content: bytes, count: int) -> tuple[list[Function], bytes]:
    *lines, code = content.split(b"\n", count)
    taken = []
    for line in lines:
        takes, returns = (tuple(filter(None, part.split(","))) for part in line.decode().split(">"))
        taken.append(Function("", takes, returns))
    return taken, code


def sealed(path: Path) -> bytes | None:
    """Return the content of a file behind the hash of it, None if there is none or it does not fit."""
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    return whole[32:] if hashlib.sha256(whole[32:]).digest() == whole[:32] else None


def seal(path: Path, content: bytes) -> None:
    """Write a file with the hash of its content, all at once; a full disk means that it is not kept."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(prefix=f"{path.name}.tmp.", dir=path.parent)
        with os.fdopen(number, "wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
        os.replace(name, path)
    except OSError:
        return
