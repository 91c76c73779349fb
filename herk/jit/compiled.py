"""One source, two ways to run it.

Compiled by numba, or interpreted where numba or the callables do not allow it.
"""

from __future__ import annotations

import math
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from herk.jit.cache import compiled_folder

try:
    import numba
    from numba.core.registry import CPUDispatcher
except ImportError:  # pragma: no cover - exercised by the test that hides numba
    numba = None
    CPUDispatcher = ()

HAVE_NUMBA = numba is not None

# Functions of math raise where compiled code gives nan or inf; numpy's twins do as compiled code does.
_RENAMED = {
    "pow": "power",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
_LIKE_COMPILED = {
    getattr(math, name): getattr(np, _RENAMED.get(name, name))
    for name in (
        "sqrt",
        "exp",
        "log",
        "log10",
        "log2",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        *_RENAMED,
    )
}


def compiled(*signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function that numba compiles and caches on disk; without numba it stays plain Python.

    Divisions by zero and overflows give IEEE values, as in C: a step that produces them is rejected, not
    raised.
    """
    if numba is None:
        return lambda function: function
    decorate = numba.njit(
        *signature, **({"cache": True, "error_model": "numpy", "nogil": True, "_nrt": False} | options)
    )

    def kept(function: Callable[..., Any]) -> Any:
        with quiet(), _kept_in(compiled_folder(Path(function.__code__.co_filename))):
            made = decorate(function)
        if hasattr(made, "_cache"):
            from herk.jit.sealed import seal

            return seal(made)
        return made

    return kept


# For functions that compiled code alone calls: without the entries from Python and C, which take longer to
# compile than most bodies.
inner = partial(compiled, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@contextmanager
def _kept_in(place: Path) -> Iterator[None]:
    """Let numba keep what is decorated now in our own folder; it reads the setting when it decorates."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(place)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


@contextmanager
def quiet() -> Iterator[None]:
    """Silence numba's note that functions passed as values are an experimental feature.

    Tests cover what we use of it.
    """
    if numba is None:
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", numba.core.errors.NumbaExperimentalFeatureWarning)
        yield


def is_compiled(function: object) -> bool:
    """Tell whether the function can be called from compiled code.

    Numba's, or machine code of a model (see codegen.native).
    """
    return HAVE_NUMBA and (isinstance(function, CPUDispatcher) or hasattr(function, "address"))


_twins: dict[int, Any] = {}


def set_twin(function: Any, plain: Callable[..., Any]) -> None:
    """Name the plain Python twin of something that only compiled code can call."""
    _twins[id(function)] = plain


def interpreted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the plain Python twin of a compiled function.

    All compiled functions it calls replaced by their twins.
    """
    twin: Callable[..., Any] = _twin(function, {})
    return twin


def _twin(function: Any, done: dict[int, Any]) -> Any:
    if id(function) not in done:
        plain = getattr(function, "py_func", function)
        scope = dict(plain.__globals__)
        twin = types.FunctionType(
            plain.__code__, scope, plain.__name__, plain.__defaults__, plain.__closure__
        )
        done[id(function)] = twin
        for name in plain.__code__.co_names:
            value = scope.get(name)
            if id(value) in _twins:
                scope[name] = _twins[id(value)]
            elif is_compiled(value):
                scope[name] = _twin(value, done)
            elif isinstance(value, types.BuiltinFunctionType) and value in _LIKE_COMPILED:
                scope[name] = _LIKE_COMPILED[value]
    return done[id(function)]
