"""Names to things, plugins included; a broken plugin is a reason, not a crash."""

from __future__ import annotations

import pytest

from herk.core import InputError, Registry


class Point:
    """Stands for an entry point."""

    def __init__(self, name: str, target: object) -> None:
        self.name, self.target = name, target

    def load(self) -> object:
        if isinstance(self.target, Exception):
            raise self.target
        return self.target


def test_plugins_join_and_broken_ones_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [Point("other", dict), Point("broken", ImportError("no such library"))]
    monkeypatch.setattr(
        "herk.core.registry.entry_points", lambda group: points if group == "herk.tests" else []
    )
    registry = Registry("thing", "herk.tests", {"own": list})
    assert registry.names() == ["other", "own"] == list(registry)
    assert registry["own"] is list
    assert registry["other"] is dict
    assert registry.broken == {"broken": "ImportError: no such library"}
    with pytest.raises(InputError, match="no thing named 'othr'"):
        registry["othr"]
