"""Plain numerical Python to LLVM's language: the functions of a module, and what their names stand for.

Functions are annotated, or written by code generation in few words of Python, so that no types need to be
inferred: there numbers are doubles unless they are written whole, arrays have known names, `ints` holds whole
numbers. All arithmetic is IEEE's, as in C: nothing raises.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Protocol

from herk.jit.statements import Body
from herk.jit.values import Function


class Scope(Protocol):
    """What the names of a function stand for."""

    @property
    def module(self) -> Module:
        """Return where functions are collected."""

    def resolve(self, name: str) -> Any:
        """Return a number, a function, a kind of function or a state; None if nothing has that name."""

    def declare(self, line: str) -> None:
        """Note that a function of a library is used."""


@dataclass
class Module:
    """The functions translated so far, and what they use from outside."""

    constants: Mapping[str, float] = field(default_factory=dict)
    shared: Mapping[str, Any] = field(default_factory=dict)  # Python functions that generated text may call
    functions: dict[str, Function] = field(default_factory=dict)
    python: dict[Any, Function] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)

    @property
    def module(self) -> Module:
        """Return itself: it is the scope of generated text."""
        return self

    def add(self, source: str) -> None:
        """Translate every function of a generated text."""
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef):
                self.functions[node.name] = Body(self, node, node.name).translate()

    def take(self, function: Any) -> Function:
        """Translate an annotated Python function, and what it calls."""
        plain = getattr(function, "py_func", function)
        if plain not in self.python:
            tree = ast.parse(textwrap.dedent(inspect.getsource(plain)))
            [node] = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
            name = f"{plain.__module__}.{plain.__name__}".replace(".", "_")
            self.python[plain] = Body(_Globals(self, plain), node, name).translate()
        return self.python[plain]

    def resolve(self, name: str) -> Any:
        """Return what a name of generated text stands for."""
        if name in self.functions:
            return self.functions[name]
        if name in self.shared:
            return self.take(self.shared[name])
        return self.constants.get(name)

    def declare(self, line: str) -> None:
        """Note that a function of a library is used."""
        self.declared.add(line)

    def text(self) -> str:
        """Return the whole in LLVM's language."""
        return "\n".join([*sorted(self.declared), *self.texts])


@dataclass
class _Globals:
    """The names of a Python function: those of the module it stands in."""

    module: Module
    function: FunctionType

    def resolve(self, name: str) -> Any:
        found = self.function.__globals__.get(name)
        if isinstance(found, FunctionType) or hasattr(found, "py_func"):
            return self.module.take(found)
        return found

    def declare(self, line: str) -> None:
        self.module.declare(line)
