"""What users write as equations -> formulas in functions of time that are zero.

Texts go through the parser of formulas and are never evaluated as Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import BooleanAtom

from herk.codegen.numbers import FormulaError
from herk.core import InputError
from herk.core.names import plain_name
from herk.model.parse import CONSTANTS, parse
from herk.model.plain import ordered, shown
from herk.model.written.impulses import derivative, refuse_impulses, refuse_jumps
from herk.model.written.jets import PRIME, PRIMES, Jet, jet

_EQUALS = re.compile(r"(?<![<>=!])=(?!=)")
_BEHIND_NO_NAME = re.compile(rf"(^|[^\w{PRIME}\s]|\s)\s*{PRIME}")


class Reader:
    """Reads equations; knows time, parameters, declared unknowns and what is given as a formula of time."""

    def __init__(self, t: sp.Symbol, parameters: Iterable[sp.Symbol], unknowns: Iterable[str] = ()) -> None:
        self.t = t
        self.known = {s.name: s for s in (*parameters, t)}
        self.declared = set(unknowns)
        self.given: dict[sp.Expr, sp.Expr] = {}

    def specify(self, formulas: Mapping[Any, Any]) -> None:
        """Take formulas for functions of time: wherever they occur, the formula stands instead."""
        for key, formula in formulas.items():
            which = jet(key, "specified")
            if which.order or which.name in self.known:
                raise InputError(f"specified names {which}, which is a derivative, the time or a parameter.")
            self.declared.add(which.name)
            place = f"The formula specified for {which}"
            self.given[self.function(which.name)] = self.zero(formula, place)

    def function(self, name: str) -> sp.Expr:
        """Return the unknown of this name as a function of time."""
        return sp.Function(name, real=True)(self.t)

    def zero(self, equation: Any, place: str) -> sp.Expr:
        """Return left minus right side of one equation, in functions of time, parameters and time."""
        texts = isinstance(equation, str)
        found = self._text(equation, place) if texts else _sympy(equation, place)
        found = self._functions(found, place, texts)
        if texts:
            self._refuse_constants(found, place)
        if self.given:
            found = found.subs(self.given)
            for each in found.atoms(sp.Derivative):
                refuse_jumps(each.expr, self.t, place)
            found = found.doit()
            refuse_impulses(found, place)
        return found

    def _refuse_constants(self, found: sp.Expr, place: str) -> None:
        """Refuse an unknown whose name is a number in texts: pi' would be its derivative, and pi 3.14."""
        taken = self.declared | {each.func.__name__ for each in found.atoms(AppliedUndef)}
        for name in CONSTANTS:
            if name in taken and name not in self.known:
                raise InputError(
                    f"{place} is written with {name} as an unknown, but {name} is a number in texts; give the"
                    " unknown another name."
                )

    def _text(self, text: str, place: str) -> sp.Expr:
        marked = PRIMES.sub(PRIME, text)
        if _BEHIND_NO_NAME.search(marked):
            raise InputError(
                f"{place} is {shown(text)}; a prime stands right behind a name, and the derivative of a"
                " formula is written der(x*y)."
            )
        sides = _EQUALS.split(marked)
        if len(sides) > 2:
            raise InputError(f"{place} is {shown(text)}, which has more than one =; write one equation each.")
        try:
            terms = [parse(side, self.known) for side in sides]
        except FormulaError as error:
            raise InputError(f"{place} is {shown(text)}, which is not an equation: {error}.") from None
        if not all(isinstance(term, sp.Expr) for term in terms):
            raise InputError(f"{place} is {shown(text)}, which is a condition and not an equation.")
        return terms[0] if len(terms) == 1 else sp.Add(terms[0], -terms[1])

    def _functions(self, found: sp.Expr, place: str, texts: bool) -> sp.Expr:
        """Return the formula with every unknown as a function of our time, derivatives carried out."""
        clocks = {s: self.t for s in found.free_symbols if s.name == self.t.name and s != self.t}
        found = found.xreplace(clocks) if clocks else found
        found = found.xreplace({f: self._applied(f, place) for f in _outermost(found)})
        found = found.xreplace({s: self._symbol(s, place, texts) for s in found.free_symbols})
        found = found.replace(lambda e: _is_der(e), lambda e: derivative(e.args[0], self.t, place))
        wrong = [d for d in found.atoms(sp.Derivative) if set(d.variables) != {self.t}]
        if wrong:
            raise InputError(f"{place} contains {wrong[0]}; derivatives are with respect to {self.t} alone.")
        for each in found.atoms(sp.Derivative):
            refuse_jumps(each.expr, self.t, place)
        found = found.replace(lambda e: isinstance(e, sp.Derivative), lambda e: e.doit())
        refuse_impulses(found, place)
        return found

    def _symbol(self, symbol: sp.Symbol, place: str, texts: bool) -> sp.Expr:
        """Return a parameter or the time as it is, and an unknown as a function."""
        name, order = symbol.name.rstrip(PRIME), symbol.name.count(PRIME)
        if name in self.known:
            if order:
                raise InputError(f"{place} contains {Jet(name, order)}, but {name} is not an unknown.")
            return self.known[name]
        if not texts and plain_name(name) not in self.declared:
            raise InputError(
                f"{place} contains the symbol {name}; give its value in parameters, or, if it is an unknown,"
                f" write {name}({self.t}) or name it in unknowns."
            )
        name = plain_name(name)
        return sp.diff(self.function(name), self.t, order) if order else self.function(name)

    def _applied(self, function: AppliedUndef, place: str) -> sp.Expr:
        """Return x(t) as ours; der(...) stays, and functions of anything else are refused."""
        name = function.func.__name__
        if name == "der" and len(function.args) == 1:
            inner = function.args[0]
            return sp.Function("der")(inner.xreplace({f: self._applied(f, place) for f in _outermost(inner)}))
        base, order = plain_name(name.rstrip(PRIME)), name.count(PRIME)
        if function.args != (self.t,) or base in self.known:
            as_written = str(function).replace(PRIME, "'")
            raise InputError(
                f"{place} contains {as_written}; unknowns are functions of {self.t} alone, and other"
                " functions are written as formulas."
            )
        return sp.diff(self.function(base), self.t, order) if order else self.function(base)


def flat(equations: Any) -> list[Any]:
    """Return the equations one by one; matrices and equations between matrices are taken apart."""
    found: list[Any] = []
    wanted = "The equations must be a sequence of sympy equations, formulas that are zero, or texts"
    for each in ordered(equations, wanted):
        if isinstance(each, sp.MatrixBase):
            found += list(each)
        elif isinstance(each, sp.Eq) and isinstance(each.lhs, sp.MatrixBase):
            found += list(each.lhs - each.rhs)
        else:
            found.append(each)
    if not found:
        raise InputError(f"{wanted}, not an empty one.")
    return found


def _sympy(equation: Any, place: str) -> sp.Expr:
    if isinstance(equation, sp.Eq):
        return sp.Add(equation.lhs, -equation.rhs)
    if isinstance(equation, (bool, BooleanAtom)):
        raise InputError(
            f"{place} is {equation}, a comparison and not an equation: write Eq(left, right) or a text."
        )
    if isinstance(equation, (int, float)) or not isinstance(equation, (sp.Expr, int, float)):
        try:
            return sp.sympify(equation, strict=True) + 0
        except (sp.SympifyError, TypeError):
            raise InputError(
                f"{place} is {shown(equation)}, which is not an equation: give sympy's Eq(left, right), a"
                ' formula that is zero, or a text such as "x\' = -x".'
            ) from None
    return equation


def _is_der(expr: Any) -> bool:
    return isinstance(expr, AppliedUndef) and expr.func.__name__ == "der"


def _outermost(expr: sp.Expr) -> list[AppliedUndef]:
    """Return the undefined functions that stand in no other one."""
    found, waiting = [], [expr]
    while waiting:
        each = waiting.pop()
        if isinstance(each, AppliedUndef):
            found.append(each)
        else:
            waiting += each.args
    return list(dict.fromkeys(found))


def highest(residuals: Sequence[sp.Expr]) -> dict[str, int]:
    """Return for every unknown the order of its highest derivative, unknowns as they come up."""
    orders: dict[str, int] = {}
    for residual in residuals:
        for part in sp.preorder_traversal(residual):
            if isinstance(part, AppliedUndef):
                orders.setdefault(part.func.__name__, 0)
            elif isinstance(part, sp.Derivative):
                name = part.expr.func.__name__
                orders[name] = max(orders.get(name, 0), part.derivative_count)
    return orders
