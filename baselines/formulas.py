"""Equations of a form as text in another language: what a rival that is not called from Python is given.

Parameters are numbers already. Common subexpressions are computed once, as our own compiled functions do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from baselines.adapter import Rival
from herk.core import Problem

Printer = Callable[[Any], str]


@dataclass(frozen=True)
class Written:
    """E(t, z) z' = f(t, z) in sympy, unknowns in the order asked for."""

    t: Any
    states: tuple[Any, ...]
    E: Any
    f: Any

    @property
    def rates(self) -> tuple[Any, ...]:
        """Return symbols of the derivatives."""
        import sympy as sp

        return tuple(sp.Symbol(f"rate_{j}") for j in range(len(self.states)))

    def residual(self) -> list[Any]:
        """Return F = E z' - f."""
        import sympy as sp

        return list(self.E * sp.Matrix(self.rates) - self.f)

    def jacobian(self, by: Sequence[Any]) -> list[list[Any]]:
        """Return the derivatives of F by these symbols, row by row."""
        return [[row.diff(symbol) for symbol in by] for row in self.residual()]


def written(form: Any, order: Sequence[int] | None = None) -> Written:
    """Return the equations of a form with every parameter a number."""
    system = form.generated.equations()
    places = list(range(system.n)) if order is None else list(order)
    return Written(
        system.t,
        tuple(system.states[j] for j in places),
        system.E.extract(list(range(system.n)), places),
        system.f,
    )


def statements(
    values: Sequence[Any], names: dict[Any, str], show: Printer, assign: str = "{} = {};"
) -> tuple[list[str], list[str]]:
    """Return lines that compute what several values share, and the values in terms of it.

    `names` says what symbols are called there, for instance z(1); `assign` how a name gets its value.
    """
    import sympy as sp

    shared, reduced = sp.cse(list(values), symbols=sp.numbered_symbols("common_"))
    called = {symbol: sp.Symbol(name) for symbol, name in names.items()}
    lines = [assign.format(name, show(value.xreplace(called))) for name, value in shared]
    return lines, [show(sp.sympify(value).xreplace(called)) for value in reduced]


def plain(value: Any, functions: Mapping[str, str], power: str = "pow({}, {})") -> str:
    """Return a formula in + * / and functions, numbers as decimals: what every small language understands."""
    if value.is_Symbol:
        return str(value)
    if value.is_number:
        return f"({float(value)!r})"
    parts = [plain(each, functions, power) for each in value.args]
    if value.is_Add or value.is_Mul:
        return "(" + (" + " if value.is_Add else " * ").join(parts) + ")"
    if value.is_Pow:
        return _power(parts[0], value.exp, power.format(*parts))
    name = type(value).__name__
    return f"{functions.get(name, name)}({', '.join(parts)})"


def _power(base: str, exponent: Any, general: str) -> str:
    if exponent.is_Integer and 0 < abs(int(exponent)) <= 4:
        product = " * ".join([base] * abs(int(exponent)))
        return f"({product})" if exponent > 0 else f"(1.0 / ({product}))"
    if exponent.is_number and abs(exponent) == 0.5:
        return f"sqrt({base})" if exponent > 0 else f"(1.0 / sqrt({base}))"
    return general


def _by_pieces(matrix: Any) -> bool:
    import sympy as sp

    return bool(matrix.has(sp.Piecewise))


class FromFormulas(Rival):
    """A rival that is handed formulas, not functions."""

    pieces_written = True  # whether its language can say Piecewise

    def supports(self, problem: Problem, form: str) -> tuple[bool, str]:
        """Refuse problems without formulas, and formulas by pieces where the language cannot say them."""
        if problem.model is None:
            given = f"problem {problem.name!r} is given by callables"
            return False, f"{given}; {self.name} is handed the formulas of a model"
        if not self.pieces_written and any(_by_pieces(part) for part in (problem.model.E, problem.model.f)):
            return (
                False,
                f"problem {problem.name!r} has formulas by pieces, which {self.name} cannot be given",
            )
        return super().supports(problem, form)
