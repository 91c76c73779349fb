"""Numbers in formulas: real, within the range of a double, and exact as long as that takes no time.

A decimal number is the fraction it says it is. As a binary one it would be off by a rounding error: 1e-8 and
1e8 would not multiply to one, terms that cancel on paper would leave 1e-17 behind, and a rank that hangs on
them would depend on the units the model is written in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import sympy as sp

DIGITS = 400  # characters of one number
BITS = 2**13  # of an exact number; it can still be printed
PRECISION = 30  # digits of a number that stands for an exact one
DOUBLE, LARGEST = 53, 1e308  # bits and size of what a double can hold
DECIMAL = 15  # digits up to which every decimal number comes back from a double as it was
FEW = 8  # an odd number below is all that is left of a double where others cancelled
RESIDUE = 2.0**-50  # and so much beside them
MOST_EXPONENT = 64  # denominator of an exponent beyond which it stays a decimal number
MOST_WHOLE = 10**6  # a longer whole number is shown with its first digits
MOST_ROOT = 12  # numerator or denominator of an exponent up to which roots of numbers are exact
MOST_POWER = 4096.0  # exponent of a formula; sympy makes polynomials of them
MOST_GAMMA = 170.0  # gamma beyond is too large for a double


class FormulaError(ValueError):
    """The text is not a formula; the message is a clause that says why."""


def number(word: str) -> sp.Expr:
    """Return a number as written, exactly."""
    if len(word) > DIGITS:
        raise FormulaError(f"a number has {len(word)} digits")
    value = float(word)
    if value == float("inf") or (value == 0 and re.search("[1-9]", re.split("[eE]", word)[0])):
        raise FormulaError(f"the number {word} is too {'large' if value else 'small'} for a double")
    return sp.Integer(int(word)) if word.isdigit() else sp.Rational(word)


def exact(value: float) -> sp.Rational:
    """Return the number a double stands for: the decimal it was written as, if it has up to fifteen digits.

    With more digits it is the outcome of a computation, and nothing is simpler than its own value.
    """
    word = repr(float(value))
    digits = re.sub(r"[-+.]", "", re.split("[eE]", word)[0]).strip("0")
    return sp.Rational(word if len(digits) <= DECIMAL else value)


def is_residue(value: sp.Expr, beside: Iterable[sp.Expr]) -> bool:
    """Tell whether a number is what doubles that should cancel leave: 0.1 + 0.2 - 0.3 is 2**-54.

    Few bits, a decimal nobody would write, and nothing beside the other numbers.
    """
    if not value.is_Rational or not value or value.q & (value.q - 1) or exact(float(value)) != value:
        return False
    word = repr(float(value)).split("e")[0]
    bits = abs(int(value.p)) // (abs(int(value.p)) & -abs(int(value.p)))
    largest = max((abs(number) for number in beside if number.is_Rational), default=sp.S.Zero)
    return bits < FEW and len(word) > DECIMAL and abs(value) < RESIDUE * largest


def fraction(value: sp.Float) -> sp.Rational:
    """Return the number that a float of sympy stands for: the same rule, more digits if it has more."""
    return exact(float(value)) if value._prec <= DOUBLE and abs(value) < LARGEST else sp.Rational(str(value))


def without_floats(expr: sp.Expr) -> sp.Expr:
    """Return the expression with fractions for decimal numbers; of exponents only halves, quarters, ..."""
    exponents = {e.exp for e in expr.atoms(sp.Pow) if e.exp.is_Float and fraction(e.exp).q > MOST_EXPONENT}
    return expr.xreplace({value: fraction(value) for value in expr.atoms(sp.Float) - exponents})


def readable(expr: sp.Expr) -> sp.Expr:
    """Return the expression as people read it: 1.0e-9*y rather than y/1000000000."""
    numbers = [value for value in expr.atoms(sp.Rational) if abs(value) < LARGEST]
    long = [value for value in numbers if value.q > MOST_EXPONENT or abs(value.p) > MOST_WHOLE]
    shown = {value: sp.Float(value, DECIMAL) for value in long}
    return expr.xreplace({value: short for value, short in shown.items() if short})


def inserted(expr: sp.Basic, values: Mapping[sp.Symbol, float]) -> sp.Basic:
    """Return the expression with these values for parameters; an exponent stays decimal unless simple."""
    exponents = set().union(*(e.exp.free_symbols for e in expr.atoms(sp.Pow)))
    fractions = {parameter: exact(value) for parameter, value in values.items()}
    decimal = {p for p in exponents & set(fractions) if fractions[p].q > MOST_EXPONENT}
    return expr.xreplace(fractions | {p: sp.Float(fractions[p], PRECISION) for p in decimal})


def power(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Return base**exponent if that is no monster; sympy would multiply it out."""
    if base.is_number and base.has(sp.Float):
        base = base.evalf(PRECISION)
    if exponent.is_Rational and exponent.q > MOST_EXPONENT:
        exponent = sp.Float(exponent, PRECISION)
    if exponent.is_Rational and exponent.q > 1:  # sympy would look for exact roots of whole powers
        size = max(abs(exponent.p), exponent.q)
        unwieldy = bits(base) * size > BITS or (base.is_number and size > MOST_ROOT)
        exponent = sp.Float(exponent, PRECISION) if unwieldy else exponent
    if not base.is_number and _largest(exponent) > MOST_POWER:
        raise FormulaError(f"the exponent of ({short(base)})**({short(exponent)}) is too large")
    if bits(base) * _largest(exponent) > BITS:
        # 2**(-(t/w)**2); of 2**(x + 5000) sympy would split the number off
        if base.is_positive and not any(term.is_number for term in sp.Add.make_args(exponent)):
            return sp.exp(exponent * sp.log(base).evalf(PRECISION))
        raise FormulaError(f"the power ({short(base)})**({short(exponent)}) has too many digits")
    if exponent.is_negative and base.is_zero:
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
        if value == 0 and (expr.is_Number or expr.is_Function) and not expr.is_zero:
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
