"""The page of a recommendation: every section of the text, escaped, without the network."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from herk.bench.recommend.answer import Recommendation
from herk.bench.recommend.rank import Row
from reports import recommend_page

HOSTILE = "<script>alert(1)</script>"
ROWS = (
    Row("herk_dop853", "overdetermined", 1, 3e-8, 4.2e-7, 7.1e-4, 51, 741, 3e-13, 8.1),
    Row(HOSTILE, "ode", None, None, None, None, None, None, None, 0.0, "did not <b>converge</b>"),
)
FULL = Recommendation(
    path="/home/me/model.py",
    name=f"pendulum {HOSTILE}",
    verdict="not stiff",
    advice=f"It is not stiff & {HOSTILE}.",
    wanted=1e-6,
    index=3,
    constraints=(("x**2 + y**2 - 1",), ("2*v*x + 2*w*y",)),
    reference="a and b agree.",
    reference_digits={"x": 12.3, "<i>": 11.9},
    rows=ROWS,
    chosen=ROWS[0],
    code='print("1 < 2")\n',
    notes=("Not run: <u>",),
    discontinuous=True,
)


class Page(HTMLParser):
    """Collect tags, addresses and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.words = ""
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_data(self, data):
        self.words += data


def test_every_section_is_there_and_nothing_is_fetched(tmp_path):
    path = recommend_page.write(FULL, tmp_path / "out")
    assert path == tmp_path / "out" / "recommend.html"
    page = Page(path.read_text(encoding="utf-8"))
    assert page.ids == ["advice", "code", "ranking", "model", "reference", "notes"]
    assert page.addresses == []
    assert "url(" not in path.read_text(encoding="utf-8")
    for words in (
        "0 = x**2 + y**2 - 1",
        "hidden, level 1",
        "710 us",
        "4.2e-07",
        "a and b agree",
        'print("1 < 2")',
        "numpy",
        "not smooth",
    ):
        assert words in page.words, words


def test_names_from_files_cannot_become_markup():
    page = Page(recommend_page.render(FULL))
    assert "script" not in page.tags
    assert not {"b", "i", "u"} & set(page.tags)
    assert page.words.count(HOSTILE) == 4  # title, heading, advice, table


def test_chosen_row_is_marked_and_only_it():
    text = recommend_page.render(FULL)
    marked = re.findall(r'<tr class="chosen">(.*?)</tr>', text, re.DOTALL)
    assert len(marked) == 1
    assert "herk_dop853" in marked[0]


@pytest.mark.parametrize("verdict", ["ill-posed", "unusable"])
def test_answer_without_runs_has_advice_only(verdict):
    refused = Recommendation(
        path="m.py", name="m", verdict=verdict, advice="Row 5 follows from the others.", wanted=1e-6
    )
    page = Page(recommend_page.render(refused))
    assert page.ids == ["advice"]
    assert "Row 5 follows" in page.words
