"""Examples in docstrings run as printed, and every public name has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re

import pytest

import herk

# Constants, and modules with pages of their own
WITHOUT = {"__version__", "circuit", "thesis", "t"}
PUBLIC = sorted(set(herk.__all__) - WITHOUT)
MODULES = sorted(
    {
        inspect.getmodule(
            getattr(herk, name) if callable(getattr(herk, name)) else type(getattr(herk, name))
        ).__name__
        for name in PUBLIC
    }
    | {
        "herk.model.written.doors",
        "herk.circuit.circuit",
        "herk.parameters.ensemble",
        "herk.parameters.fitted",
    }
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_print_what_they_show(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
    assert result.attempted >= 2


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example(name: str) -> None:
    assert "Examples\n--------\n>>> import herk" in (inspect.getdoc(getattr(herk, name)) or "")


# Methods that people call, beside the public names themselves
METHODS = {
    herk.Model: (
        "from_equations",
        "from_lagrange",
        "from_kane",
        "with_parameters",
        "with_start",
        "with_span",
        "form",
    ),
    herk.Solution: ("dyd", "plot", "animate", "summary", "to_pandas"),
}
CALLED = [(getattr(herk, name), name) for name in PUBLIC if inspect.isfunction(getattr(herk, name))]
CALLED += [
    (getattr(owner, name), f"{owner.__name__}.{name}") for owner, names in METHODS.items() for name in names
]


@pytest.mark.parametrize(("function", "name"), CALLED, ids=[name for _, name in CALLED])
def test_every_argument_is_described_in_numpys_manner(function, name: str) -> None:
    text = inspect.getdoc(function) or ""
    assert "Examples\n--------\n>>> import herk" in text
    wanted = [each for each in inspect.signature(function).parameters if each not in ("self", "cls")]
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    described = section[1] if section else ""
    short = name in ("Model.with_parameters", "Model.with_start", "Model.with_span")  # one sentence says it
    assert short or [each for each in wanted if not re.search(rf"\b{each}\b", described)] == []


def test_an_example_that_shows_something_else_is_found() -> None:
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(wrong, out=lambda _: None).failed == 1
