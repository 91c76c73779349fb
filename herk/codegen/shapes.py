"""Formulas that are the same but for their unknowns, parameters and numbers: one shape, many places.

The rows of a chain of a thousand rods have about five shapes. What takes time (derivatives, common
subexpressions, machine code) is done once for a shape, and costs a look-up for each of its formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import sympy as sp

from herk.codegen.block_form import is_zero
from herk.codegen.gradient import gradient

STATE, PARAMETER, NUMBER = "y", "p", "c"  # what a slot stands for
CLOCK = sp.Symbol("t", real=True)
_PLAIN = 16  # numerator and denominator up to which a number belongs to the shape
Leaf = tuple[str, int]  # a kind and a place
Reading = Callable[..., Leaf | str | None]  # (expr, whether it is a term of a sum) -> what stands there
Made = tuple["Shape", tuple[int, ...]]  # a shape and which of the slots before it keeps, in its order


@dataclass(frozen=True, eq=False)
class Shape:
    """An expression over slots; a slot is an unknown, a parameter or a number."""

    expr: sp.Expr
    kinds: tuple[str, ...]
    slots: tuple[sp.Symbol, ...]
    known: dict[Any, Any] = field(default_factory=dict, repr=False)  # what was derived from it

    @property
    def zero(self) -> bool:
        """Tell whether the expression vanishes."""
        return self.expr is sp.S.Zero

    @property
    def operations(self) -> int:
        """Return how many operations it has."""
        if "operations" not in self.known:
            self.known["operations"] = int(sp.count_ops(self.expr))
        count: int = self.known["operations"]
        return count


class Formula(NamedTuple):
    """A shape with the places of its slots: numbers of states, of parameters, or in the table of numbers."""

    shape: Shape
    at: tuple[int, ...]

    @property
    def states(self) -> list[int]:
        """Return the states that take part."""
        return [place for kind, place in zip(self.shape.kinds, self.at, strict=True) if kind == STATE]


class Catalogue:
    """All shapes of one model, and the numbers that its formulas have in their places."""

    def __init__(
        self, t: sp.Symbol, states: Sequence[sp.Symbol], parameters: Iterable[sp.Symbol] = ()
    ) -> None:
        """Begin without shapes."""
        self.symbols = {STATE: tuple(states), PARAMETER: tuple(parameters)}
        self._time = t
        self._leaves: dict[sp.Symbol, Leaf] = {
            s: (kind, i) for kind, symbols in self.symbols.items() for i, s in enumerate(symbols)
        }
        self.numbers: list[sp.Expr] = []
        self._numbered: dict[sp.Expr, int] = {}
        self._shapes: dict[tuple[str, tuple[int, ...]], Shape] = {}
        self._composed: dict[Any, Made] = {}

    def read(self, expr: sp.Expr) -> Formula:
        """Return the formula of an expression in the symbols of the model."""
        key, leaves = _canonical(expr, self._leaf)
        pattern, order = _pattern(leaves)
        shape = self._shapes.get((key, pattern))
        if shape is None:
            shape = self._new(expr, key, pattern, order, self._leaf)
        return Formula(shape, tuple(place for _, place in order))

    def key(self, expr: sp.Expr) -> str:
        """Return a text that is the same for equal expressions, in every process."""
        key, leaves = _canonical(expr, self._leaf)
        words = [str(self.numbers[place]) if kind == NUMBER else f"{kind}{place}" for kind, place in leaves]
        return f"{key}:{','.join(words)}"

    def written(self, formula: Formula) -> sp.Expr:
        """Return the expression in the symbols of the model."""
        shape = formula.shape
        values = {
            slot: self.numbers[place] if kind == NUMBER else self.symbols[kind][place]
            for slot, kind, place in zip(shape.slots, shape.kinds, formula.at, strict=True)
        }
        return shape.expr.xreplace({**values, CLOCK: self._time})

    def compose(
        self, tag: Any, parts: Sequence[Formula], make: Callable[[list[sp.Expr], Any], sp.Expr]
    ) -> Formula:
        """Return what `make` makes of the expressions of the parts, in slots of their own.

        It is called once for parts of these shapes that share their places in this way; `tag` names it. Its
        second argument are the slots of every part.
        """
        leaves = [leaf for part in parts for leaf in zip(part.shape.kinds, part.at, strict=True)]
        pattern, order = _pattern(leaves)
        key = (tag, tuple(part.shape for part in parts), pattern)
        if key not in self._composed:
            slots = _slots([kind for kind, _ in order])
            each = iter(slots[i] for i in pattern)
            own = [[next(each) for _ in part.at] for part in parts]
            exprs = [
                part.shape.expr.xreplace(dict(zip(part.shape.slots, new, strict=True)))
                for part, new in zip(parts, own, strict=True)
            ]
            self._composed[key] = self.among(make(exprs, own), slots, [kind for kind, _ in order])
        shape, chosen = self._composed[key]
        return Formula(shape, tuple(order[i][1] for i in chosen))

    def gradient(self, formula: Formula) -> dict[int, Formula]:
        """Return the derivatives with respect to states that are not zero, by state."""
        return {
            formula.at[slot]: Formula(shape, tuple(formula.at[i] for i in chosen))
            for slot, (shape, chosen) in self.slopes(formula.shape).items()
        }

    def slopes(self, shape: Shape) -> dict[int, Made]:
        """Return the derivatives of a shape with respect to its slots for states, without zeros."""
        if "slopes" not in shape.known:
            found = gradient(shape.expr)
            shape.known["slopes"] = {
                i: self.among(found[slot], shape.slots, shape.kinds)
                for i, (slot, kind) in enumerate(zip(shape.slots, shape.kinds, strict=True))
                if kind == STATE and slot in found and not is_zero(found[slot])
            }
        slopes: dict[int, Made] = shape.known["slopes"]
        return slopes

    def among(self, expr: sp.Expr, slots: Sequence[sp.Symbol], kinds: Sequence[str]) -> Made:
        """Return the shape of an expression over slots, and which of them it has."""
        leaves: dict[sp.Expr, Leaf] = {slot: (kinds[i], i) for i, slot in enumerate(slots)}

        def leaf(expr: sp.Expr, _term: bool = False) -> Leaf | str | None:
            return "t" if expr is CLOCK else leaves.get(expr)

        key, found = _canonical(expr, leaf)
        pattern, order = _pattern(found)
        shape = self._shapes.get((key, pattern)) or self._new(expr, key, pattern, order, leaf)
        return shape, tuple(place for _, place in order)

    def _leaf(self, expr: sp.Expr, term: bool = False) -> Leaf | str | None:
        """Return kind and place of a symbol or of a number that need not belong to the shape.

        Terms of sums are places of things as a rule, and all differ; factors decide what cancels.
        """
        if expr.is_Symbol:
            return self._leaves.get(expr, "t" if expr == self._time else None)
        if expr.is_Rational and (term or max(abs(expr.p), expr.q) > _PLAIN):
            if expr not in self._numbered:
                self._numbered[expr] = len(self.numbers)
                self.numbers.append(expr)
            return NUMBER, self._numbered[expr]
        return None

    def _new(
        self, expr: sp.Expr, key: str, pattern: tuple[int, ...], order: Sequence[Leaf], leaf: Reading
    ) -> Shape:
        kinds = tuple(kind for kind, _ in order)
        slots = _slots(kinds)
        rebuilt = _rebuilt(expr, dict(zip(order, slots, strict=True)), leaf)
        shape = self._shapes[key, pattern] = Shape(rebuilt, kinds, slots)
        return shape


class Written(Sequence[sp.Expr]):
    """Formulas as a column of expressions, which are written when one is asked for."""

    def __init__(self, catalogue: Catalogue, formulas: Sequence[Formula]) -> None:
        """Keep the formulas."""
        self.catalogue, self.formulas = catalogue, formulas

    @cached_property
    def matrix(self) -> sp.ImmutableDenseMatrix:
        """Return the column itself."""
        return sp.ImmutableDenseMatrix(len(self), 1, [self.catalogue.written(each) for each in self.formulas])

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.formulas)

    def __getitem__(self, at: Any) -> Any:
        """Return one expression, or several."""
        return self.matrix[at]

    def __getattr__(self, name: str) -> Any:
        """Do what the column does."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.matrix, name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled as what it stands for."""
        return sp.ImmutableDenseMatrix, (self.matrix,)


def column(rows: Sequence[sp.Expr]) -> Any:
    """Return rows as a column of sympy's; those still to be written stay so."""
    if isinstance(rows, Written):
        return rows
    return sp.ImmutableDenseMatrix(len(rows), 1, [sp.sympify(row) for row in rows])


def _slots(kinds: Sequence[str]) -> tuple[sp.Symbol, ...]:
    return tuple(sp.Symbol(f"{kind}{i}", real=True) for i, kind in enumerate(kinds))


def _pattern(leaves: Iterable[Leaf]) -> tuple[tuple[int, ...], list[Leaf]]:
    """Return which leaf is the first, second, ... different one, and these."""
    first: dict[Leaf, int] = {}
    pattern = tuple(first.setdefault(leaf, len(first)) for leaf in leaves)
    return pattern, list(first)


def _canonical(expr: sp.Basic, leaf: Reading, term: bool = False) -> tuple[str, tuple[Leaf, ...]]:
    """Return a text without places, and the places in the order of the text.

    Terms and factors are sorted by their texts, and only then by their places: the same formula in other
    unknowns gives the same text.
    """
    found = leaf(expr, term)
    if found is not None:
        return (found, ()) if isinstance(found, str) else (found[0], (found,))
    if not expr.args:
        return str(expr), ()
    if expr.is_Pow and expr.exp.is_number:
        key, leaves = _canonical(expr.base, leaf)
        return f"({key})**{expr.exp}", leaves
    parts = [_canonical(each, leaf, expr.is_Add) for each in expr.args]
    if expr.is_Add or expr.is_Mul:
        parts.sort()
    return f"{expr.func.__name__}({','.join(key for key, _ in parts)})", tuple(
        each for _, leaves in parts for each in leaves
    )


def _rebuilt(expr: sp.Basic, slots: Mapping[Leaf, sp.Symbol], leaf: Reading, term: bool = False) -> sp.Basic:
    """Return the expression with slots for its leaves; numbers in exponents stay."""
    found = leaf(expr, term)
    if found is not None:
        return CLOCK if isinstance(found, str) else slots[found]
    if not expr.args:
        return expr
    if expr.is_Pow and expr.exp.is_number:
        return _rebuilt(expr.base, slots, leaf) ** expr.exp
    return expr.func(*(_rebuilt(each, slots, leaf, expr.is_Add) for each in expr.args))
