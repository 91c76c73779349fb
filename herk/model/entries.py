"""Reading what users write into a model as formulas: names, expressions, matrices.

Every complaint is one sentence.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from numbers import Integral
from types import MappingProxyType
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from herk.codegen.numbers import FormulaError, without_floats
from herk.core import InputError
from herk.core.dae import is_large
from herk.model.functions import FUNCTIONS, differentiable
from herk.model.parse import WORDS, parse
from herk.model.plain import finite, ordered, shown

t = sp.Symbol("t", real=True)


def content(states: Sequence[Any], E: Any, f: Any, time: Any, parameters: Any) -> dict[str, Any]:
    """Return what was written as symbols, matrices of formulas and numbers.

    By the names of a model's attributes.
    """
    symbols = tuple(symbol(s, "state") for s in states)
    clock = symbol(time, "time")
    numbers = values(parameters)
    distinct(symbols, "states")
    distinct((*symbols, clock, *numbers), "states, time and parameters")
    names = {s.name: s for s in (*symbols, clock, *numbers)}
    n = len(symbols)
    return {
        "states": symbols,
        "E": matrix(E, n, names),
        "f": column(f, n, names),
        "t": clock,
        "parameters": numbers,
    }


def symbol(value: Any, what: str) -> sp.Symbol:
    """Return the symbol meant by a symbol or a name.

    Dummies become plain symbols, so that content keys are the same in every process.
    """
    if str(value) in WORDS:
        raise InputError(f"{value} has a meaning in formulas and cannot be the name of a {what}.")
    if isinstance(value, sp.Dummy):
        return sp.Symbol(value.name, real=True)
    if isinstance(value, sp.Symbol):
        return value
    if isinstance(value, str) and value.isidentifier():
        return sp.Symbol(value, real=True)
    raise InputError(f"Each {what} must be a sympy symbol or a name, not {value!r}.")


def distinct(symbols: Sequence[sp.Symbol], what: str) -> None:
    """Refuse two symbols of the same name."""
    twice = sorted(name for name, count in Counter(s.name for s in symbols).items() if count > 1)
    if twice:
        raise InputError(f"The names of {what} must be different; {', '.join(twice)} occurs more than once.")


def expression(value: Any, names: Mapping[str, sp.Symbol], place: str) -> sp.Expr:
    """Return one entry as a sympy expression in the known symbols; equal names mean the same symbol."""
    try:
        parsed = parse(value, names) if isinstance(value, str) else sp.sympify(value, strict=True)
    except FormulaError as error:
        raise InputError(f"{place} is {shown(value)}, which is not a formula: {error}.") from None
    except Exception as error:  # noqa: BLE001 - sympy refuses what it cannot work out in many ways
        raise InputError(
            f"{place} is {shown(value)}, which is not a formula: {type(error).__name__}, {error}."
        ) from None
    if not isinstance(parsed, sp.Expr) or parsed.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
        raise InputError(f"{place} is {shown(value)}, which is not a finite scalar formula.")
    if parsed.has(sp.I):
        raise InputError(
            f"{place} is {shown(value)}, which is complex; write real and imaginary parts as equations of"
            " their own."
        )
    _known(parsed, names, place)
    foreign = {s: names[s.name] for s in parsed.free_symbols if s is not names[s.name]}
    try:
        return differentiable(without_floats(parsed.xreplace(foreign) if foreign else parsed))
    except TypeError as error:  # numbers that are not real are compared somewhere inside
        raise InputError(f"{place} is {shown(value)}, which is not a real formula: {error}.") from None


def _known(parsed: sp.Expr, names: Mapping[str, sp.Symbol], place: str) -> None:
    """Refuse functions and symbols that nothing is known about."""
    undefined = {*parsed.atoms(AppliedUndef), *parsed.atoms(sp.Derivative)}
    if undefined:
        listed = ", ".join(sorted(map(str, undefined)))
        cure = "write functions as formulas of t and derivatives as states of their own"
        raise InputError(f"{place} contains {listed}; {_meant(undefined) or cure + '.'}")
    unknown = sorted(s.name for s in parsed.free_symbols if s.name not in names)
    if unknown:
        is_not = (
            "is not a state, the time or a parameter"
            if len(unknown) == 1
            else "are neither states nor the time nor parameters"
        )
        raise InputError(
            f"{place} contains {', '.join(unknown)}, which {is_not} of this model; give a value in parameters"
            " or add a state."
        )


def _meant(undefined: set[sp.Expr]) -> str:
    """Return a question that names a function we know, if one is spelled alike."""
    lower = {name.lower(): name for name in FUNCTIONS}
    for written in sorted(each.func.__name__ for each in undefined if isinstance(each, AppliedUndef)):
        near = difflib.get_close_matches(written.lower().replace("arc", "a"), lower, n=1, cutoff=0.75)
        if near:
            return f"did you mean {lower[near[0]]}?"
    return ""


def matrix(value: Any, n: int, names: Mapping[str, sp.Symbol]) -> sp.MatrixBase:
    """Return E as an n x n matrix, a sparse one if it is large."""
    given = _places(value, n)
    entries = {place: expression(entry, names, f"E[{place[0]},{place[1]}]") for place, entry in given.items()}
    if is_large(n):
        filled = {place: entry for place, entry in entries.items() if entry != 0}
        return sp.ImmutableSparseMatrix(n, n, filled)
    return sp.ImmutableDenseMatrix(n, n, [entries.get((i, j), sp.S.Zero) for i in range(n) for j in range(n)])


def _places(value: Any, n: int) -> dict[tuple[int, int], Any]:
    """Return what is written in E by place, zeros left out: what is large is mostly zero."""
    if isinstance(value, Mapping):
        return _listed(value, n)
    if hasattr(value, "todok") or hasattr(value, "tocoo"):  # sympy's matrices, SciPy's sparse ones
        _square(tuple(int(size) for size in value.shape), n)
        if hasattr(value, "todok"):
            return dict(sorted(value.todok().items()))
        found = value.tocoo()
        rows, columns = (places.tolist() for places in found.coords)
        return dict(zip(zip(rows, columns, strict=True), found.data.tolist(), strict=True))
    wanted = f"E must be a matrix of {n} x {n}, a sequence of rows that are sequences of numbers and formulas"
    rows = [
        ordered(row, wanted) for row in ordered(value.tolist() if hasattr(value, "tolist") else value, wanted)
    ]
    if len(rows) != n or any(len(row) != n for row in rows):
        lengths = sorted({len(row) for row in rows})
        shape = (
            f"{len(rows)} x {lengths[0]}"
            if len(lengths) == 1
            else f"ragged, with rows of {' and '.join(map(str, lengths))} entries"
        )
        raise InputError(f"E is {shape if rows else 'empty'}; for {n} states it must be {n} x {n}.")
    return {
        (i, j): entry
        for i, row in enumerate(rows)
        for j, entry in enumerate(row)
        if entry is not sp.S.Zero and not (type(entry) in (int, float) and entry == 0)
    }


def _listed(value: Mapping[Any, Any], n: int) -> dict[tuple[int, int], Any]:
    """Return the entries of a mapping {(row, column): entry}, checked."""
    for place in value:
        pair = isinstance(place, tuple) and len(place) == 2 and all(isinstance(i, Integral) for i in place)
        if not pair or not all(0 <= i < n for i in place):
            raise InputError(
                f"E has an entry at {shown(place)}; a place is (row, column), each from 0 to {n - 1}."
            )
    return {(int(i), int(j)): entry for (i, j), entry in value.items()}


def _square(shape: tuple[int, ...], n: int) -> None:
    if shape != (n, n):
        raise InputError(f"E is {shape[0]} x {shape[-1]}; for {n} states it must be {n} x {n}.")


def column(value: Any, n: int, names: Mapping[str, sp.Symbol]) -> sp.ImmutableDenseMatrix:
    """Return f as a column of n entries."""
    entries = ordered(value, f"f must be a sequence of {n} formulas")
    if len(entries) != n:
        raise InputError(f"f has {len(entries)} entries; for {n} states it must have {n}.")
    return sp.ImmutableDenseMatrix(
        n, 1, [expression(entry, names, f"f[{i}]") for i, entry in enumerate(entries)]
    )


def values(given: Mapping[Any, Any]) -> Mapping[sp.Symbol, float]:
    """Return the parameters as symbols with finite values."""
    if not isinstance(given, Mapping):
        raise InputError(f"parameters must be a mapping from symbols or names to numbers, not {given!r}.")
    missing = sorted(str(key) for key, value in given.items() if value is None)
    if missing:
        raise InputError(f"A value is missing for {', '.join(missing)} in parameters.")
    keys = [symbol(key, "parameter") for key in given]
    distinct(keys, "parameters")
    return MappingProxyType(
        {key: finite(value, f"Parameter {key}") for key, value in zip(keys, given.values(), strict=True)}
    )
