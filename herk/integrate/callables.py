"""The user's callables as in-place functions `name(t, y, out)`: compiled by numba, or called back."""

from __future__ import annotations

import math
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from herk.codegen.thunks import Callback, Thunk, callback, with_parameters
from herk.core import Dae
from herk.core.dae import Array
from herk.jit.compiled import is_compiled
from herk.jit.pointers import FUNCTION
from herk.model.evaluate import CallableError, call, real, shapes

if TYPE_CHECKING:
    from herk.integrate.steppers.protocol import Stepper
    from herk.jit.native import Native

InPlace = Callable[[float, Array, Array], None]
NAMES = ("E", "f", "g", "jac_g", "g_t")


@dataclass(eq=False)
class Bound:
    """The five functions of a DAE as the loop calls them, by address with parameters.

    Python functions among them are called back.
    """

    natives: tuple[Native, ...] = ()
    callbacks: tuple[Callback, ...] = ()
    have_jacobian: bool = True
    have_g_t: bool = True
    n: int = 0
    checked: Callable[[float, Array], str] | None = None  # says which entry a matrix has outside its pattern

    @property
    def compiled(self) -> bool:
        """Tell whether the loop never calls Python."""
        return not self.callbacks

    @cached_property
    def given(self) -> bool:
        """Tell whether functions of the user are among them, which can raise."""
        return bool(self.callbacks or self.thunks)

    @property
    def error(self) -> BaseException | None:
        """Return what a function raised; of one that numba compiled only that it did."""
        found = next((each.error for each in self.callbacks if each.error is not None), None)
        if found is None and self.places:
            return RuntimeError("a compiled callable raised an exception")
        return found

    @property
    def places(self) -> list[tuple[float, Array]]:
        """Return times and states at which compiled functions raised."""
        return [(float(each.place[0]), each.place[1:].copy()) for each in self.thunks if each.raised]

    def outside(self, places: list[tuple[float, Array]]) -> str:
        """Return which entry a matrix has outside its pattern at one of these places; nothing if none has."""
        found = [] if self.checked is None else [self.checked(t, y) for t, y in places]
        return next(filter(None, found), "")

    @property
    def thunks(self) -> list[Thunk]:
        """Return the functions that numba compiled."""
        return [each for each in self.natives if isinstance(each, Thunk)]

    def forget(self) -> None:
        """Let functions that raised be called again."""
        for each in self.callbacks:
            each.error = None
        for thunk in self.thunks:
            thunk.forget(self.n)


def bound(dae: Dae) -> Bound:
    """Return the functions for the loop.

    A model's own code, compiled callables, and callbacks for what numba refuses.
    """
    if dae.generated is not None and hasattr(dae.generated, "code"):
        return Bound(tuple(dae.generated.code.functions[name] for name in NAMES))
    from herk.integrate.matrix_callables import full, in_full

    made = Bound(have_jacobian=dae.jac_g is not None, have_g_t=dae.g_t is not None, n=dae.n)
    natives, callbacks = [], []
    for name, shape in shapes(dae).items():
        given = getattr(dae, name)
        spread = dae.large and len(shape) == 2 and callable(given)
        compiled = in_full(given, dae) if spread else in_place_of(given)
        if isinstance(compiled, Refusal):
            called = wrapped(name, partial(full, given, dae) if spread else given, shape)
            callbacks.append(callback(called, given, dae.n, math.prod(shape), made))
            natives.append(callbacks[-1].native)
        else:
            natives.append(with_parameters(compiled))
    made.natives, made.callbacks = tuple(natives), tuple(callbacks)
    made.forget()
    return made


@dataclass
class Refusal:
    """Why numba does not compile a function."""

    reason: str


_compiled: dict[tuple[Any, ...], InPlace | Refusal] = {}
# Closures of one text that are compiled: numba never frees the megabytes each of them takes. Later ones are
# called back.
MOST_CLOSURES = 16
_closures: Counter[Any] = Counter()


def in_place_of(function: Any) -> InPlace | Refusal:
    """Return the compiled in-place function; with the same captured values it is compiled once a process."""
    if not callable(function):
        function = _absent
    try:
        key = (function, *captured(function))
        if key in _compiled:
            return _compiled[key]
    except TypeError:  # an object that cannot be hashed is no function
        return Refusal(f"{type(function).__name__} objects are not functions")
    text = None if is_compiled(function) else getattr(function, "__code__", None)
    if _closures[text] >= MOST_CLOSURES:
        return Refusal(f"{MOST_CLOSURES} functions of this text were compiled already")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # advice of numba on the user's code
            _compiled[key] = _in_place(function)
        _closures[text] += text is not None
    except Exception as error:  # noqa: BLE001 - numba refuses in many ways; the function is called back then
        lines = str(error).strip().splitlines()
        _compiled[key] = Refusal(lines[0] if lines else type(error).__name__)
    return _compiled[key]


def _in_place(function: Any) -> InPlace:
    """Compile; divisions by zero give IEEE values.

    So that a step beyond the domain of a function is shortened, not raised.
    """
    import numba

    if function is _absent:
        return numba.njit(FUNCTION)(_absent)  # type: ignore[no-any-return]
    inner = function if is_compiled(function) else numba.njit(error_model="numpy")(function)

    @numba.njit(FUNCTION, error_model="numpy")
    def in_place(t, y, out):  # type: ignore[no-untyped-def]
        found = np.asarray(inner(t, y.copy())).ravel()  # it may spoil y
        if found.size != out.size:  # one number would be taken for all
            raise ValueError("the values of a callable are not as many as at the start")
        out[:] = found

    return in_place  # type: ignore[no-any-return]


def _absent(t: float, y: Array, out: Array) -> None:  # noqa: ARG001
    """Stand where a function is not given; never called."""
    out[:] = np.nan


def captured(function: Any, depth: int = 0) -> tuple[Any, ...]:
    """Return the values a function takes from outside.

    Numba freezes them, so a changed value means another compilation.
    """
    plain = getattr(function, "py_func", function)
    if depth > 3 or not isinstance(plain, types.FunctionType):
        return ()
    names = sorted(set(_names(plain.__code__)))
    outside = {name: plain.__globals__[name] for name in names if name in plain.__globals__}
    for name, cell in zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True):
        try:
            outside[name] = cell.cell_contents
        except ValueError:  # not set yet
            continue
    for module in [
        value for value in outside.values() if isinstance(value, types.ModuleType) and value is not np
    ]:
        outside |= {
            f"{module.__name__}.{name}": getattr(module, name) for name in names if hasattr(module, name)
        }
    return tuple(
        (name, *_mark(value, depth)) for name, value in sorted(outside.items(), key=lambda pair: pair[0])
    )


def _names(code: types.CodeType) -> Iterator[str]:
    """Yield the names a function uses, those of its comprehensions and inner functions included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _mark(value: Any, depth: int) -> tuple[Any, ...]:
    """Return something that changes if the value does; 1, 1.0 and True are different values to a compiler."""
    if isinstance(value, (bool, int, float, complex, str, np.generic)):
        return type(value).__name__, repr(value)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (tuple, list)):
        return type(value).__name__, *(_mark(each, depth) for each in value)
    if isinstance(value, types.FunctionType) or is_compiled(value):
        return value, *captured(value, depth + 1)
    return (type(value).__name__,)


def wrapped(name: str, function: Any, shape: tuple[int, ...]) -> InPlace:
    """Return the in-place function in plain Python; what it gives must have this shape at every call.

    What arithmetic refuses is not a number, as in compiled code.
    """
    if not callable(function):
        return _absent

    def in_place(t: float, y: Array, out: Array) -> None:
        try:
            value = call(name, function, float(t), y)
            found = np.asarray(value)
            if found.shape != shape:
                found = _full(name, value, shape, t, y)
            out[:] = (real(found) if found.dtype.kind == "c" else found).ravel()
        except CallableError as error:
            if not _outside_domain(error.__cause__):
                raise
            out[:] = np.nan

    return in_place


def _full(name: str, value: Any, shape: tuple[int, ...], t: float, y: Array) -> Array:
    """Return a sparse matrix as a full one; what has another shape is refused."""
    full: Array = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if full.shape == shape and value is not None:
        return full
    what = "None" if value is None else f"an array of shape {full.shape}"
    raise CallableError(
        f"{name}(t, y) returned {what} at t = {t!r}, y = {y.tolist()}; shape {shape} is needed everywhere."
    )


def _outside_domain(error: BaseException | None) -> bool:
    return isinstance(error, ArithmeticError) or (
        isinstance(error, ValueError) and str(error) == "math domain error"
    )


def raised_again(machine: Stepper, places: Sequence[tuple[float, Array]]) -> CallableError | None:
    """Call the user's functions in plain Python where compiled code raised.

    The error then has a name, t, y and a traceback.
    """
    dae = machine.dae
    for t, y in [*places, *machine.places()]:
        for name, shape in shapes(dae).items():
            function = getattr(dae, name)
            if callable(function):
                try:
                    value = call(name, getattr(function, "py_func", function), t, y)
                    if len(shape) == 1 or not dae.large:
                        value = value if np.shape(value) == shape else _full(name, value, shape, t, y)
                except CallableError as found:
                    return found
    return None
