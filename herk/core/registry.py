"""Names to things: a table of our own entries, joined by plugins through an entry-point group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any

from herk.core.errors import nearest


@dataclass
class Registry:
    """Look things up by name; a plugin that cannot be loaded is a listed reason, not a crash."""

    what: str
    group: str
    own: Mapping[str, Callable[..., Any]]
    broken: dict[str, str] = field(default_factory=dict)
    _plugins: dict[str, Callable[..., Any]] | None = field(default=None, repr=False)

    def names(self) -> list[str]:
        """Return every known name."""
        return sorted({*self.own, *self._load()})

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """Return the maker registered under this name."""
        if name in self.own:
            return self.own[name]
        plugins = self._load()
        if name not in plugins:
            raise nearest(name, self.names(), self.what)
        return plugins[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self.names())

    def _load(self) -> dict[str, Callable[..., Any]]:
        if self._plugins is None:
            self._plugins = {}
            for point in entry_points(group=self.group):
                try:
                    self._plugins[point.name] = point.load()
                except Exception as error:  # noqa: BLE001 - a foreign package may fail in any way
                    self.broken[point.name] = f"{type(error).__name__}: {error}"
        return self._plugins
