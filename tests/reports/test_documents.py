"""Values of documents are counted by where they come from: what is printed is never mixed with what is not."""

from __future__ import annotations

from herk.bench.published import Origin
from reports.sections import documents


def rows(*pairs):
    return [{"part": "Table 1", "origin": origin, "verdict": verdict} for origin, verdict in pairs]


def test_every_origin_has_words_of_its_own():
    assert set(documents.ORIGINS) == {origin.value for origin in Origin} | {""}


def test_values_are_counted_by_origin():
    made = rows(
        ("printed value", "same"), ("printed value", "not reproduced"), ("ours", "same"), ("from the original program", "within rounding"),
        ("from the original program", "same"), ("said in words", "wrong in print"),
    )  # fmt: skip
    assert documents.value_words(made) == [
        "1 of 2 printed values come out the same or within rounding; 1 not reproduced.",
        "0 of 1 statement in words comes out the same or within rounding; 1 wrong in print.",
        "2 of 2 values from the original program come out the same or within rounding.",
        "1 of 1 value of our own comes out the same or within rounding.",
    ]
    assert documents.checked(made) == "2 printed values, 1 statement in words, 2 values from the original program, 1 value of our own"


def test_records_without_an_origin_are_not_called_printed():
    assert documents.checked([{"part": "Table 1", "verdict": "same"}] * 3) == "3 values of unknown origin"
