"""The documentation tells the truth: every block runs as printed, prints what is shown, makes its pictures."""

from __future__ import annotations

import re

import pytest

import herk
from tests.docs.extension import ROOT, messages, pages, provoked

TEXTS = {page.relative_to(ROOT / "docs").as_posix(): page for page in (ROOT / "docs").rglob("*.md")}
TEXTS = {name: page for name, page in TEXTS.items() if not name.startswith(("generated", "_build"))}
FITS = 88  # characters of code that the theme shows without a scroll bar


@pytest.mark.slow
@pytest.mark.parametrize("page", pages.pages(), ids=lambda page: page.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning:sympy")
def test_a_page_prints_what_it_shows_and_makes_its_pictures(page, outcome) -> None:
    wrong, folder = outcome(page)
    assert wrong == []
    assert [name for name in pages.pictures(page) if not (folder / name).exists()] == []


def test_a_page_that_shows_something_else_is_found(tmp_path) -> None:
    page = tmp_path / "wrong.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n")
    assert "prints\n2" in pages.run(page, tmp_path)[0]
    page.write_text("```python\nprint(1 + 1)\n```\n")
    assert pages.run(page, tmp_path) != []
    assert pages.agree("residual 1e-15", "residual 3e-16")
    assert not pages.agree("residual 1e-15", "residual 1e-10")
    assert not pages.agree("1.0 2.0", "1.0")


def test_what_pages_print_can_be_filled_in(tmp_path) -> None:
    page = tmp_path / "new.md"
    page.write_text("a\n```python\nprint(1 + 1)\n```\n\n```text\n```\nb\n")
    assert pages.filled(page, tmp_path) == "a\n```python\nprint(1 + 1)\n```\n\n```text\n2\n```\nb\n"


@pytest.mark.parametrize("page", pages.pages(), ids=lambda page: page.stem)
def test_code_on_a_page_fits_beside_the_contents(page) -> None:
    assert [line for code, _ in pages.blocks(page) for line in code.splitlines() if len(line) > FITS] == []


def test_the_gallery_has_fifteen_examples_with_pictures_and_lists_them_all() -> None:
    examples = {page.stem for page in (ROOT / "docs" / "gallery").glob("*.md")} - {"index"}
    assert len(examples) >= 15
    listed = (ROOT / "docs" / "gallery" / "index.md").read_text().split()
    assert examples <= set(listed)
    assert all(pages.pictures(ROOT / "docs" / "gallery" / f"{name}.md") for name in examples)


def test_the_start_page_needs_ten_lines_to_a_plot_of_index_3() -> None:
    code, _ = pages.blocks(ROOT / "docs" / "start.md")[0]
    lines = [line for line in code.splitlines() if line.strip()]
    assert len(lines) <= 10
    assert ".plot(" in lines[-1]
    names: dict[str, object] = {}
    exec("\n".join(lines[:-2]), names)
    assert herk.regularize(names["pendulum"]).index == 3


def test_every_public_name_is_on_the_page_of_the_api() -> None:
    text = (ROOT / "docs" / "api.md").read_text()
    names = set(herk.__all__) - {"__version__", "t"}
    assert sorted(name for name in names if not re.search(rf"herk\.{name}\b", text)) == []


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_links_between_pages_lead_somewhere(name: str) -> None:
    text = TEXTS[name].read_text()
    for link in re.findall(r"\]\((?!http)([^)]+)\)", text):
        path, _, anchor = link.partition("#")
        if path.startswith(("pictures/", "../pictures/", "generated/")):
            continue  # made when the site is built
        target = (TEXTS[name].parent / path).resolve()
        assert target.exists(), link
        headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
        anchors = {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
        assert not anchor or anchor in anchors, link


@pytest.fixture(scope="module")
def said():
    return list(provoked.said())


def test_every_wrong_input_on_the_page_is_answered_by_a_known_message(said) -> None:
    known = messages.inventory().splitlines()
    assert [(line, answer) for line, answer in said if not provoked.skeletons_of(answer, known)] == []


def test_every_message_is_provoked_on_the_page_or_known_not_to_be(said) -> None:
    """A new message ends here: add a line to docs/wrong_inputs/inputs.txt that leads to it.

    What no short input can provoke goes to unprovoked.txt beside it.
    """
    known = messages.inventory().splitlines()
    answered = {text for _, answer in said for text in provoked.skeletons_of(answer, known)}
    spared = set(provoked.unprovoked())
    assert sorted(set(known) - answered - spared) == []
    assert sorted(spared - set(known)) == []
    assert len(answered) > 180


def test_a_new_message_would_be_found() -> None:
    import ast

    source = "def f(x):\n    raise InputError(f'There are {x} pigs' + ' in the garden.')"
    assert list(messages._skeletons(ast.parse(source))) == ["There are ... pigs in the garden."]
    assert sum(map(len, messages.found().values())) > 150


def test_every_reason_is_explained_on_the_page_of_messages() -> None:
    text = (ROOT / "docs" / "messages.md").read_text()
    assert [reason for reason in herk.Reason if f"**{reason.value}**" not in text] == []
