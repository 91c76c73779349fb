"""The append-only file of records: whole lines are added, so that no kill can hurt what is there."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from herk.bench import record
from herk.bench.record import Record, RecordError
from herk.core import HerkError

NAME = "records.jsonl"
LOCK = "bench.lock"  # held by the bench that is at work in the folder
HEAD = f'{{"schema":{record.SCHEMA},"kind":"'.encode()
CUT = b"#cut"  # ends a line that was cut off when its writer was killed; a record ends in a brace


class StoreError(HerkError):
    """The file cannot be read or added to; the message says why and what to do."""


@dataclass(frozen=True)
class Store:
    """The file records.jsonl."""

    path: Path

    def read(self) -> tuple[list[Record], list[str]]:
        """Return all records and a note for each line cut off; any other bad line raises StoreError."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return [], []
        except OSError as error:
            raise StoreError(f"{self.path} cannot be read: {error.strerror}.") from None
        lines = content.split(b"\n")
        records, notes = [], []
        for number, line in enumerate(lines, 1):
            last = number == len(lines)
            try:
                if line or not last:
                    records.append(record.parse(line))
            except RecordError as error:
                if not (line.endswith(CUT) or (last and _ours(line))):
                    raise self._bad(number, str(error)) from None
                notes.append(f"{self.path}, line {number}: cut off while it was written, dropped.")
        return records, notes

    def append(self, records: Iterable[Record]) -> None:
        """Add records by one write and wait for the disk; a file that is not ours is not touched."""
        lines = b"".join(record.line(rec).encode() + b"\n" for rec in records)
        if not lines:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._opened() as file:
                _write(file, self._end_of(file) + lines)
                os.fsync(file)
        except OSError as error:
            raise StoreError(
                f"Records could not be written to {self.path}: {error.strerror}. What was there before is"
                " unharmed."
            ) from None

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        """Open for reading and appending, locked against another bench on the same folder."""
        file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)

    def _end_of(self, file: int) -> bytes:
        """Return what ends a last line that was cut off; raise if the file does not begin as ours do."""
        size = os.fstat(file).st_size
        if not size:
            return b""
        if not _ours(os.pread(file, len(HEAD), 0)):
            raise self._bad(1, f"A file of records begins with {HEAD.decode()!r}.")
        if os.pread(file, 1, size - 1) == b"\n":
            return b""
        start = max(0, size - 2**20)  # longer than any line
        return b"\n" if _whole(os.pread(file, size - start, start).rpartition(b"\n")[2]) else CUT + b"\n"

    def _bad(self, number: int, why: str) -> StoreError:
        where = f"{self.path}, line {number}, is not a record of this bench."
        return StoreError(
            f"{where} {why} The file is left as it is: move it away, or name another folder with --out."
        )


def _ours(line: bytes) -> bool:
    """Tell whether a line begins as a record does, as far as it goes."""
    return line[: len(HEAD)] == HEAD[: len(line)]


def _whole(line: bytes) -> bool:
    try:
        record.parse(line)
    except RecordError:
        return False
    return True


def _write(file: int, data: bytes) -> None:
    while data:  # a disk that is nearly full takes a part
        data = data[os.write(file, data) :]


@contextlib.contextmanager
def alone(out: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Wait until no other bench is at work in this folder; the lock ends with the process."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        file = os.open(out / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StoreError(
            f"The folder {out} cannot be used: {error.strerror}. Name another one with --out."
        ) from None
    try:
        _wait(file, out, say)
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(file)


def _wait(file: int, out: Path, say: Callable[[str], None]) -> None:
    """Take the lock; file systems that know no locks go without."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        number = os.pread(file, 20, 0).decode(errors="replace").strip()
        who = f"Another bench (process {number})" if number.isdigit() else "Another bench"
        say(
            f"{who} is at work in {out}: this one waits until it has ended. Ctrl-C gives up, --out names"
            " another folder."
        )
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            raise


def latest(records: Iterable[Record]) -> list[Record]:
    """Return one record for each key, in the order of first appearance.

    The last wins, but a run that is ok wins over one that is not.

    What a study writes as a whole (published values, errata, claims, figures) is replaced as a whole.
    """
    records = list(records)
    dates: dict[tuple[str, str], str] = {}
    for rec in records:
        if rec["kind"] in record.WHOLE:
            place = rec["kind"], rec["study"]
            dates[place] = max(dates.get(place, ""), rec["date"])
    chosen: dict[str, Record] = {}
    for rec in records:
        if rec["kind"] in record.WHOLE and rec["date"] < dates[rec["kind"], rec["study"]]:
            continue
        before = chosen.get(rec["key"])
        if before is None or _rank(rec) >= _rank(before):
            chosen[rec["key"]] = rec
    return list(chosen.values())


def _rank(rec: Record) -> tuple[bool, str]:
    return rec.get("status", "ok") == "ok", rec["date"]
