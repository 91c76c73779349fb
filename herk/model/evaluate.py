"""The functions of a DAE at one point, checked.

What raises, has a wrong shape or is not finite is said with its name, t and y.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from herk.core import Dae, HerkError, InputError, Problem
from herk.core.dae import Array
from herk.linalg.balance import sizes
from herk.linalg.differences import beyond_rounding, differenced, time_size, time_step

DERIVATIVES = 1e18  # times larger than y may y' be: a nanosecond, and a value that is small by chance


class CallableError(HerkError):
    """A user's function raised an exception; the message says where, the cause is the exception itself."""

    def report(self) -> str:
        """Return the message with the traceback of the cause."""
        cause = self.__cause__
        if cause is None:
            return str(self)
        inside = (
            cause.__traceback__.tb_next if cause.__traceback__ else None
        )  # begins in the user's function, not in ours
        return f"{self}\n{''.join(traceback.format_exception(type(cause), cause, inside))}".rstrip()


@dataclass(frozen=True)
class Linearisation:
    """E, f, g and the derivatives of g at one point, as arrays; E and dg/dy of a large DAE are sparse.

    `f_size` are the sizes of the terms of f, `y_size` of y, which take longer to find and are mostly not
    asked for; `measured` finds them.
    """

    E: Any
    f: Array
    g: Array
    jac: Any
    g_t: Array
    measured: Callable[[], tuple[Array, Array]] | None = None

    @cached_property
    def _sizes(self) -> tuple[Array, Array]:
        return (np.abs(self.f), np.ones(len(self.f))) if self.measured is None else self.measured()

    @property
    def f_size(self) -> Array:
        """Return the sizes of the terms of f."""
        return self._sizes[0]

    @property
    def y_size(self) -> Array:
        """Return the sizes of the unknowns."""
        return self._sizes[1]

    @property
    def sparse(self) -> bool:
        """Tell whether the matrices are sparse."""
        return hasattr(self.jac, "tocsr")

    def dense(self) -> Linearisation:
        """Return the same with full matrices."""
        return replace(self, E=self.E.toarray(), jac=self.jac.toarray()) if self.sparse else self


def located(system: Any, t: float | None, y: Any, caller: str) -> tuple[Dae, float, Any]:
    """Return DAE, time and state from a Dae, a Model or a Problem.

    What the call names wins over what they bring.
    """
    if isinstance(system, Dae):
        system.refuse_implicit(caller)
        dae = system
    elif isinstance(system, Problem):
        dae = system.dae
    elif hasattr(system, "form"):
        dae = system.form("overdetermined")
    else:
        raise InputError(
            f"{caller} takes a herk.Dae, a herk.Model or a problem of the test set, not"
            f" {type(system).__name__}."
        )
    if t is None and getattr(system, "t_span", None) is not None:
        t = system.t_span[0]
    if y is None:
        y = getattr(system, "y0", None)
    if t is None or y is None:
        raise InputError(f"A herk.Dae has no start: call {caller}(dae, t0, y0).")
    return dae, float(t), y


def call(name: str, function: Callable[[float, Array], Any], t: float, y: Array) -> Any:
    """Call a user's function, on a copy of y that it may spoil."""
    try:
        return function(t, y.copy())
    except HerkError:
        raise
    except Exception as error:
        what = getattr(function, "called", f"{name}(t, y)")
        raise CallableError(
            f"{what} raised {type(error).__name__}: {error} at t = {t!r}, y = {y.tolist()}."
        ) from error


def real(value: Any) -> Any:
    """Return what a function answered, complex numbers (Python's answer to (-1)**0.5) as nan.

    Which is what compiled code gives.
    """
    array = np.asarray(value)
    return np.where(array.imag == 0, array.real, np.nan) if array.dtype.kind == "c" else value


def evaluate(
    name: str, function: Callable[[float, Array], Any], t: float, y: Array, shape: tuple[int, ...]
) -> Array:
    """Call a user's function and check that it returns numbers in the right shape."""
    return shaped(name, call(name, function, t, y), shape)


def shaped(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """Return what a user's function gave as an array, if it is one of numbers in the right shape."""
    try:
        array: Array = np.array(() if value is None else real(value), dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{name}(t, y) returned {type(value).__name__}, which is not an array of numbers."
        ) from None
    if array.shape != shape or value is None:
        found = "None" if value is None else f"an array of shape {array.shape}"
        raise InputError(f"{name}(t, y) returned {found}; shape {shape} is needed.")
    return array


def shapes(dae: Dae) -> dict[str, tuple[int, ...]]:
    """Return the shape of what each function has to return."""
    return {"E": (dae.n, dae.n), "f": (dae.n,), "g": (dae.m,), "jac_g": (dae.m, dae.n), "g_t": (dae.m,)}


def linearise(
    dae: Dae, t: float, y: Array, t_end: float | None = None, floor: Array | None = None
) -> Linearisation:
    """Evaluate everything at (t, y); missing derivatives by differences, in t as the span allows.

    In unknowns by steps that are felt: `floor` are the sizes below which they do not matter.
    """
    if dae.large:
        from herk.model.large import linearised

        return linearised(dae, t, y, t_end, floor)
    values = {
        "E": matrix(dae, t, y), "f": evaluate("f", dae.f, t, y, (dae.n,)), "g": constraints(dae, t, y),
        "jac_g": jacobian(dae, t, y, floor), "g_t": time_derivative(dae, t, y, t_end),
    }  # fmt: skip
    return at_point(dae, t, y, values, floor)


def at_point(
    dae: Dae, t: float, y: Array, values: Mapping[str, Any], floor: Array | None = None
) -> Linearisation:
    """Return these values at (t, y) as one, once they are known to be finite."""
    check_finite(values, t, y)
    here = y.copy()

    def measured() -> tuple[Array, Array]:
        y_size = sizes(values["jac_g"], here, floor)
        return size_of_f(dae, t, here, values["f"], y_size), y_size

    return Linearisation(values["E"], values["f"], values["g"], values["jac_g"], values["g_t"], measured)


def check_finite(values: Mapping[str, Any], t: float, y: Array) -> None:
    """Say so if a value of a function is not finite."""
    for name, value in values.items():
        if not np.isfinite(value.data if hasattr(value, "tocsr") else value).all():
            raise InputError(f"{name}(t, y) is not finite at t = {t!r}, y = {y.tolist()}.")


def size_of_f(dae: Dae, t: float, y: Array, f: Array, sizes_of_y: Array) -> Array:
    """Return how large the terms of f are.

    How much f changes if y changes by its size, in three directions.
    """
    size = np.abs(f)
    signs = np.random.default_rng(5).choice([-1.0, 1.0], (3, dae.n))
    for sign in signs:
        try:
            with np.errstate(all="ignore"):
                moved = evaluate("f", dae.f, t, y + 1e-6 * sign * sizes_of_y, (dae.n,))
        except CallableError:  # the domain of f may end here
            continue
        change = np.abs(moved - f) * 1e6
        size = np.where(np.isfinite(change), np.maximum(size, change), size)
    return size


def matrix(dae: Dae, t: float, y: Array) -> Array:
    """Return E at (t, y)."""
    if callable(dae.E):
        value = call("E", dae.E, t, y)
        return shaped("E", value.toarray() if hasattr(value, "tocsr") else value, (dae.n, dae.n))
    given: Any = dae.E
    return np.array(given.toarray() if hasattr(given, "tocsr") else given)


def occupied(dae: Dae, t_span: tuple[float, float], y: Array, size: Array, E: Array) -> NDArray[np.bool_]:
    """Return which entries of E are not zero, at the start or close to it: sin(t) may vanish there."""
    filled: NDArray[np.bool_] = E != 0.0
    if not callable(dae.E) or getattr(dae.generated, "constant_E", False):
        return filled
    t0, t1 = t_span
    for share in (1e-3, 2.3e-3):
        moved = y + share * size * np.linspace(1.0, 2.0, dae.n)
        try:
            with np.errstate(all="ignore"):
                filled |= np.nan_to_num(matrix(dae, t0 + share * (t1 - t0), moved)) != 0.0
        except HerkError:  # outside the domain of E
            continue
    return filled


def constraints(dae: Dae, t: float, y: Array) -> Array:
    """Return g(t, y), an empty vector if there is none."""
    return evaluate("g", dae.g, t, y, (dae.m,)) if dae.g is not None and dae.m else np.zeros(0)


def jacobian(dae: Dae, t: float, y: Array, floor: Array | None = None) -> Array:
    """Return dg/dy, by central differences if the DAE does not bring it."""
    if dae.large:
        from herk.model.jacobian_pattern import sparse_jacobian

        return sparse_jacobian(dae, t, y).toarray()  # type: ignore[no-any-return]
    if dae.jac_g is not None:
        return evaluate("jac_g", dae.jac_g, t, y, (dae.m, dae.n))
    if not dae.m:
        return np.zeros((0, dae.n))
    by_steps = partial(slopes, dae, t, y)
    larger = DERIVATIVES if getattr(dae, "known", dae.n) < dae.n else 1.0
    value = partial(constraints, dae, t, y)
    return beyond_rounding(by_steps, y, value, differenced(by_steps, y), larger, floor)


def slopes(dae: Dae, t: float, y: Array, steps: Array) -> Array:
    """Return dg/dy by central differences of these lengths."""
    columns = [slope(partial(_shifted, dae, t, y, j), steps[j]) for j in range(dae.n)]
    return np.array(columns).T


def _shifted(dae: Dae, t: float, y: Array, j: int, shift: float) -> Array:
    point = y.copy()
    point[j] += shift
    return constraints(dae, t, point)


def time_derivative(dae: Dae, t: float, y: Array, t_end: float | None = None) -> Array:
    """Return dg/dt, by a central difference if the DAE does not bring it; a span tells in which step."""
    if not dae.m:
        return np.zeros(0)
    if dae.g_t is not None:
        return evaluate("g_t", dae.g_t, t, y, (dae.m,))
    size = abs(t) or 1.0 if t_end is None else time_size(t, t_end)
    return slope(lambda shift: constraints(dae, t + shift, y), time_step(t, size))


def slope(function: Callable[[float], Array], step: float) -> Array:
    """Return the derivative at 0 by a central difference.

    By a one-sided one in those rows where the domain of the function ends.
    """
    found: Array | None = None
    for low, high in ((-step, step), (0.0, step), (-step, 0.0)):
        try:
            with np.errstate(all="ignore"):
                here = (function(high) - function(low)) / (high - low)
        except CallableError:
            if high == 0.0 and found is None:
                raise
            continue
        found = here if found is None else np.where(np.isfinite(found), found, here)
        if np.isfinite(found).all():
            break
    assert found is not None
    return found
