"""Newton's iteration compiled around one g, kept on disk.

Made where constraints are few and g can be found again by its name.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from herk.jit.cache import compiled_sources
from herk.jit.compiled import interpreted, is_compiled
from herk.thesis.newton_small import MOST_COMPONENTS, MOST_CONSTRAINTS, few
from herk.thesis.store import load

TEXT = """from herk.jit.compiled import compiled
from herk.thesis.newton_small import few
from herk.thesis.memory import SOLVER
from {module} import {name} as g


@compiled(SOLVER)
def solve(t, x, order, control, ints):
    return few({m}, {n}, g, t, x, order, control, ints)
"""


def solver(g: Any, n: int, m: int) -> Callable[..., int] | None:
    """Return the function (t, x, order, control, ints) that solves g = 0.

    None if it has to be done in general.
    """
    if not 1 <= m <= MOST_CONSTRAINTS or n > MOST_COMPONENTS:
        return None
    if not is_compiled(g):
        return partial(interpreted(few), m, n, g)
    if getattr(sys.modules.get(g.__module__), getattr(g, "__name__", ""), None) is not g:
        return None  # a user's own function: compiling around it would take longer than it saves in most runs
    text = TEXT.format(module=g.__module__, name=g.__name__, m=m, n=n)
    return load(f"newton_{_mark(text, g)}", lambda: text).solve  # type: ignore[no-any-return]


def _mark(text: str, g: Any) -> str:
    """Return what tells stored code that is stale from other code.

    Numba would not notice a change in the file g stands in.
    """
    source = Path(g.py_func.__code__.co_filename).read_text()
    return hashlib.sha256("\0".join((text, source, compiled_sources())).encode()).hexdigest()[:16]
