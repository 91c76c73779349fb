"""Where dg/dy of a large DAE has entries, and its values there: from a model, the user, or differences."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from herk.core import Dae, InputError
from herk.core.dae import Array
from herk.linalg.differences import differenced, guessed_sizes
from herk.linalg.pattern import Pattern
from herk.model import evaluate

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SHIFTS = (0.0, 1e-3, -2e-3)  # at the start itself derivatives may vanish by chance


def pattern_of(dae: Dae, t: float, y: Array) -> Pattern:
    """Return where dg/dy may have entries: as the DAE tells, otherwise found near this point."""
    known: dict[str, Any] = dae.__dict__
    if "_pattern" not in known:
        known["_pattern"] = _pattern(dae, t, y)
    found: Pattern = known["_pattern"]
    return found


def _pattern(dae: Dae, t: float, y: Array) -> Pattern:
    if hasattr(dae.generated, "sparse"):
        return dae.generated.sparse.patterns["jac_g"]  # type: ignore[union-attr, no-any-return]
    if dae.generated is not None:
        return Pattern.of(dae.generated.structure)
    if dae.jac_g_sparsity is not None:
        return Pattern.of(dae.jac_g_sparsity)
    found = Pattern.of(np.zeros((dae.m, dae.n)))
    random = np.random.default_rng(3).uniform(1.0, 2.0, dae.n)
    for shift in SHIFTS:
        moved = y + shift * guessed_sizes(y) * random
        with np.errstate(all="ignore"):
            slopes = _tried(dae, t, moved) if dae.jac_g is None else _given(dae, t, moved, None)
        found = found.union(Pattern.of(slopes))
    return found


def _tried(dae: Dae, t: float, y: Array) -> csr_array:
    """Return ones where a constraint changes with an unknown."""
    from scipy.sparse import coo_array, csr_array

    base, steps = evaluate.constraints(dae, t, y), 1e-5 * guessed_sizes(y)
    rows, columns = [], []
    for j in range(dae.n):
        moved = y.copy()
        moved[j] += steps[j]
        touched = np.flatnonzero(evaluate.constraints(dae, t, moved) != base)
        rows.append(touched)
        columns.append(np.full(touched.size, j))
    places = np.concatenate(rows), np.concatenate(columns)
    return csr_array(coo_array((np.ones(places[0].size), places), shape=(dae.m, dae.n)))


def sparse_jacobian(dae: Dae, t: float, y: Array) -> csr_array:
    """Return dg/dy on its pattern, by differences of groups of columns if the DAE does not bring it."""
    pattern = pattern_of(dae, t, y)
    if dae.jac_g is not None:
        return pattern.matrix(on_pattern(_given(dae, t, y, pattern), pattern))
    found: csr_array = differenced(partial(_slopes, dae, t, y, pattern), y)
    return found


def _slopes(dae: Dae, t: float, y: Array, pattern: Pattern, step: Array) -> csr_array:
    """Return dg/dy by differences of groups of columns, one-sided where the domain of g ends."""
    values = np.zeros(pattern.nnz)
    group = pattern.groups[pattern.indices]
    for number in range(pattern.groups.max(initial=-1) + 1):
        here = np.flatnonzero(group == number)
        columns = pattern.indices[here]
        try:
            change = _change(dae, t, y, np.where(pattern.groups == number, step, 0.0))[pattern.rows[here]]
        except (
            evaluate.CallableError
        ):  # one of the columns has left the domain: each may be at another end of it
            change = np.zeros(here.size)
            for column in np.unique(columns):
                own = columns == column
                moved = np.where(np.arange(dae.n) == column, step, 0.0)
                change[own] = _change(dae, t, y, moved)[pattern.rows[here][own]]
        values[here] = change / step[columns]
    return pattern.matrix(values)


def _change(dae: Dae, t: float, y: Array, moved: Array) -> Array:
    """Return how g changes with shares of this displacement."""
    return evaluate.slope(lambda share: evaluate.constraints(dae, t, y + share * moved), 1.0)


def _given(dae: Dae, t: float, y: Array, pattern: Pattern | None) -> Any:
    """Return what jac_g gives: a matrix, sparse or not, or its values on the pattern; checked."""
    assert dae.jac_g is not None
    value = evaluate.call("jac_g", dae.jac_g, t, y)
    if pattern is not None and np.shape(value) == (pattern.nnz,):
        return np.asarray(evaluate.real(value), dtype=float)
    if hasattr(value, "tocsr"):
        if value.shape == (dae.m, dae.n):
            return value.tocsr()
        value = value.toarray()
    return evaluate.shaped("jac_g", value, (dae.m, dae.n))


def on_pattern(value: Any, pattern: Pattern, name: str = "jac_g") -> Array:
    """Return the values of a matrix in the order of its pattern; say so if it has others."""
    if not hasattr(value, "tocsr") and value.ndim == 1:
        return np.asarray(value)
    try:
        return pattern.values(value)
    except KeyError as error:
        [(row, column)] = error.args
        place = f"({row}, {column})"
        if name == "jac_g":
            raise InputError(
                f"jac_g has an entry at {place}, where jac_g_sparsity has none. Add it there."
            ) from None
        raise InputError(
            f"{name} has an entry at {place}, where it had none near the start. Return a sparse {name} that"
            " stores it."
        ) from None
