"""The file of records loses nothing.

Torn lines are dropped with a note, foreign files are refused and never written to.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herk.bench import record, store
from herk.bench.store import Store, StoreError


def run(name: str = "a", status: str = "ok", date: str = "2026-01-01", **more):
    identity = dict.fromkeys(record.IDENTITY["run"], "x") | {
        "problem": name,
        "rtol": None,
        "atol": None,
        "step": None,
    }
    return record.make("run", **identity, status=status, date=date, **more)


runs = st.builds(
    run,
    st.sampled_from("abcd"),
    st.sampled_from(record.STATUSES),
    st.sampled_from(("2026-01-01", "2026-01-02")),
)
claims = st.builds(
    lambda study, text, date: record.make(
        "claim", study=study, text=text, holds=True, evidence="", date=date
    ),
    st.sampled_from("st"),
    st.sampled_from("uv"),
    st.sampled_from(("2026-01-01", "2026-01-02")),
)
record_lists = st.lists(runs | claims, max_size=8)


@pytest.fixture
def kept(tmp_path):
    return Store(tmp_path / "out" / "records.jsonl")


@given(st.lists(record_lists, max_size=4))
def test_what_is_appended_is_read_in_order_and_unchanged(batches):
    with TemporaryDirectory() as folder:
        kept = Store(Path(folder) / store.NAME)
        for batch in batches:
            kept.append(batch)
        assert kept.read() == ([rec for batch in batches for rec in batch], [])


@given(record_lists, record_lists)
def test_merging_is_idempotent_and_leaves_one_record_for_each_key(first, second):
    once = store.latest([*first, *second])
    assert store.latest([*once, *once]) == once
    assert store.latest([*first, *second, *first, *second]) == once
    assert len({rec["key"] for rec in once}) == len(once)


@given(record_lists, record_lists)
def test_merging_loses_no_run(first, second):
    wanted = {rec["key"] for rec in [*first, *second] if rec["kind"] == "run"}
    assert {rec["key"] for rec in store.latest([*first, *second]) if rec["kind"] == "run"} == wanted


@given(st.integers(min_value=0), record_lists)
def test_a_cut_at_any_byte_loses_nothing_that_was_whole(cut, more):
    first, second = run("first"), run("second", note="ä" * 10)
    with TemporaryDirectory() as folder:
        kept = Store(Path(folder) / store.NAME)
        kept.append([first])
        kept.append([second])
        with kept.path.open("rb+") as file:
            file.truncate(cut % (kept.path.stat().st_size + 1))
        left = kept.path.read_bytes()
        records, notes = kept.read()
        assert records == [rec for rec in (first, second) if record.line(rec).encode() in left]
        kept.append([*more, first])
        assert kept.path.read_bytes().startswith(left)
        assert kept.read()[0] == [*records, *more, first]
        assert len(kept.read()[1]) == len(notes)


def test_a_half_written_last_line_is_dropped_with_a_note_that_names_it(kept):
    kept.append([run("a"), run("b")])
    content = kept.path.read_bytes()
    kept.path.write_bytes(content[:-30])
    records, [note] = kept.read()
    assert [rec["problem"] for rec in records] == ["a"]
    assert "line 2" in note
    assert "dropped" in note


FOREIGN = {
    "a text": b"hello world\n",
    "a text without line end": b"hello",
    "a table": b"t,y\n0,1\n",
    "JSON of others": b'{"a": 1}\n',
    "another schema": b'{"schema":2,"kind":"run"}\n',
    "zeros": b"\0" * 100,
    "an empty line": b"\n",
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_file_is_refused_and_never_written_to(what, kept):
    kept.path.parent.mkdir()
    kept.path.write_bytes(FOREIGN[what])
    with pytest.raises(StoreError, match=r"line 1.*left as it is.*--out"):
        kept.read()
    with pytest.raises(StoreError, match="left as it is"):
        kept.append([run()])
    assert kept.path.read_bytes() == FOREIGN[what]


def test_a_corrupt_line_in_the_middle_is_an_error_that_names_the_line(kept):
    kept.append([run("a"), run("b"), run("c")])
    lines = kept.path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"b"', b'"B"')
    kept.path.write_bytes(b"".join(lines))
    with pytest.raises(StoreError, match=r"line 2.*key"):
        kept.read()


def test_a_folder_in_place_of_the_file_is_an_error_in_words(tmp_path):
    with pytest.raises(StoreError, match="cannot be read"):
        Store(tmp_path).read()
    with pytest.raises(StoreError, match="could not be written"):
        Store(tmp_path).append([run()])


def test_ok_wins_over_failed_and_otherwise_the_last_wins():
    good, bad, newer = run(nstep=1), run(status="failed", date="2026-01-03"), run(nstep=2, date="2026-01-02")
    assert store.latest([good, bad]) == [good]
    assert store.latest([bad, good]) == [good]
    assert store.latest([good, newer]) == [newer]
    assert store.latest([run(status="failed"), bad]) == [bad]


def test_what_a_study_writes_as_a_whole_is_replaced_as_a_whole():
    def claim(text, date):
        return record.make("claim", study="thesis", text=text, holds=True, evidence="", date=date)

    old, new = [claim("90 match", "1"), claim("gone", "1")], [claim("91 match", "2")]
    assert store.latest([*old, *new]) == new


HOLD = """
import sys, time
from pathlib import Path
from herk.bench import store
with store.alone(Path(sys.argv[1]), print):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_second_bench_in_a_folder_waits_and_says_so_and_the_lock_dies_with_its_process(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as first:
        assert first.stdout.readline() == "held\n"
        said, entered = [], threading.Event()

        def second():
            with store.alone(tmp_path, said.append):
                entered.set()

        waiting = threading.Thread(target=second)
        waiting.start()
        try:
            assert not entered.wait(0.3)
            assert len(said) == 1
            assert f"Another bench (process {first.pid}) is at work in {tmp_path}" in said[0]
            assert "--out" in said[0]
        finally:
            first.kill()
        assert entered.wait(10)
        waiting.join()
    with store.alone(tmp_path, said.append):
        pass
    assert len(said) == 1


def test_a_folder_that_cannot_be_made_is_an_error_in_words(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(StoreError, match=r"cannot be used: .*--out"),
        store.alone(tmp_path / "file" / "out", print),
    ):
        pass
    with pytest.raises(StoreError, match="could not be written"):
        Store(tmp_path / "file" / "out" / store.NAME).append([run()])


def test_nothing_is_written_for_no_records(kept):
    kept.append([])
    assert not kept.path.exists()
    assert kept.read()[0] == []
    kept.append([run()])
    assert [rec["key"] for rec in kept.read()[0]] == [json.loads(kept.path.read_text())["key"]]
