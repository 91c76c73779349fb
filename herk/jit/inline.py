"""A word to the compiler: this function becomes part of those that call it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])


def inline(function: F) -> F:
    """Return the function; machine code has it wherever it is called."""
    return function
