"""Files appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from herk.bench import whole_files


def half(path: Path) -> None:
    path.write_text("half")
    raise OSError(28, "No space left on device")


def test_a_file_that_could_not_be_finished_leaves_the_old_one_and_nothing_else(tmp_path):
    whole_files.text(tmp_path / "index.html", "old")
    with pytest.raises(OSError, match="No space left"):
        whole_files.replace(tmp_path / "index.html", half)
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
    assert (tmp_path / "index.html").read_text() == "old"


def test_nobody_sees_a_file_before_it_is_complete(tmp_path):
    target = tmp_path / "new" / "table.csv"

    def look(path: Path) -> None:
        path.write_text("whole")
        assert path.suffix == ".csv"
        assert not target.exists()

    assert whole_files.replace(target, look).read_text() == "whole"


def test_texts_keep_their_line_ends_and_bytes_are_bytes(tmp_path):
    assert whole_files.text(tmp_path / "a", "1\r\n2\n", newline="").read_bytes() == b"1\r\n2\n"
    assert whole_files.data(tmp_path / "b", b"\x00\xff").read_bytes() == b"\x00\xff"
