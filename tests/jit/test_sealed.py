"""What lies in the cache folder is checked before it is used, and nobody else can put anything there."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from herk.jit import cache

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import twice
print(twice.twice(21.0), sum(twice.twice.stats.cache_hits.values()))
"""
SOURCE = """
from herk.jit.compiled import compiled

@compiled()
def twice(x):
    return 2.0 * x
"""


def run(folder: Path, place: Path) -> list[str]:
    environment = os.environ | {"HERK_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(place)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def flipped(content: bytes) -> bytes:
    return content[:40] + bytes([content[40] ^ 1]) + content[41:]


@pytest.mark.parametrize("damage", [lambda b: b[:-7], lambda b: b"", flipped, lambda b: b"junk" * 99])
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_damaged_files_are_compiled_again(tmp_path, damage, ending):
    (tmp_path / "twice.py").write_text(SOURCE)
    folder = tmp_path / "cache"
    assert run(folder, tmp_path) == ["42.0", "0"]
    assert run(folder, tmp_path) == ["42.0", "1"]
    for path in folder.rglob(f"*{ending}"):
        path.write_bytes(damage(path.read_bytes()))
    assert run(folder, tmp_path) == ["42.0", "0"]
    assert run(folder, tmp_path) == ["42.0", "1"]


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
