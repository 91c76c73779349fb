"""Formulas become MathML that is well formed and says the same."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from reports.mathml import mathml

x, y, pull, t = sp.symbols("x y pull t")


def tree(latex: str) -> ElementTree.Element:
    return ElementTree.fromstring(mathml(latex))


def text(latex: str) -> str:
    return "".join(tree(latex).itertext())


def test_powers_fractions_and_roots_have_their_elements():
    power = tree(sp.latex(x**2)).find(".//msup")
    assert ["".join(part.itertext()) for part in power] == ["x", "2"]
    fraction = tree(sp.latex(x / y)).find(".//mfrac")
    assert ["".join(part.itertext()) for part in fraction] == ["x", "y"]
    assert "".join(tree(sp.latex(sp.sqrt(x + y))).find(".//msqrt").itertext()) == "x+y"


def test_sub_and_superscripts_stand_in_the_order_of_mathml_whatever_the_order_of_latex():
    for latex in ("x_{1}^{2}", "x^{2}_{1}"):
        assert ["".join(part.itertext()) for part in tree(latex).find(".//msubsup")] == ["x", "1", "2"]


def test_names_of_several_letters_stay_one_name_with_a_gap_between_factors():
    names = [part.text for part in tree(sp.latex(pull * t)).iter("mi")]
    assert names == ["pull", "t"]
    assert tree(sp.latex(pull * t)).find(".//mspace") is not None


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        (sp.Symbol("lambda") * sp.Symbol("Phi_1"), "Φ1λ"),
        (sp.Symbol("lam"), "λ"),
        (sp.sin(x) ** 2, "sin2(x)"),
        (sp.Abs(x), "|x|"),
        (sp.Piecewise((x, x > 0), (0, True)), "{xforx>00otherwise"),
        (-x - y, "−x−y"),
        (sp.Matrix([[x, 1]]), "[x1]"),
    ],
)
def test_what_sympy_writes_is_read(expression, shown):
    assert text(sp.latex(expression)) == shown


def test_a_derivative_has_its_dot():
    assert text(r"\dot{x} = v") == "x˙=v"


@given(st.text(alphabet="\\{}^_&ab1 <>\"'()[]frac sqrt left right begin end cases.", max_size=40))
def test_any_text_gives_well_formed_mathml(latex):
    tree(latex)


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"]), max_size=20))
def test_no_text_becomes_markup(words):
    allowed = {
        "math",
        "mrow",
        "mi",
        "mn",
        "mo",
        "mtext",
        "mspace",
        "msup",
        "msub",
        "msubsup",
        "mfrac",
        "msqrt",
        "mroot",
        "mover",
        "mtable",
        "mtr",
        "mtd",
    }
    assert {element.tag for element in tree(words + "<script>alert(1)</script>").iter()} <= allowed
