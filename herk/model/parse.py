"""Texts of formulas -> sympy, by a grammar of our own: arithmetic, functions, conditions, names of the model.

Nothing is evaluated as Python. What would take sympy forever, such as 9**9**9, is refused before it is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from herk.codegen.numbers import BITS, FormulaError, affordable, bits, divided, number, power, short, usable
from herk.model.functions import FUNCTIONS, LOGIC, RELATIONS

LONGEST = 100_000  # characters of one formula
DEEPEST = 200  # operands inside operands; Python's own limit on recursion is not far above
CONSTANTS = {"pi": sp.pi}  # what they are called in texts, unless the model has that name itself
WORDS = ("and", "or", "not", "True", "False")  # they cannot be names

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>[^\W\d][\w\u0300-\u036f\u20d0-\u20ff]*)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/()<>,&|~])|(?P<end>\Z)|(?P<other>.))",
    re.DOTALL,
)
_OTHERS = {
    "^": "powers are written **, not ^",
    "=": "an equation 'a = b' is written as the formula a - b",
    "%": "the remainder of a division is written Mod(a, b)",
    '"': "there are no texts in formulas",
    "'": "there are no texts in formulas",
    "\N{MINUS SIGN}": "the sign of a difference is written -",
    "\N{MULTIPLICATION SIGN}": "products are written *",
    "\N{MIDDLE DOT}": "products are written *",
}
_RELATIONS = {"<": sp.Lt, "<=": sp.Le, ">": sp.Gt, ">=": sp.Ge, "==": sp.Eq, "!=": sp.Ne}
_OR, _AND, _NOT, _RELATION, _BAR, _AMPERSAND, _SUM, _PRODUCT, _POWER = range(1, 10)
_BINDS = {"or": _OR, "and": _AND, "|": _BAR, "&": _AMPERSAND, "+": _SUM, "-": _SUM}
_BINDS |= {"*": _PRODUCT, "/": _PRODUCT, "**": _POWER} | dict.fromkeys(_RELATIONS, _RELATION)


def parse(text: str, names: Mapping[str, sp.Symbol]) -> sp.Basic:
    """Return the formula or condition in a text; unknown names become symbols, and functions likewise."""
    if len(text) > LONGEST:
        cure = "give a long formula as a sympy expression"
        raise FormulaError(f"it has {len(text)} characters, and at most {LONGEST} are read; {cure}")
    reader = _Reader(_tokens(text), names)
    try:
        found = reader.expression(_OR)
    except RecursionError:
        raise FormulaError("it is nested too deeply") from None
    reader.expect("", "an operator, such as *, is missing before")
    if any(bits(each) > BITS for each in found.atoms(sp.Rational)):
        raise FormulaError("a number in it has too many digits")
    return found


def _tokens(text: str) -> list[tuple[str, str]]:
    """Return (kind, text) of every word; the last one is the end."""
    found = []
    for match in _TOKEN.finditer(text):
        kind, word = str(match.lastgroup), match.group(str(match.lastgroup))
        if kind == "other":
            raise FormulaError(_OTHERS.get(word, f"the character {word!r} has no meaning in a formula"))
        if kind == "name" and not word.isidentifier():
            raise FormulaError(
                f"{word!r} is not a name of letters, digits and underscores; powers are written **"
            )
        found.append((kind, word))
        if kind == "end":
            break
    return found


class _Reader:
    """Reads by precedence climbing; operators bind as in Python."""

    def __init__(self, tokens: list[tuple[str, str]], names: Mapping[str, sp.Symbol]) -> None:
        self.tokens, self.names, self.at, self.depth = tokens, names, 0, 0

    @property
    def ahead(self) -> str:
        """Return the next word, empty at the end."""
        return self.tokens[self.at][1]

    def took(self, word: str) -> bool:
        """Tell whether this word comes next, and go beyond it if it does."""
        if self.ahead != word:
            return False
        self.at += bool(word)
        return True

    def expect(self, word: str, complaint: str) -> None:
        """Go beyond this word, or complain."""
        if not self.took(word):
            raise FormulaError(f"{complaint} {self._here()}")

    def _here(self) -> str:
        return f"{self.ahead!r}" if self.ahead else "the end"

    def expression(self, least: int) -> sp.Basic:
        """Return what stands next, up to an operator that binds less tightly than `least`."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise FormulaError("it is nested too deeply")
        left = self._operand()
        while (level := _BINDS.get(self.ahead, 0)) >= least:
            if level == _SUM:
                left = self._sum(left)
            elif level == _RELATION:
                left = self._relation(left)
            else:
                left = self._pair(left, self._next(), level)
        self.depth -= 1
        return left

    def _next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def _sum(self, first: sp.Basic) -> sp.Expr:
        """Return all terms as one sum: one by one, the time would grow with their number squared."""
        terms = [_term(first)]
        while _BINDS.get(self.ahead) == _SUM:
            negative = self._next() == "-"
            term = _term(self.expression(_PRODUCT))
            terms.append(-term if negative else term)
        return usable(sp.Add(*terms))

    def _relation(self, left: sp.Basic) -> sp.Basic:
        """Return a comparison; a < b < c means both."""
        found = []
        while _BINDS.get(self.ahead) == _RELATION:
            kind = _RELATIONS[self._next()]
            right = self.expression(_BAR)
            found.append(kind(_term(left), _term(right)))
            left = right
        return sp.And(*found)

    def _pair(self, left: sp.Basic, sign: str, level: int) -> sp.Basic:
        if sign == "**":
            return power(_term(left), _term(self.expression(_POWER)))
        right = self.expression(level + 1)
        if sign in ("&", "and"):
            return sp.And(_condition(left), _condition(right))
        if sign in ("|", "or"):
            return sp.Or(_condition(left), _condition(right))
        a, b = _term(left), _term(right)
        return usable(a * b) if sign == "*" else divided(a, b)

    def _operand(self) -> sp.Basic:
        kind, word = self.tokens[self.at]
        if not word or (kind == "sign" and word not in ("~", "+", "-", "(")):
            raise FormulaError(f"a number, a name or ( is missing before {self._here()}")
        self.at += 1
        if kind == "number":
            return number(word)
        if word == "not":
            return sp.Not(_condition(self.expression(_RELATION)))
        if kind == "name":
            return self._call(word) if self.took("(") else self._name(word)
        if word == "(":
            inside = self.expression(_OR)
            self.expect(")", "a ) is missing before")
            return inside
        if word == "~":
            return sp.Not(_condition(self.expression(_POWER)))
        term = _term(self.expression(_POWER))
        return -term if word == "-" else term

    def _name(self, word: str) -> sp.Basic:
        if word in ("True", "False"):
            return sp.true if word == "True" else sp.false
        if word in self.names:
            return self.names[word]
        if word in FUNCTIONS or word == "Piecewise":
            raise FormulaError(f"the function {word} stands without its argument")
        return CONSTANTS[word] if word in CONSTANTS else sp.Symbol(word, real=True)

    def _call(self, name: str) -> sp.Basic:
        """Return a function of what stands in parentheses, the first of which has been read."""
        if name in self.names:
            cure = f"{name} alone is its value, and products need a *"
            raise FormulaError(f"{name} is a name of this model and not a function; {cure}")
        if name == "Piecewise":
            return sp.Piecewise(*self._arguments(self._piece))
        if name in LOGIC:
            return _made(name, LOGIC[name], [_condition(each) for each in self._arguments()])
        terms = [_term(each) for each in self._arguments()]
        if name in RELATIONS:
            return _made(name, RELATIONS[name], terms)
        if name not in FUNCTIONS:
            return sp.Function(name)(*terms)
        if name == "sqrt" and len(terms) == 1:
            return power(terms[0], sp.Rational(1, 2))
        affordable(name, terms)
        return usable(_made(name, FUNCTIONS[name], terms))

    def _arguments(self, one: Callable[[], Any] | None = None) -> list[Any]:
        """Return what stands between commas up to the closing parenthesis."""
        found = [one() if one else self.expression(_OR)]
        while self.took(","):
            found.append(one() if one else self.expression(_OR))
        self.expect(")", "a , or ) is missing before")
        return found

    def _piece(self) -> tuple[sp.Expr, Boolean]:
        complaint = "Piecewise takes pairs such as (value, condition); one is missing before"
        self.expect("(", complaint)
        value = _term(self.expression(_OR))
        self.expect(",", complaint)
        condition = _condition(self.expression(_OR))
        self.expect(")", "a ) is missing before")
        return value, condition


def _made(name: str, known: Any, arguments: list[Any]) -> sp.Basic:
    if not known.least <= len(arguments) <= known.most:
        count = str(known.least) if known.least == known.most else f"{known.least} to {known.most}"
        plural = "" if count == "1" else "s"
        raise FormulaError(f"{name} takes {count} argument{plural}, not {len(arguments)}")
    if name == "Rational" and not all(each.is_Rational for each in arguments):
        raise FormulaError("Rational takes whole numbers")
    return known.make(*arguments)


def _term(found: sp.Basic) -> sp.Expr:
    if isinstance(found, sp.Expr):
        return found
    cure = "conditions belong into Piecewise"
    raise FormulaError(f"the condition {short(found)} stands where a formula is expected; {cure}")


def _condition(found: sp.Basic) -> Boolean:
    if isinstance(found, (Relational, Boolean)) and not isinstance(found, sp.Symbol):
        return found
    cure = "put comparisons that are combined in parentheses"
    raise FormulaError(f"{short(found)} stands where a condition is expected; {cure}")
