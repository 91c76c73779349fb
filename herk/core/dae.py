"""The overdetermined DAE E(t,y) y' = f(t,y), or F(t,y,y') = 0, with 0 = g(t,y), as numbers see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from herk.core.errors import InputError

Array = NDArray[np.float64]
Function = Callable[[float, Array], Any]
LARGE = 100  # unknowns above which matrices are kept sparse


def is_large(n: int) -> bool:
    """Tell whether matrices of so many unknowns are kept sparse."""
    return n > LARGE


@dataclass(frozen=True)
class StageSource:
    """Python text of what a stage needs, for one choice of algebraic components.

    The text defines `complete` (algebraic components from g = 0, the others given), `rate` (derivatives) and
    `residual` (largest |g|). `guessed` are the algebraic components that need a start value; the first
    `predicted` of them have a derivative, which `rate` returns behind those of the differential components.
    `pivots` counts the numbers by which `complete` reports how well the choice still fits, `work` the floats
    of scratch memory it needs; `free` are the algebraic components whose derivative does not occur in E y'.
    """

    text: str
    algebraic: tuple[int, ...]
    differential: tuple[int, ...]
    guessed: tuple[int, ...]
    predicted: int
    pivots: int
    work: int
    scalar: bool
    free: tuple[int, ...] = ()


class Generated(Protocol):
    """What a DAE made from a model offers beyond callables: compiled in-place functions and stage code."""

    structure: Array

    def functions(self) -> dict[str, Callable[[float, Array, Array], None]]:
        """Return the in-place functions `name(t, y, out)` for E, f, g, jac_g.

        G_t (matrices flattened by rows).
        """

    def stage(self, algebraic: Sequence[int], *, scalar: bool) -> StageSource:
        """Return the stage code for these algebraic components."""


@dataclass(frozen=True)
class Dae:
    """E(t,y) y' = f(t,y), 0 = g(t,y) with n unknowns and m constraints, hidden ones included.

    For a system given by functions; `Model` is for one given by formulas, and finds the hidden constraints.
    The thesis writes x for y.

    Parameters
    ----------
    E : matrix or callable
        n x n, constant or a function (t, y); dense or of `scipy.sparse`.
    f : callable
        (t, y) -> n numbers; plain Python or compiled by numba.
    g : callable, optional
        (t, y) -> m numbers: all constraints, hidden ones included, independent of each other.
    n, m : int
        How many unknowns and constraints there are.
    jac_g, g_t : callable, optional
        dg/dy (m x n) and dg/dt (m numbers); finite differences stand in where they are missing.
    jac_g_sparsity : matrix, optional
        m x n, not zero where dg/dy may be; for systems with many unknowns. Then jac_g may also return its
        values there, row by row, and differences need few calls. Found by trying where it is not given.
    jac_f_sparsity : matrix, optional
        n x n, not zero where df/dy may be; for implicit methods on many unknowns. Found by trying where it is
        not given, with a few calls of f for each unknown.
    names : sequence of str, optional
        What the unknowns are called; y0, y1, ... otherwise.
    F : callable, optional
        (t, y, y') -> n numbers that are zero, instead of E and f. g then holds all constraints, hidden ones
        included; without g the system must be of index 1, and of F alone.
    jac_y, jac_yp : callable, optional
        dF/dy and dF/dy' (n x n), functions (t, y, y'); finite differences stand in where they are missing.

    Examples
    --------
    >>> import herk, numpy as np
    >>> dae = herk.Dae(
    ...     E=[[1, 0], [0, 0]], f=lambda t, y: [-y[1], 0], g=lambda t, y: [y[0] - y[1]], n=2, m=1
    ... )
    >>> sol = herk.solve_dae(dae, (0, 1), [1.0, 1.0], rtol=1e-9)
    >>> bool(abs(sol.y[0, -1] - np.exp(-1)) < 1e-8)
    True
    >>> circle = herk.Dae(F=lambda t, y, yp: [yp[0] ** 2 + y[0] ** 2 - 1], n=1)
    >>> sol = herk.solve_dae(circle, (0, 1), [0.0], yp0=[1.0], rtol=1e-9)
    >>> bool(abs(sol.y[0, -1] - np.sin(1)) < 1e-8)
    True

    """

    E: Function | Array = None  # type: ignore[assignment]  # of those given by F alone
    f: Function = None  # type: ignore[assignment]
    g: Function | None = None
    n: int = 0
    m: int = 0
    jac_g: Function | None = None
    g_t: Function | None = None
    names: tuple[str, ...] = ()
    generated: Generated | None = None
    jac_g_sparsity: Any = None
    jac_f_sparsity: Any = None
    F: Callable[[float, Array, Array], Any] | None = None
    jac_y: Callable[[float, Array, Array], Any] | None = None
    jac_yp: Callable[[float, Array, Array], Any] | None = None

    @property
    def large(self) -> bool:
        """Tell whether matrices of this size are kept sparse."""
        return is_large(self.n)

    def __post_init__(self) -> None:
        """Validate the sizes and what can be called; freeze a constant E."""
        _whole(self.n, "n", least=1)
        _whole(self.m, "m", least=0)
        if self.m > self.n:
            raise InputError(
                f"A DAE with n = {self.n} unknowns cannot have m = {self.m} independent constraints: m <= n"
                " is needed."
            )
        if self.F is not None:
            self._check_implicit()
        elif not callable(self.f):
            raise InputError("f must be a callable (t, y) -> array.")
        if self.m and not callable(self.g):
            raise InputError(
                f"m = {self.m} constraints are announced, but g is not a callable (t, y) -> array."
            )
        for name in ("jac_g", "g_t"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise InputError(
                    f"{name} must be a callable (t, y) -> array, or None for finite differences."
                )
        if self.F is None and not callable(self.E):
            object.__setattr__(self, "E", _matrix(self.E, self.n))
        for name, rows in (("jac_g_sparsity", self.m), ("jac_f_sparsity", self.n)):
            found = getattr(self, name)
            if found is not None and np.shape(found) != (rows, self.n):
                raise InputError(f"{name} has shape {np.shape(found)}; it must be {rows} x {self.n}.")
        names = tuple(self.names) or tuple(f"y{i}" for i in range(self.n))
        if len(names) != self.n:
            raise InputError(f"{len(names)} names are given for n = {self.n} unknowns.")
        object.__setattr__(self, "names", names)

    def refuse_implicit(self, caller: str) -> None:
        """Raise if the DAE is given by F, which the caller does not know of."""
        if self.F is not None:
            raise InputError(f"{caller} takes a DAE with E and f; one that is given by F goes to solve_dae.")

    def _check_implicit(self) -> None:
        if self.E is not None or self.f is not None:
            raise InputError("A DAE is given either by F, as F(t, y, y') = 0, or by E and f; not by both.")
        for name in ("F", "jac_y", "jac_yp"):
            given = getattr(self, name)
            if given is not None and not callable(given):
                raise InputError(f"{name} must be a callable (t, y, y') -> array.")


def _whole(value: object, name: str, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}.")


def _matrix(value: Any, n: int) -> Any:
    """Return E, checked: sparse if it was given so and is large."""
    if hasattr(value, "tocsr"):
        value = _by_rows(value) if is_large(n) else value.toarray()
    matrix = value if hasattr(value, "tocsr") else np.array(value, dtype=float)
    if matrix.shape != (n, n):
        raise InputError(f"E has shape {matrix.shape}; for n = {n} unknowns it must be {n} x {n}.")
    values: Any = matrix.data if hasattr(matrix, "tocsr") else matrix
    if not np.isfinite(values).all():
        raise InputError("E contains values that are not finite.")
    values.setflags(write=False)
    return matrix


def _by_rows(value: Any) -> Any:
    from scipy.sparse import csr_array

    matrix = csr_array(value, dtype=float, copy=True)
    matrix.sum_duplicates()
    matrix.sort_indices()
    return matrix
