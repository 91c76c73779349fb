"""Compiled code of this room, kept on disk in a folder named after the text of all files it is made from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from herk.core.cache import compiled_sources, folder
from herk.core.jit import HAVE_NUMBA, quiet


def compiled(*signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorate as herk.core.jit.compiled does; numba itself would notice changes in the file of a function only, not in those it calls."""
    if not HAVE_NUMBA:
        return lambda function: function
    import numba

    decorate = numba.njit(*signature, **({"cache": True, "error_model": "numpy", "nogil": True, "_nrt": False} | options))

    def kept(function: Callable[..., Any]) -> Any:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder() / f"compiled_{compiled_sources()}_irk_{_sources()}")
        try:
            with quiet():
                return decorate(function)
        finally:
            numba.config.CACHE_DIR = before

    return kept


# For functions that compiled code alone calls: without the entries from Python and C, which cost more than most of the bodies.
inner = partial(compiled, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@cache
def _sources() -> str:
    """Return a hash of the files with compiled code, and of those with the constants it is made with."""
    texts = {path: path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))}
    parts = [text for path, text in texts.items() if b"irk.compile import" in text or path.stem.endswith(("_memory", "_coefficients"))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]
