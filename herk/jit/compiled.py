"""Callables compiled by numba, kept on disk; without numba they stay plain Python."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from herk.jit.cache import compiled_folder

HAVE_NUMBA = find_spec("numba") is not None  # imported where it compiles: a model needs none of it


def compiled(*signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function that numba compiles and caches on disk; without numba it stays plain Python.

    Divisions by zero and overflows give IEEE values, as in C: a step that produces them is rejected, not
    raised.
    """
    if not HAVE_NUMBA:
        return lambda function: function
    import numba

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


@contextmanager
def _kept_in(place: Path) -> Iterator[None]:
    """Let numba keep what is decorated now in our own folder; it reads the setting when it decorates."""
    import numba

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
    if not HAVE_NUMBA:
        yield
        return
    import numba

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", numba.core.errors.NumbaExperimentalFeatureWarning)
        yield


def is_compiled(function: object) -> bool:
    """Tell whether the function can be called from compiled code.

    Numba's, or machine code of a model (see codegen.native).
    """
    dispatcher = sys.modules.get("numba.core.registry")  # what numba compiled has imported it
    made = dispatcher is not None and isinstance(function, dispatcher.CPUDispatcher)
    return HAVE_NUMBA and (made or hasattr(function, "address"))
