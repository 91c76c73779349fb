"""Newton's iteration compiled around one g, made where constraints are few and g is written for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from herk.jit.native import Native, assembled
from herk.thesis import newton_small
from herk.thesis.newton_small import MOST_COMPONENTS, MOST_CONSTRAINTS, few, quotients


def solver(g: Any, n: int, m: int) -> Native | None:
    """Return the function (t, x, order, state) that solves g = 0; None if it has to be done in general.

    That is so where constraints are many, and where g is no function in the language of compiled code.
    """
    written = getattr(g, "written", None)
    if written is None or not 1 <= m <= MOST_CONSTRAINTS or n > MOST_COMPONENTS:
        return None
    return _compiled(written, n, m)


@cache
def _compiled(g: Callable[..., None], n: int, m: int) -> Native:
    return assembled({"few": around(g, n, m)})["few"]


def around(g: Callable[..., None], n: int, m: int) -> Callable[..., int]:
    """Return `few` for this g and these sizes; it is plain Python, too."""
    scope = vars(newton_small) | {"g": g, "N": n, "M": m}
    scope["quotients"] = FunctionType(quotients.__code__, scope, "quotients")
    return FunctionType(few.__code__, scope, "few")
