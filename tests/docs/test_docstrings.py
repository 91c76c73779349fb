"""Examples in docstrings run as printed."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = ("herk.model.written.doors", "herk.circuit.circuit", "herk.core.solution")


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_print_what_they_show(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
    assert result.attempted >= 2


def test_an_example_that_shows_something_else_is_found() -> None:
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(wrong, out=lambda _: None).failed == 1
