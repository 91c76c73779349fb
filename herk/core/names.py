"""Names as people write them: texts, primes for derivatives, sympy's symbols, functions, derivatives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from herk.core.errors import nearest

START = "y0:"  # what begins the name of a start value


def plain_name(name: str) -> str:
    r"""Return a name as an identifier: \theta_{1}, which LaTeX wants, is theta_1."""
    return re.sub(r"\W", "", name) or name


def as_name(key: Any) -> str:
    """Return a key as a text: of sympy's x, x(t) and its derivatives the name, with a prime each."""
    if isinstance(key, str):
        return key
    order = getattr(key, "derivative_count", 0)
    name = getattr(key.expr if order else key, "name", None)
    return plain_name(name) + "'" * order if isinstance(name, str) else str(key)


def as_state(key: Any, names: Sequence[str]) -> str:
    """Return the state that a key stands for: x' may be written for dx."""
    name = as_name(key)
    bare = name.rstrip("'")
    return name if name in names else "d" * (len(name) - len(bare)) + bare


def as_varied(key: Any, names: Sequence[str]) -> str:
    """Return the parameter, or the start value "y0:x", that a key stands for."""
    name = as_name(key)
    return START + as_state(name.removeprefix(START), names) if name.startswith(START) else name


def among(key: Any, known: Iterable[str], what: str) -> str:
    """Return which of these parameters and start values a key stands for."""
    known = tuple(known)
    wanted = as_varied(key, [name.removeprefix(START) for name in known])
    if wanted not in known:
        raise nearest(as_name(key), known, what)
    return wanted


def place(key: Any, names: Sequence[str], what: str) -> int:
    """Return where a component is among these names."""
    if (wanted := as_state(key, names)) not in names:
        raise nearest(as_name(key), names, what)
    return list(names).index(wanted)
