"""Generated modules are written once, found again, repaired if damaged.

And safe against processes that run at once.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from herk.thesis import store

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HERK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(store, "_loaded", {})
    return tmp_path / "cache"


def only_file(folder: Path) -> Path:
    (path,) = folder.glob("*.py")
    return path


def forget() -> None:
    store._loaded.clear()


def never() -> str:
    raise AssertionError("the text was generated again")


def test_text_is_asked_for_once_and_kept():
    assert store.load("a", lambda: "VALUE = 1\n").VALUE == 1
    assert store.load("a", never).VALUE == 1
    forget()
    assert store.load("a", never).VALUE == 1


def test_the_version_of_the_generator_is_part_of_the_name(own_folder, monkeypatch):
    store.load("a", lambda: "VALUE = 1\n")
    assert store.GENERATOR in only_file(own_folder).name
    monkeypatch.setattr(store, "GENERATOR", "later")
    assert store.load("a", lambda: "VALUE = 2\n").VALUE == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda b: b[:-4],
        lambda b: b"",
        lambda b: b[:10],
        lambda b: b.replace(b"41", b"42"),
        lambda b: b"\xff\x00" + b,
        lambda b: b.split(b"\n", 1)[1],
    ],
    ids=["truncated", "empty", "header only", "altered", "binary", "no header"],
)
def test_a_damaged_file_is_written_again(own_folder, damage):
    store.load("a", lambda: "VALUE = 41\nOTHER = 1\n")
    path = only_file(own_folder)
    path.write_bytes(damage(path.read_bytes()))
    forget()
    assert store.load("a", lambda: "VALUE = 43\nOTHER = 1\n").VALUE == 43
    forget()
    assert store.load("a", never).VALUE == 43


def test_a_sound_file_of_another_process_is_not_replaced(own_folder):
    def write() -> str:
        store._keep(own_folder / f"a_{store.GENERATOR}.py", "VALUE = 'first'\n")
        return "VALUE = 'second'\n"

    assert store.load("a", write).VALUE == "first"


def test_no_temporary_files_stay_behind(own_folder):
    store.load("a", lambda: "VALUE = 1\n")
    assert [p.name for p in own_folder.iterdir() if p.name != "__pycache__"] == [f"a_{store.GENERATOR}.py"]


def test_a_file_system_without_links_is_served_by_a_move(monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    assert store.load("a", lambda: "VALUE = 1\n").VALUE == 1


def test_a_module_that_fails_leaves_no_trace_among_the_modules():
    with pytest.raises(ZeroDivisionError):
        store.load("failing", lambda: "1 / 0\n")
    assert not [name for name in sys.modules if name.startswith("herk_generated_failing")]


def test_the_folder_follows_the_environment(tmp_path, monkeypatch):
    assert store.folder() == tmp_path / "cache"
    monkeypatch.delenv("HERK_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert store.folder() == tmp_path / "xdg" / "herk"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert store.folder() == tmp_path / "home" / ".cache" / "herk"


def test_a_folder_that_cannot_be_written_is_replaced_by_a_temporary_one(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("HERK_CACHE_DIR", str(tmp_path / "file" / "cache"))
    place = store.folder()
    assert place.is_dir()
    assert tmp_path not in place.parents
    assert store.load("a", lambda: "VALUE = 1\n").VALUE == 1


RACE = """
import importlib.util, sys, time
spec = importlib.util.spec_from_file_location("store", sys.argv[2])  # without the package, which compiles when it is imported
store = importlib.util.module_from_spec(spec)
spec.loader.exec_module(store)
while time.time() < float(sys.argv[1]): pass
module = store.load("race", lambda: "VALUE = %r\\n" % list(range(20000)))
assert module.VALUE[-1] == 19999
print("fine")
"""


def test_processes_that_write_at_once_all_get_the_module(own_folder):
    import time

    start = str(time.time() + 1.0)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, start, store.__file__],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    assert [racer.communicate(timeout=60)[0].strip() for racer in racers] == ["fine"] * 4
    assert only_file(own_folder).stat().st_size > 100_000
