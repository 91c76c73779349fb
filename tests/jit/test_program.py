"""Machine code on disk: kept once, sealed, made again on any fault."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from herk.jit import program
from herk.jit.program import Program


def twice(x: float) -> float:
    return 2.0 * x


@pytest.fixture
def made(tmp_path, monkeypatch) -> list[str]:
    """Return the texts compiled, with a cache folder of its own."""
    texts, compile_text = [], program.object_code
    monkeypatch.setattr(program, "object_code", lambda text: texts.append(text) or compile_text(text))
    monkeypatch.setattr(program, "compiled_folder", lambda _: tmp_path)
    return texts


def test_a_program_is_compiled_once_and_found_again(made) -> None:
    for _ in range(3):
        assert Program(twice)[twice].call(1.5) == 3.0
    assert len(made) == 1


@pytest.mark.parametrize("damage", ["cut", "altered", "empty", "foreign"])
def test_a_damaged_file_is_made_again_and_never_loaded(made, tmp_path, damage) -> None:
    Program(twice)[twice].call(1.0)
    [file] = tmp_path.iterdir()
    content = file.read_bytes()
    changed = {
        "cut": content[: len(content) // 2],
        "altered": content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
        "empty": b"",
        "foreign": b"not machine code at all",
    }
    file.write_bytes(changed[damage])
    assert Program(twice)[twice].call(4.0) == 8.0
    assert len(made) == 2
    assert file.read_bytes() == content


def test_a_folder_that_cannot_be_written_means_compiling_in_memory(made, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(program, "compiled_folder", lambda _: tmp_path / "a" / "file" / "in" / "the" / "way")
    (tmp_path / "a").write_text("in the way")
    assert Program(twice)[twice].call(2.0) == 4.0


def test_a_disk_that_is_full_means_compiling_in_memory_too(made, tmp_path, monkeypatch) -> None:
    def full(number: int, mode: str) -> None:
        os.close(number)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(program.os, "fdopen", full)
    for count in (1, 2):
        assert Program(twice)[twice].call(2.5) == 5.0
        assert len(made) == count
    assert not list(tmp_path.glob("*.code"))


SEVERAL = """
import sys, time
import numpy
from herk.jit import program
sys.path.insert(0, sys.argv[1])
from small import thrice
made = []
compile_text = program.object_code
program.object_code = lambda text: made.append(text) or compile_text(text)
while time.time() < float(sys.argv[2]):  # all at once
    pass
print(program.Program(thrice)[thrice].call(1.5), len(made))
"""


def test_processes_that_compile_at_the_same_time_do_not_disturb_each_other(tmp_path) -> None:
    (tmp_path / "small.py").write_text("def thrice(x: float) -> float:\n    return 3.0 * x\n")
    environment = os.environ | {
        "HERK_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }

    def begun(at: float) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", SEVERAL, str(tmp_path), str(at)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    together = [begun(time.time() + 1.0) for _ in range(3)]
    assert [each.communicate()[0].split()[0] for each in together] == ["4.5"] * 3
    assert begun(0.0).communicate()[0].split() == ["4.5", "0"]  # what they left is whole
    [kept] = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert kept.suffix == ".code"
