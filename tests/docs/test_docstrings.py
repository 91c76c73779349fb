"""Examples in docstrings run as printed, and every public name has one."""

from __future__ import annotations

import doctest
import importlib
import inspect

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
    | {"herk.model.written.doors", "herk.circuit.circuit"}
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_print_what_they_show(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
    assert result.attempted >= 2


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example(name: str) -> None:
    assert "Examples\n--------\n>>> import herk" in (inspect.getdoc(getattr(herk, name)) or "")


def test_an_example_that_shows_something_else_is_found() -> None:
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(wrong, out=lambda _: None).failed == 1
