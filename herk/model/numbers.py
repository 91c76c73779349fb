"""Numbers in formulas: real, within the range of a double, and exact as long as that takes no time."""

from __future__ import annotations

import re

import sympy as sp

DIGITS = 400  # characters of one number
BITS = 2**13  # of an exact number; it can still be printed
PRECISION = 30  # digits of a number that stands for an exact one
MOST_ROOT = 12  # numerator or denominator of an exponent up to which roots of numbers are exact
MOST_POWER = 4096.0  # exponent of a formula; sympy makes polynomials of them
MOST_GAMMA = 170.0  # gamma beyond is too large for a double


class FormulaError(ValueError):
    """The text is not a formula; the message is a clause that says why."""


def number(word: str) -> sp.Expr:
    """Return a number as written: whole ones exactly, others with their digits, fifteen at least."""
    if len(word) > DIGITS:
        raise FormulaError(f"a number has {len(word)} digits")
    value = float(word)
    if value == float("inf") or (value == 0 and re.search("[1-9]", re.split("[eE]", word)[0])):
        raise FormulaError(f"the number {word} is too {'large' if value else 'small'} for a double")
    return sp.Integer(int(word)) if word.isdigit() else sp.Float(word)


def power(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Return base**exponent if that is no monster; sympy would multiply it out."""
    if base.is_number and base.has(sp.Float):
        base = base.evalf(PRECISION)
    if exponent.is_Rational and exponent.q > 1:  # sympy would look for exact roots of whole powers
        size = max(abs(exponent.p), exponent.q)
        unwieldy = bits(base) * size > BITS or (base.is_number and size > MOST_ROOT)
        exponent = sp.Float(exponent, PRECISION) if unwieldy else exponent
    if not base.is_number and _largest(exponent) > MOST_POWER:
        raise FormulaError(f"the exponent of ({short(base)})**({short(exponent)}) is too large")
    if bits(base) * _largest(exponent) > BITS:
        raise FormulaError(f"the power ({short(base)})**({short(exponent)}) has too many digits")
    if base.is_zero and exponent.is_negative:
        raise FormulaError("it divides by zero")
    return usable(base**exponent)


def divided(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    """Return a/b unless b is zero."""
    if b.is_zero:
        raise FormulaError("it divides by zero")
    return usable(a / b)


def affordable(name: str, arguments: list[sp.Expr]) -> None:
    """Refuse what sympy would work out to all digits: gamma of whole numbers, exp(k*log(n)) = n**k."""
    first = arguments[0]
    if name == "gamma" and first.is_number and abs(_double(first) or 0.0) > MOST_GAMMA:
        raise FormulaError(f"gamma({short(first)}) is too large for a double")
    if name == "exp" and first.has(sp.log) and bits(first) * _largest(first) > BITS:
        raise FormulaError(f"exp({short(first)}) has too many digits")


def usable(expr: sp.Expr) -> sp.Expr:
    """Return the expression; a number must be a real one that a double can hold."""
    if expr.is_number:
        if bits(expr) > BITS:
            raise FormulaError("a number in it has too many digits")
        value = _double(expr)
        if value is None:
            raise FormulaError(f"{short(expr)} has no finite real value")
        if value == 0 and isinstance(expr, sp.Number) and not expr.is_zero:
            raise FormulaError("a number in it is too small for a double")
    return expr


def _double(expr: sp.Expr) -> float | None:
    """Return a number as a double; None if it is not real."""
    try:
        value = expr.p / expr.q if expr.is_Rational else float(expr if expr.is_Float else expr.evalf(17))
    except OverflowError:
        value = float("inf")
    except (TypeError, ValueError):
        return None
    if abs(value) == float("inf") and expr.is_finite is not False:
        raise FormulaError("a number in it is too large for a double")
    return value if abs(value) < float("inf") else None


def bits(expr: sp.Basic) -> int:
    """Return the size of the exact numbers in an expression."""
    return sum(int(each.p).bit_length() + int(each.q).bit_length() for each in expr.atoms(sp.Rational))


def _largest(expr: sp.Basic) -> float:
    return max((abs(_double(each) or 0.0) for each in expr.atoms(sp.Number)), default=1.0)


def short(found: sp.Basic) -> str:
    """Return the text of an expression, cut where it is long."""
    text = str(found)
    return text if len(text) <= 60 else f"{text[:60]}..."
