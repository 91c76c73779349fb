"""Times at which a model shows that it is not smooth: where a condition on time alone changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import sympy as sp

from herk.codegen.equations import Equations, filled
from herk.codegen.numbers import inserted, readable
from herk.core import InputError
from herk.model.crossings import compiled
from herk.model.deciding import deciding, distances
from herk.model.periods import TooOften
from herk.model.zeros import MOST, zeros

SOME = 100  # of very many changes are looked at
BESIDE, JUMP = 1e-7, 1e-5  # of the time between two changes, and of the size of a formula
EVENLY = 0.5  # of the mean time between two changes, above which none is short


class Switching(NamedTuple):
    """A function of time and parameters whose sign decides, and the formulas by pieces in which it does."""

    function: sp.Expr
    pieces: tuple[sp.Expr, ...]


def switching_functions(system: Equations) -> tuple[Switching, ...]:
    """Return the functions of time and parameters whose changes of sign switch E or f."""
    known = {system.t, *system.parameters}
    found: dict[sp.Expr, set[sp.Expr]] = {}
    for part in (filled(system.E), system.f):
        here = {
            each for each in distances(part) if system.t in each.free_symbols and each.free_symbols <= known
        }
        for function, piece in deciding(part) if here else ():
            if function in here:
                found.setdefault(function, set()).add(piece)
        found |= {function: set() for function in here - set(found)}
    order = sp.default_sort_key
    return tuple(Switching(each, tuple(sorted(found[each], key=order))) for each in sorted(found, key=order))


def conditions(system: Equations, states: Sequence[sp.Symbol]) -> tuple[sp.Expr, ...]:
    """Return the functions of the state whose signs decide on E or f, each once whatever its sign."""
    found: list[sp.Expr] = []
    for function in sorted(
        {each for part in (filled(system.E), system.f) for each in distances(part)}, key=sp.default_sort_key
    ):
        if function.free_symbols & set(states) and not {function, -function} & set(found):
            found.append(function)
    return tuple(found)


@lru_cache(maxsize=64)
def breakpoints(
    functions: tuple[Switching, ...],
    t: sp.Symbol,
    parameters: tuple[tuple[sp.Symbol, float], ...],
    span: tuple[float, float],
    max_step: float = math.inf,
) -> tuple[float, ...]:
    """Return the zeros of these functions: all of linear ones, of others those in the span.

    One that changes its sign more often than can be met one by one is refused, unless steps are limited to
    the shortest time between two changes: then every branch is met, and the control of errors sees to it. So
    it does where formulas only bend, in branches of about the same length: every step meets many of them.
    """
    found: set[float] = set()
    for each in functions:
        function, *pieces = (inserted(formula, dict(parameters)) for formula in (each.function, *each.pieces))
        try:
            found |= set(zeros(function, t, span).tolist())
        except TooOften as too:
            if not max_step <= too.least and not _bends(function, pieces, t, span, too):
                raise too_often(_named(function), too, span) from None
    return tuple(sorted(found))


def _bends(
    function: sp.Expr, pieces: Sequence[sp.Expr], t: sp.Symbol, span: tuple[float, float], too: TooOften
) -> bool:
    """Tell whether formulas only bend where a function changes its sign, and it does so about evenly."""
    length = span[1] - span[0]
    if not pieces or too.least * too.many < EVENLY * abs(length):
        return False
    if any(each.free_symbols - {t} for each in pieces):  # of the state
        return False
    times, beside = zeros(function, t, (span[0], span[0] + length * SOME / too.many)), BESIDE * too.least
    for each in pieces:
        before, behind = (compiled(each, t)(times + side) for side in (-beside, beside))
        if not (np.abs(behind - before) <= JUMP * max(np.abs(behind).max(initial=0.0), 1.0)).all():
            return False
    return True


def too_often(what: str, too: TooOften, span: tuple[float, float]) -> InputError:
    """Return what is said where something happens too often to be met one by one."""
    return InputError(
        f"{what} about {too.many:.2g} times from t = {span[0]:g} to {span[1]:g}, and at most {MOST} times are"
        f" met one by one. Choose a shorter span, or give max_step={too.least:.2g} or less: the control of"
        " errors sees to all of them then."
    )


def _named(function: sp.Expr) -> str:
    step = isinstance(function, sp.sin) and function.args[0].has(sp.pi)
    shown = f"floor({readable(function.args[0] / sp.pi)})" if step else str(readable(function))
    return f"{shown} jumps" if step else f"{shown} changes its sign"
