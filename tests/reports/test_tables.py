"""Tables and the numbers in them."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from reports.tables import Table, fraction, seconds, short, slug, tolerance


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5e-4, "500 µs"),
        (0.012, "12 ms"),
        (1.0, "1 s"),
        (0.99999, "1 s"),
        (123.4, "120 s"),
        (float("nan"), "–"),
    ],
)
def test_times_have_two_digits_and_a_fitting_unit(value, text):
    assert seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.26e-8, "1.3e-8"),
        (0, "0"),
        (1234567, "1234567"),
        (676.3, "680"),
        (0.123, "0.12"),
        (float("inf"), "–"),
    ],
)
def test_numbers_are_short(value, text):
    assert short(value) == text


def test_tolerances_and_fractions_read_as_people_write_them():
    assert [tolerance(value) for value in (1e-6, 3.162e-7, 1e-11)] == ["1e-6", "3.2e-7", "1e-11"]
    assert [fraction(value) for value in (1 / 24, 0.5, 0.8)] == ["1/24", "1/2", "0.80"]


def test_file_names_are_harmless_and_no_two_names_share_one():
    names = ["../../etc/passwd", "a b", "a_b", "a/b", "<b>", "", ".", "plain_name-1.0"]
    files = [slug(name) for name in names]
    assert len(set(files)) == len(names)
    assert all(
        set(file) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
        and not file.startswith(".")
        for file in files
    )
    assert slug("plain_name-1.0") == "plain_name-1.0"


def test_csv_keeps_all_digits_and_the_others_the_digits_one_reads():
    value = 0.1 + 0.2
    table = Table("t", "A caption.", pd.DataFrame({"name": ["a|b"], "value": [value]}))
    assert pd.read_csv(io.StringIO(table.csv()))["value"][0] == value
    assert table.markdown().splitlines()[-1] == "| a\\|b | 0.3 |"


def test_markup_in_a_cell_stays_text():
    table = Table("t", "<i>", pd.DataFrame({"<b>": ["<script>"]}))
    assert "<script>" not in table.html() + table.markdown()
    assert "<i>" not in table.html()


def test_a_table_is_written_in_three_formats(tmp_path):
    files = Table("t", "A caption.", pd.DataFrame({"a": [1]})).write(tmp_path)
    assert [path.name for path in files] == ["t.csv", "t.md", "t.html"]
    assert all(path.read_text() for path in files)
