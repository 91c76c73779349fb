"""Records are plain, survive writing and reading unchanged.

And have keys that depend on their identity and nothing else.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from herk.bench import environment, record
from herk.bench.record import RecordError

ROOT = Path(__file__).parents[2]
RUN = {
    "study": "work_precision",
    "problem": "pendulum",
    "changes": "{}",
    "form": "ode",
    "solver": "scipy_radau",
    "solver_version": "1.17",
    "rtol": 1e-6,
    "atol": 1e-6,
    "step": None,
    "options": "{}",
    "status": "ok",
}

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def fields(**changes):
    return {**RUN, **changes}


@given(st.dictionaries(st.text(min_size=1).map(lambda name: f"x.{name}"), values, max_size=5))
def test_writing_and_reading_a_record_is_the_identity(extra):
    made = record.make("run", **RUN, **extra)
    line = record.line(made)
    assert record.parse(line) == made
    assert line.isascii()
    assert "\n" not in line


@given(st.floats(), st.lists(st.floats(), max_size=4))
def test_numbers_that_are_not_finite_become_null_and_others_stay_exact(number, several):
    made = record.make("run", **RUN, error_end=number, values=np.array(several))
    again = record.parse(record.line(made))
    kept = [x if math.isfinite(x) else None for x in (number, *several)]
    assert [again["error_end"], *again["values"]] == kept


def test_numbers_of_numpy_sets_and_tuples_become_plain():
    made = record.make(
        "run",
        **RUN,
        nstep=np.int64(3),
        wall_min=np.float64(0.5),
        yes=np.bool_(True),
        tags=frozenset("ba"),
        span=(0, 1.0),
    )
    assert [made[name] for name in ("nstep", "wall_min", "yes", "tags", "span")] == [
        3,
        0.5,
        True,
        ["a", "b"],
        [0, 1.0],
    ]
    assert [type(made[name]) for name in ("nstep", "wall_min", "yes")] == [int, float, bool]


def test_what_cannot_be_stored_is_refused_by_its_type():
    with pytest.raises(RecordError, match="function"):
        record.make("run", **RUN, thing=fields)


def test_every_record_says_where_when_and_with_what_it_was_made():
    made = record.make("run", **RUN)
    assert set(record.ALWAYS) <= set(made)
    assert made["numpy"] == np.__version__
    assert made["cores"] == os.cpu_count()
    assert made["date"].endswith("+00:00")
    assert set(environment.fields()) <= set(made)


@pytest.mark.parametrize("name", record.IDENTITY["run"])
def test_the_key_depends_on_every_field_of_the_identity(name):
    other = 0.25 if name in record.NUMBERS else "other"
    before = record.make("run", **RUN)
    assert record.key("run", {**before, name: other}) != before["key"]


def test_the_key_does_not_depend_on_results_dates_or_kinds_of_numbers():
    made = record.make("run", **RUN)
    assert record.make("run", **RUN, error_end=3.0, date="2001-01-01")["key"] == made["key"]
    assert record.key("run", {**made, "rtol": np.float64(1e-6)}) == made["key"]
    assert record.make("run", **fields(rtol=1))["key"] == record.make("run", **fields(rtol=1.0))["key"]


def test_the_key_is_that_of_the_definition_in_every_process():
    """SHA-256 of the identity as JSON with sorted names, computed here without the module under test."""
    import hashlib

    identity = {name: RUN.get(name) for name in record.IDENTITY["run"]} | {"herk": "9.9", "kind": "run"}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    expected = hashlib.sha256(text.encode()).hexdigest()[:16]
    code = f"from herk.bench import record; print(record.make('run', herk='9.9', **{RUN!r})['key'])"
    for seed in ("0", "1234"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True, cwd=ROOT
        )
        assert done.stdout.strip() == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not json", "not JSON"),
        ("[1, 2]", "not a JSON object"),
        ("[" * 100_000, "not JSON"),
        ('{"a": 1}', "schema is None"),
        ('{"schema": 2, "kind": "run"}', "schema is 2"),
        ('{"schema": 1, "kind": "run"}', "lacks key"),
        ('{"schema": 1, "x": NaN}', "NaN"),
    ],
)
def test_a_line_that_is_no_record_is_refused_with_a_sentence(text, words):
    with pytest.raises(RecordError, match=words):
        record.parse(text)


@pytest.mark.parametrize(
    ("name", "value"), [("problem", "other"), ("kind", "nonsense"), ("status", "fine"), ("key", "0" * 16)]
)
def test_a_record_that_was_altered_is_refused(name, value):
    altered = record.make("run", **RUN) | {name: value}
    with pytest.raises(RecordError):
        record.parse(json.dumps(altered))


def test_missing_fields_of_the_identity_are_named():
    with pytest.raises(RecordError, match="needs problem, changes"):
        record.make("problem", study="s")
