"""One source, two ways to run it: compiled by numba, or interpreted where numba or the callables do not allow it."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

try:
    import numba
    from numba.core.registry import CPUDispatcher
except ImportError:  # pragma: no cover - exercised by the test that hides numba
    numba = None
    CPUDispatcher = ()

HAVE_NUMBA = numba is not None


def compiled(*signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function that numba compiles and caches on disk; without numba it stays plain Python.

    Divisions by zero and overflows give IEEE values, as in C: a step that produces them is rejected, not raised.
    """
    if numba is None:
        return lambda function: function
    return numba.njit(*signature, **({"cache": True, "error_model": "numpy", "nogil": True} | options))


def is_compiled(function: object) -> bool:
    """Tell whether the function can be called from compiled code."""
    return HAVE_NUMBA and isinstance(function, CPUDispatcher)


def interpreted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the plain Python twin of a compiled function, all compiled functions it calls replaced by their twins."""
    return _twin(function, {})


def _twin(function: Any, done: dict[int, Any]) -> Any:
    if not is_compiled(function):
        return function
    if id(function) not in done:
        plain = function.py_func
        scope = dict(plain.__globals__)
        twin = types.FunctionType(plain.__code__, scope, plain.__name__, plain.__defaults__, plain.__closure__)
        done[id(function)] = twin
        for name in plain.__code__.co_names:
            if is_compiled(scope.get(name)):
                scope[name] = _twin(scope[name], done)
    return done[id(function)]
