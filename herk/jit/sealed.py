"""Compiled code on disk, sealed.

What is not as it was written, or cannot be written, is compiled again, never loaded.
"""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile


class SealedFile(IndexDataCacheFile):  # type: ignore[misc]
    """numba's index and data files, each behind the hash of its content.

    Numba itself unpickles whatever it finds.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep compiled code; a full disk means that it is not kept, no more."""
        try:
            super().save(key, data)
        except OSError:
            return

    def _load_index(self) -> dict[Any, str]:
        content = _opened(Path(self._index_path))
        if content is None:
            return {}
        version, stamp, overloads = pickle.loads(content)  # noqa: S301 - sealed, and in a folder nobody else can write to
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._seal(self._index_path, self._dump((self._version, self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        content = _opened(Path(self._data_path(name)))
        if content is None:
            raise OSError(f"{name} is not as it was written")  # numba then compiles
        return pickle.loads(content)  # noqa: S301

    def _save_data(self, name: str, data: Any) -> None:
        self._seal(self._data_path(name), self._dump(data))

    def _seal(self, path: str, content: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(content).digest() + content)


def _opened(path: Path) -> bytes | None:
    """Return the content behind the seal, None if there is none or it does not fit."""
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    return whole[32:] if hashlib.sha256(whole[32:]).digest() == whole[:32] else None


def seal(dispatcher: Any) -> Any:
    """Let a compiled function keep its code in sealed files."""
    plain = getattr(dispatcher._cache, "_cache_file", None)
    if isinstance(plain, IndexDataCacheFile):
        base = plain._index_name.removesuffix(".nbi")
        dispatcher._cache._cache_file = SealedFile(plain._cache_path, base, plain._source_stamp)
    return dispatcher
