"""Values of documents are counted by where they come from.

What is printed is never mixed with what is not.
"""

from __future__ import annotations

from herk.reproductions.published import Origin
from reports.sections import documents


def rows(*pairs):
    return [{"part": "Table 1", "origin": origin, "verdict": verdict} for origin, verdict in pairs]


def test_every_origin_has_a_place_in_the_list_of_sources():
    assert {documents.source({"origin": origin.value}) for origin in Origin} == set(documents.SOURCES)


def test_values_are_counted_by_source():
    made = rows(
        ("printed value", "same"),
        ("printed value", "not reproduced"),
        ("ours", "same"),
        ("from the original program", "within rounding"),
        ("from the original program", "same"),
        ("said in words", "wrong in print"),
    )
    [claim] = documents.value_words(made, "thesis")
    assert claim.facts["sources"] == {
        "printed": {"same": 1, "not reproduced": 1}, "said in words": {"wrong in print": 1},
        "from the original program": {"within rounding": 1, "same": 1}, "not printed": {"same": 1},
    }  # fmt: skip
    assert documents.checked(made) == {
        "printed": 2, "said in words": 1, "from the original program": 2, "not printed": 1,
    }  # fmt: skip


def test_what_has_no_printed_value_is_not_called_printed():
    assert documents.checked([{"part": "Table 1", "verdict": "same"}] * 3) == {"not printed": 3}
