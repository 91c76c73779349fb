"""Compiled code on disk is never older than the text it was made from, in packages outside herk too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from herk.jit import cache
from herk.jit.compiled import HAVE_NUMBA

CALLER = """
from herk.jit.compiled import compiled
from room.other import value

@compiled("float64(float64)")
def twice(x):
    return 2.0 * value(x)
"""
OTHER = """
from herk.jit.compiled import compiled

@compiled("float64(float64)")
def value(x):
    return x + {shift}
"""


def test_files_that_compiled_code_is_made_from_are_found_by_their_imports() -> None:
    """A constant in a file without compiled functions is part of the machine code of those that import it."""
    root = cache._ROOT
    files = {
        "kernels.py": (
            b"from herk.jit.compiled import compiled\n\n@compiled()\ndef f(x):\n    return x + SIZE\n"
        ),
        "memory.py": b"SIZE = 3\n",
        "plain.py": b"from herk.room.kernels import f\n",
        "many.py": b"from herk.room import (\n    memory,\n    kernels,\n)\n\n    @compiled(FUNCTION)\n",
    }
    texts = {root / "room" / name: text for name, text in files.items()}
    assert {path.name for path in cache._sources(texts)} == {"kernels.py", "many.py", "memory.py"}


@pytest.mark.parametrize(
    "file",
    ["thesis/layout.py", "integrate/steppers/half_explicit/layout.py", "jit/lower.py", "thesis/newton.py"],
)
def test_a_changed_constant_changes_the_fingerprint(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, read = cache.fingerprint.__wrapped__(), Path.read_bytes
    changed = cache._ROOT / file
    assert changed.exists()
    monkeypatch.setattr(
        Path, "read_bytes", lambda path: read(path) + (b"\nSIZE = 4\n" if path == changed else b"")
    )
    assert cache.fingerprint.__wrapped__() != before


def test_files_that_no_compiled_code_uses_leave_the_fingerprint_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, read = cache.fingerprint.__wrapped__(), Path.read_bytes
    for file in ("bench/cli.py", "model/index_reduction/explain.py"):
        changed = cache._ROOT / file
        monkeypatch.setattr(
            Path, "read_bytes", lambda path, own=changed: read(path) + (b"# more" if path == own else b"")
        )
        assert cache.fingerprint.__wrapped__() == before


@pytest.mark.parametrize("library", ["llvmlite", "numba", "numpy"])
def test_another_version_of_a_library_changes_the_fingerprint(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, known = cache.fingerprint.__wrapped__(), cache.version
    monkeypatch.setattr(cache, "version", lambda name: "999" if name == library else known(name))
    assert cache.fingerprint.__wrapped__() != before


def test_another_processor_changes_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache.fingerprint.__wrapped__()
    monkeypatch.setattr(cache.llvm, "get_host_cpu_name", lambda: "another one")
    assert cache.fingerprint.__wrapped__() != before


def run(folder: Path) -> float:
    environment = os.environ | {
        "HERK_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
    }
    code = "from room.caller import twice; print(twice(1.0))"
    return float(
        subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        ).stdout
    )


@pytest.mark.skipif(not HAVE_NUMBA, reason="without numba nothing is compiled")
def test_a_change_in_another_file_of_a_package_is_noticed_by_the_next_process(tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    (room / "__init__.py").write_text("")
    (room / "caller.py").write_text(CALLER)
    (room / "other.py").write_text(OTHER.format(shift=1.0))
    assert run(tmp_path) == 4.0
    assert run(tmp_path) == 4.0
    assert list((tmp_path / "cache").rglob("*.nbi")), "nothing was kept"
    (room / "other.py").write_text(OTHER.format(shift=2.0))
    assert run(tmp_path) == 6.0
