"""What a record is: a flat JSON object with a schema version, a kind, and a hash of its identity as key."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import numpy as np

from herk.bench import environment
from herk.core import HerkError

SCHEMA = 1
STATUSES = ("ok", "failed", "unsupported", "unavailable")
Record = dict[str, Any]

# Kind -> the fields that identify a record. A run with rtol, atol and step all null speaks for every setting
# (unsupported, unavailable).
_IDENTITY = {
    "run": "study problem changes form solver solver_version rtol atol step options herk",
    "series": "run name",
    "problem": "problem changes",
    "solver": "solver version",
    "published": "study part case quantity printed",
    "erratum": "study where printed",
    "claim": "study text",
    "figure": "study name",
}
IDENTITY = MappingProxyType({kind: tuple(names.split()) for kind, names in _IDENTITY.items()})
# Kinds of which a study writes all records at once, with one date: those of its latest date replace the
# earlier ones.
WHOLE = ("published", "erratum", "claim", "figure")
ALWAYS = (
    *("schema", "kind", "key", "study", "date"),
    *environment.LIBRARIES,
    *("herk", "python", "commit", "machine", "cores", "os"),
)
NUMBERS = ("rtol", "atol", "step")
# What fields must be, wherever they occur: readers rely on it, and a file may have been written by anybody.
TEXTS = frozenset(
    {"key", "kind", "study", "date", "problem", "form", "solver", "text", "reason", "message", "name"}
)
PLAIN = frozenset({*ALWAYS, *TEXTS, "solver_version", "changes", "options"})  # neither lists nor objects
POSITIVE = frozenset({"rtol", "step"})
_COSTS = "wall_min wall_median cpu_min cpu_median repeats compile_seconds memory_bytes spent"
MEASURED = frozenset(f"{_COSTS} t_reached t_end error_end error_grid scd mescd drift invariant".split())


class RecordError(HerkError, ValueError):
    """A line or an object that is no record of ours; the message says why."""


def now() -> str:
    """Return the date of a record: UTC, to the microsecond, so that texts sort as times do."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def make(kind: str, **fields: Any) -> Record:
    """Return a record: plain values only, not finite numbers as None.

    Schema, key, date and environment are added.

    A date or environment field that is given wins: records of one study that belong together share their
    date.
    """
    given: Record = {name: plain(value) for name, value in fields.items()}
    whole = {"study": "", "date": now(), **environment.fields(), **given}
    made = {"schema": SCHEMA, "kind": kind, "key": key(kind, whole), **whole}
    validate(made)
    return made


def key(kind: str, fields: Mapping[str, Any]) -> str:
    """Return 16 hexadecimal digits, the same in every process and on every machine."""
    if kind not in IDENTITY:
        raise RecordError(f"There is no kind of record named {kind!r}; known are {', '.join(IDENTITY)}.")
    missing = [name for name in IDENTITY[kind] if name not in fields]
    if missing:
        raise RecordError(f"A record of kind {kind!r} needs {', '.join(missing)}.")
    identity = {
        name: _number(fields[name]) if name in NUMBERS else plain(fields[name]) for name in IDENTITY[kind]
    }
    return hashlib.sha256(canonical({"kind": kind, **identity}).encode()).hexdigest()[:16]


def canonical(value: Any) -> str:
    """Return JSON text that is the same for equal values: names sorted, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def line(record: Record) -> str:
    """Return a record as one line of ASCII text, schema and kind first, without the line end."""
    validate(record)
    first = {name: record[name] for name in ("schema", "kind", "key")}
    return json.dumps({**first, **record}, separators=(",", ":"), allow_nan=False)


def parse(text: str | bytes) -> Record:
    """Return the record of a line; whatever is none raises RecordError with a sentence."""
    try:
        record = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"It is not JSON: {error}.") from None
    try:
        validate(record)
        if (
            b"\\ud" if isinstance(text, bytes) else "\\ud"
        ) in text.lower():  # half a character could not be printed
            json.dumps(record, ensure_ascii=False).encode()
    except RecordError:
        raise
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise RecordError(f"Its fields are not what they should be: {error}.") from None
    return dict(record)


def validate(record: Any) -> None:
    """Raise RecordError if this is no record of this schema, or if its key is not that of its content."""
    if not isinstance(record, dict):
        raise RecordError("It is not a JSON object.")
    if record.get("schema") != SCHEMA:
        raise RecordError(
            f"Its schema is {record.get('schema')!r}; this version of herk reads schema {SCHEMA}."
        )
    if missing := [name for name in ALWAYS if name not in record]:
        raise RecordError(f"It lacks {', '.join(missing)}.")
    _check_fields(record)
    if record["key"] != key(record["kind"], record):
        raise RecordError(f"Its key {record['key']!r} does not belong to its content.")
    if record["kind"] == "run" and record.get("status") not in STATUSES:
        raise RecordError(
            f"The status of a run is one of {', '.join(STATUSES)}, not {record.get('status')!r}."
        )


def _check_fields(record: Record) -> None:
    """Raise RecordError if a field is of a kind that no reader expects."""
    for name, value in record.items():
        if name in TEXTS and not isinstance(value, str):
            raise RecordError(f"Its {name} must be a text, not {value!r:.60}.")
        if name in PLAIN and isinstance(value, (list, dict)):
            raise RecordError(f"Its {name} must be a text or a number, not {value!r:.60}.")
        measured = record["kind"] == "run" and name.partition(".")[0] in MEASURED
        if (measured or name in POSITIVE) and not (value is None or _is_finite(value)):
            raise RecordError(f"Its {name} must be a finite number or null, not {value!r:.60}.")
        if name in POSITIVE and value is not None and value <= 0:
            raise RecordError(f"Its {name} must be positive, not {value!r:.60}.")
    atol = record.get("atol")
    if not all(each is None or _is_finite(each) for each in (atol if isinstance(atol, list) else [atol])):
        raise RecordError(f"Its atol must be a finite number or a list of such numbers, not {atol!r:.60}.")
    if record["kind"] == "claim" and not isinstance(record.get("holds"), bool):
        raise RecordError(f"A claim holds or not; it says {record.get('holds')!r:.60}.")


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and abs(value) < float("inf") and math.isfinite(float(value))


def plain(value: Any) -> Any:
    """Return a value as JSON knows it: Python's numbers, lists, sets sorted, NaN and infinities as None."""
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(entry) for entry in value)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return str(value)
    raise RecordError(f"A value of type {type(value).__name__} cannot be stored in a record.")


def _number(value: Any) -> Any:
    """Return numbers as floats, so that 1 and 1.0 give one key."""
    value = plain(value)
    return (
        [_number(entry) for entry in value]
        if isinstance(value, list)
        else None
        if value is None
        else float(value)
    )


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a number")
