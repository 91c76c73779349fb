"""The methods by name: every file in `coefficients/` is one, read when it is first asked for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from herk.core import InputError, nearest
from herk.core.dae import Array
from herk.integrate.steppers.half_explicit.tableau import Tableau

FOLDER = Path(__file__).parent / "coefficients"
SURD = re.compile(r"(?P<rational>[^ ]+) (?P<sign>[+-]) (?P<factor>[^ *]+)\*sqrt\((?P<radicand>\d+)\)")
DIGITS = Context(prec=60)


class Number(NamedTuple):
    """A coefficient without rounding: rational + factor sqrt(radicand)."""

    rational: Fraction
    factor: Fraction = Fraction(0)
    radicand: int = 0

    def __float__(self) -> float:
        """Return the nearest float."""
        if not self.factor:
            return float(self.rational)
        rational, factor = (
            DIGITS.divide(Decimal(q.numerator), Decimal(q.denominator)) for q in (self.rational, self.factor)
        )
        return float(DIGITS.fma(factor, DIGITS.sqrt(Decimal(self.radicand)), rational))


class Coefficients(NamedTuple):
    """A file of coefficients as exact numbers, rows filled up with zeros.

    The entries are those of Tableau.
    """

    A: list[list[Number]]
    b: list[Number]
    c: list[Number]
    error: list[list[Number]]
    dense_A: list[list[Number]]
    dense_c: list[Number]
    dense_P: list[list[Number]]


class Methods(Mapping[str, Tableau]):
    """Name to tableau; iterating reads no file, an entry is read once.

    Examples
    --------
    >>> import herk
    >>> herk.METHODS["dop853"].order
    8

    """

    def __getitem__(self, name: str) -> Tableau:
        """Return the tableau of this name."""
        if name not in self:
            raise KeyError(name)
        return _tableau(name)

    def __contains__(self, name: object) -> bool:
        """Tell whether there is a method of this name, without reading it."""
        return name in _names()

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, sorted."""
        return iter(_names())

    def __len__(self) -> int:
        """Count the methods."""
        return len(_names())


METHODS: Mapping[str, Tableau] = Methods()


def get(method: str | Tableau) -> Tableau:
    """Return the method of this name, or the tableau itself if one is given."""
    if isinstance(method, Tableau):
        return method
    if not isinstance(method, str) or method not in METHODS:
        raise nearest(method, METHODS, "method")
    return METHODS[method]


def exact(name: str) -> Coefficients:
    """Return the coefficients of a method before rounding."""
    if name not in METHODS:
        raise nearest(name, METHODS, "method")
    return _coefficients(_table(name))


def number(text: str) -> Number:
    """Read "3", "-19/7", ".25e-1" or "1/3 - 5/6*sqrt(6)" without rounding."""
    surd = SURD.fullmatch(text)
    try:
        if surd is None:
            return Number(Fraction(text))
        return Number(
            Fraction(surd["rational"]), Fraction(surd["sign"] + surd["factor"]), int(surd["radicand"])
        )
    except (ValueError, ZeroDivisionError):
        raise InputError(
            f"{text!r} is not a coefficient; write a decimal, 'p/q' or 'p/q + r/s*sqrt(d)'."
        ) from None


@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def _coefficients(table: dict[str, Any]) -> Coefficients:
    error, dense = table.get("error", {}), table.get("dense", {})
    s, further, powers = (
        len(table["b"]),
        len(dense.get("c", [])),
        max(map(len, dense.get("P", [])), default=0),
    )
    return Coefficients(
        A=_rows(table["A"], s, s),
        b=_row(table["b"], s),
        c=_row(table["c"], s),
        error=[_row(weights, len(weights)) for weights in error.get("weights", [])],
        dense_A=_rows(dense.get("A", []), further, s + 1 + further),
        dense_c=_row(dense.get("c", []), further),
        dense_P=_rows(dense.get("P", []), s + 1 + further, powers) if dense else [],
    )


def _rows(texts: list[list[str]], count: int, length: int) -> list[list[Number]]:
    return [_row(row, length) for row in texts + [[]] * (count - len(texts))]


def _row(texts: list[str], length: int) -> list[Number]:
    return [number(text) for text in texts] + [Number(Fraction(0))] * (length - len(texts))


@cache
def _tableau(name: str) -> Tableau:
    table = _table(name)
    entries = _coefficients(table)
    return Tableau(
        name=name,
        order=table["order"],
        A=_floats(entries.A),
        b=_floats(entries.b),
        c=_floats(entries.c),
        error=tuple(_floats(weights) for weights in entries.error),
        error_order=table.get("error", {}).get("order", 0),
        dense_A=_floats(entries.dense_A),
        dense_c=_floats(entries.dense_c),
        dense_P=_floats(entries.dense_P) if entries.dense_P else None,
        dense_order=table.get("dense", {}).get("order", 0),
        dense_B=_floats([_bernstein(row) for row in entries.dense_P]) if entries.dense_P else None,
        source=table["source"],
    )


def _bernstein(powers: list[Number]) -> list[Number]:
    """Change the basis before rounding.

    The powers cancel, and their rounded coefficients would spoil the result.
    """
    degree, radicand = len(powers), max(p.radicand for p in powers)
    columns = [
        [(Fraction(comb(i, j), comb(degree, j)), powers[j - 1]) for j in range(1, i + 1)]
        for i in range(degree + 1)
    ]
    return [
        Number(
            sum((w * p.rational for w, p in c), Fraction(0)),
            sum((w * p.factor for w, p in c), Fraction(0)),
            radicand,
        )
        for c in columns
    ]


def _floats(numbers: Any) -> Array:
    if numbers and isinstance(numbers[0], list):
        return np.array([[float(each) for each in row] for row in numbers])
    return np.array([float(each) for each in numbers])
