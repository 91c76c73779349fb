"""What lies in the cache folder is checked before it is used, and nobody else can put anything there."""

from __future__ import annotations

import importlib.util
import os
import warnings
from pathlib import Path

import pytest

from herk.jit import cache

SOURCE = """
from herk.jit.compiled import compiled

@compiled()
def twice(x):
    return 2.0 * x
"""


def loaded(place: Path) -> tuple[float, int]:
    """Return twice 21 by a module read anew, and how often its code was found on disk."""
    spec = importlib.util.spec_from_file_location("twice", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.twice(21.0), sum(module.twice.stats.cache_hits.values())


def flipped(content: bytes) -> bytes:
    return content[:40] + bytes([content[40] ^ 1]) + content[41:]


@pytest.mark.parametrize("damage", [lambda b: b[:-7], lambda b: b"", flipped, lambda b: b"junk" * 99])
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_damaged_files_are_compiled_again(tmp_path, monkeypatch, damage, ending):
    place, folder = tmp_path / "twice.py", tmp_path / "cache"
    place.write_text(SOURCE)
    monkeypatch.setenv("HERK_CACHE_DIR", str(folder))
    assert loaded(place) == (42.0, 0)
    assert loaded(place) == (42.0, 1)
    for path in folder.rglob(f"*{ending}"):
        path.write_bytes(damage(path.read_bytes()))
    assert loaded(place) == (42.0, 0)
    assert loaded(place) == (42.0, 1)


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_others_can_write_to_is_not_used(tmp_path, monkeypatch, mode):
    place = tmp_path / "open"
    place.mkdir()
    place.chmod(mode)
    monkeypatch.setenv("HERK_CACHE_DIR", str(place))
    with pytest.warns(UserWarning, match="others may write"):
        assert cache.folder() != place
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        assert cache.folder() != place


def test_old_versions_and_litter_are_swept(tmp_path, monkeypatch):
    place = tmp_path / "cache"
    for k in range(10):
        (place / f"compiled_{k}").mkdir(parents=True)
        os.utime(place / f"compiled_{k}", (k, k))
    (place / "old.tmp.1").write_text("")
    os.utime(place / "old.tmp.1", (1, 1))
    place.chmod(0o700)
    monkeypatch.setenv("HERK_CACHE_DIR", str(place))
    cache.folder()
    assert sorted(path.name for path in place.iterdir()) == [
        f"compiled_{k}" for k in range(10 - cache.MOST_VERSIONS, 10)
    ]


def test_code_of_packages_outside_is_bounded_too(tmp_path, monkeypatch):
    place = tmp_path / "cache"
    for k in range(cache.MOST_PACKAGES + 3):
        room = place / "compiled_0" / f"room_{k:02}"
        room.mkdir(parents=True, mode=0o700)
        os.utime(room, (k, k))
    for each in (place, place / "compiled_0"):
        each.chmod(0o700)
    monkeypatch.setenv("HERK_CACHE_DIR", str(place))
    cache.folder()
    left = sorted(path.name for path in (place / "compiled_0").iterdir())
    assert left == [f"room_{k:02}" for k in range(3, cache.MOST_PACKAGES + 3)]


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_code_in_a_folder_others_could_write_to_is_not_kept(tmp_path, monkeypatch):
    place = tmp_path / "cache"
    (place / "compiled_0").mkdir(parents=True)
    place.chmod(0o755)
    (place / "compiled_0").chmod(0o777)
    monkeypatch.setenv("HERK_CACHE_DIR", str(place))
    assert cache.folder() == place
    assert not (place / "compiled_0").exists()
