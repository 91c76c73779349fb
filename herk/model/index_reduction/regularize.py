"""Hidden constraints of E(t,y) y' = f(t,y).

Procedure 2.4 of the thesis, with ranks decided at consistent points.

Rows are kept as they are for as long as they are independent; only a row that depends on others at the
consistent points is combined with them symbolically, so that formulas stay small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from herk.core import InputError, Problem
from herk.core.dae import is_large
from herk.linalg.threads import one_thread
from herk.model.index_reduction import explain
from herk.model.index_reduction.clock import within
from herk.model.index_reduction.findings import RegularizationError, Step
from herk.model.index_reduction.search import Search
from herk.model.index_reduction.structural.elimination import UnfitError
from herk.model.index_reduction.structural.trace import Trace
from herk.model.model import Model

__all__ = ["Regularization", "RegularizationError", "Step", "by_structure", "regularize"]

BY_STRUCTURE = "Found from the structure; ranks confirmed numerically at consistent points."


@dataclass(frozen=True)
class Regularization:
    """What regularize found: constraints level by level (each reads 0 = expression).

    Parameters still symbols.

    `trace` tells for each constraint which rows were combined with which factors, and what was
    differentiated; `zeros` are places in E whose formulas vanish identically, such as sin(t)**2 + cos(t)**2 -
    1. `way` says how a large model was analysed: by its structure, or why not.
    """

    model: Model
    trace: Sequence[Step]
    index: int
    notes: tuple[str, ...] = ()
    zeros: tuple[tuple[int, int], ...] = ()
    way: str = ""

    @property
    def levels(self) -> list[list[sp.Expr]]:
        """Return the constraints of level 0, 1, ..., index - 1."""
        found: list[list[sp.Expr]] = [[] for _ in range(self.index)]
        for step in self.trace:
            found[step.level].append(step.constraint)
        return found

    @property
    def counts(self) -> list[int]:
        """Return the number of constraints of level 0, 1, ..., index - 1."""
        levels = self.trace.levels if isinstance(self.trace, Trace) else [step.level for step in self.trace]
        found = Counter(levels)
        return [found[level] for level in range(self.index)]

    @property
    def constraints(self) -> list[sp.Expr]:
        """Return all constraints in one list: g of the overdetermined form."""
        return [step.constraint for step in self.trace]

    @property
    def rows(self) -> Sequence[sp.Expr]:
        """Return the same; those of a large model are written when they are read."""
        return self.trace.written if isinstance(self.trace, Trace) else self.constraints

    @property
    def strangeness_index(self) -> int:
        """Return max(0, index - 1), the maximal constraint level (Remark 2.8)."""
        return max(0, self.index - 1)

    def explain(self) -> str:
        """Tell what was found and how, as text."""
        return explain.text(self)

    def _repr_latex_(self) -> str:
        return explain.latex(self)

    def _repr_html_(self) -> str:
        return explain.html(self)

    def __repr__(self) -> str:
        """Return one line."""
        what = f"index {self.index}, constraints per level {self.counts}"
        return f"<Regularization of {self.model.name!r}: {what}>"


def regularize(
    model: Model | Problem, *, max_index: int = 10, simplify: bool = True, time_limit: float | None = None
) -> Regularization:
    """Find the index and all constraints of a model, hidden ones included.

    Parameters
    ----------
    model : Model or Problem
        Equations as written.
    max_index : int, optional
        A higher index is refused.
    simplify : bool, optional
        False leaves the formulas of hidden constraints as they come: quicker, and longer to read.
    time_limit : float, optional
        Seconds after which the search is given up.

    Returns
    -------
    Regularization
        ``index``, ``constraints``, ``levels``; ``explain()`` tells how each was found.

    Raises
    ------
    RegularizationError
        If the model has no unique solution, or a limit was reached.

    Examples
    --------
    >>> import herk
    >>> model = herk.Model.from_equations(
    ...     "path", ["x' = v", "v' = u", "x = sin(t)"], t_span=(0, 1)
    ... )
    >>> found = herk.regularize(model)
    >>> found.index
    3
    >>> found.constraints
    [-x + sin(t), -v + cos(t), -u - sin(t)]

    """
    with within(time_limit):
        return _regularize(_written(model), max_index, simplify)


def _written(given: object) -> Model:
    """Return the model; a problem has one unless it is given by callables."""
    if isinstance(given, Problem) and given.model is None:
        raise InputError(f"Problem {given.name!r} is given by callables: there are no formulas to derive.")
    model = given.model if isinstance(given, Problem) else given
    if not isinstance(model, Model):
        raise InputError(
            f"regularize takes a herk.Model or a problem of the test set, not {type(given).__name__}."
        )
    return model


@lru_cache(maxsize=64)
def _regularize(model: Model, max_index: int, simplify: bool) -> Regularization:
    explain.refuse_absent_states(model)
    way = ""
    with one_thread(model.n):
        if is_large(model.n):
            try:
                return by_structure(model, max_index)
            except UnfitError as reason:
                way = f"Structure alone did not decide, since {reason}: Procedure 2.4 did."
        search = Search(model, simplify)
        for level in range(max_index + 1):
            if not search.advance(level):
                search.refuse_undetermined()
                search.compare_with_start()
                return Regularization(
                    model, tuple(search.steps), level, tuple(search.notes), search.zeros, way
                )
    raise RegularizationError(_too_high(model, max_index, search.steps))


def by_structure(model: Model, max_index: int = 10) -> Regularization:
    """Find the constraints from the pattern of the equations; UnfitError where that does not decide.

    `regularize` asks this first for large models.
    """
    from herk.model.index_reduction.structural.search import Search as Structural

    search = Structural(model)
    index = search.run(max_index)
    trace = Trace(search.catalogue, search.found, search.divisors)
    return Regularization(model, trace, index, search.notes(), (), BY_STRUCTURE)


def _too_high(model: Model, max_index: int, steps: Sequence[Step]) -> str:
    last = [str(step.constraint) for step in steps if step.level == max_index]
    return (
        f"The index of model {model.name!r} is above the limit of {max_index}: level {max_index} still has"
        f" the constraint 0 = {last[0]}."
    )
