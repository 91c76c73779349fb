"""Machine code from plain numerical Python.

Functions called from Python, or by address from what numba compiled.

LLVM turns the code of a small model into machine code in a few milliseconds; most of what a Python compiler
does, finding types, is not needed. Nothing is kept on disk: making the code again is cheaper than proving
that a stored one may be trusted.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from itertools import count
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from herk.core import InputError
from herk.jit.lower import Module
from herk.jit.state import address_of
from herk.jit.values import (
    ENTRY,
    FLOAT,
    FLOATS,
    LLVM,
    STATE,
    TRUTH,
    WHOLE,
    WHOLES,
    Function,
    Value,
    arguments,
)

LONG = 20_000  # lines of LLVM's language from which on the code is not worth the time of every optimisation
# numba passes an array as seven values, C as two
NUMBA_ARRAY = "ptr {0}.m, ptr {0}.p, i64 {0}.size, i64 {0}.i, ptr {0}, i64 {0}.s, i64 {0}.d"
C_ARRAY = "ptr {0}, i64 {0}.size"
_names = count()


class Native:
    """A function in machine code: `entry` is called as in C, `address` as numba calls functions."""

    compilations = 0

    def __init__(
        self, address: int, entry: int, kinds: Function, keep: Any, source: Callable[[], Callable[..., Any]]
    ) -> None:
        """Remember what must live as long as the addresses are used."""
        self.address, self.entry, self.kinds, self._keep, self._source = address, entry, kinds, keep, source

    @property
    def py_func(self) -> Callable[..., Any]:
        """Return the same function in plain Python."""
        return self._source()

    @cached_property
    def called(self) -> Callable[..., Any]:
        """Return the function as Python calls it, with addresses and lengths of arrays."""
        return foreign(self.entry, self.kinds, self._keep)

    def __call__(self, *arguments: Any) -> Any:
        """Call it; arrays must be contiguous."""
        return self.called(*passed(arguments))


def passed(arguments: Sequence[Any]) -> list[Any]:
    """Return arguments as machine code takes them: an array as its address and its length."""
    found: list[Any] = []
    for each in arguments:
        if isinstance(each, np.ndarray):
            if not each.flags.c_contiguous or each.dtype.itemsize != 8:
                raise InputError("Machine code takes contiguous arrays of doubles or whole numbers.")
            found += [address_of(each), each.size]
        else:
            found.append(each)
    return found


_C: dict[str, tuple[Any, ...]] = {
    FLOAT: (ctypes.c_double,),
    WHOLE: (ctypes.c_int64,),
    TRUTH: (ctypes.c_bool,),
    STATE: (ctypes.c_void_p,),
}
_C |= {FLOATS: (ctypes.c_void_p, ctypes.c_int64), WHOLES: (ctypes.c_void_p, ctypes.c_int64)}


def foreign(entry: int, kinds: Function, keep: Any) -> Callable[..., Any]:
    """Return the function at an address as Python calls it, without the interpreter's lock.

    What it needs lives as long as it does.
    """
    result = _C[kinds.returns[0]][0] if kinds.returns else None
    takes = [each for kind in kinds.takes for each in _C[kind]]
    function: Any = ctypes.CFUNCTYPE(result, *takes)(entry)
    function.keep = keep
    return function  # type: ignore[no-any-return]


def build(
    source: str,
    names: Iterable[str],
    constants: Mapping[str, float],
    shared: Mapping[str, Any],
    scope: Mapping[str, Any],
) -> dict[str, Native]:
    """Return the named functions of a generated text in machine code.

    They may call the Python functions in `shared`; `scope` is for their Python twins.
    """
    module = Module(constants, shared)
    module.add(source)

    @cache
    def plain() -> dict[str, Any]:
        space = dict(constants) | dict(scope)
        exec(compile(source, "<generated>", "exec"), space)  # noqa: S102 - our own text, made a moment ago
        return space

    texts, entries = [module.text()], {}
    for name in names:
        own = f"herk_{next(_names)}_{name}"
        entries[name] = own
        texts += [_numba_entry(module.functions[name], f"{own}_n"), c_entry(module.functions[name], own)]
    engine = compiled("\n".join(texts))
    at = engine.get_function_address
    return {
        name: Native(
            at(f"{own}_n"), at(own), module.functions[name], engine, partial(_looked_up, plain, name)
        )
        for name, own in entries.items()
    }


class Assembled(Native):
    """An annotated Python function in machine code; other code can be compiled around `written`."""

    def __init__(self, entry: int, kinds: Function, keep: Any, written: Callable[..., Any]) -> None:
        """Remember the function."""
        super().__init__(0, entry, kinds, keep, lambda: written)
        self.written = written


def assembled(functions: Mapping[str, Callable[..., Any]]) -> dict[str, Assembled]:
    """Return annotated Python functions in machine code, compiled together and not kept on disk."""
    module = Module()
    kinds = {name: module.take(function) for name, function in functions.items()}
    entries = {name: f"herk_{next(_names)}_{name}" for name in functions}
    engine = compiled("\n".join([module.text(), *(c_entry(kinds[name], entries[name]) for name in kinds)]))
    at = engine.get_function_address
    return {name: Assembled(at(entries[name]), kinds[name], engine, functions[name]) for name in kinds}


def _looked_up(space: Callable[[], dict[str, Any]], name: str) -> Any:
    return space()[name]


def bound(function: Native, parameters: Any, places: Sequence[str] = ("t", "y", "out")) -> Native:
    """Return the function (t, y, ..., out) with these parameter values inserted before `out`.

    The array must not move.
    """
    values = address_of(parameters)
    kinds = Function("", tuple(FLOAT if name in ("t", "cj") else FLOATS for name in places), ())
    within = f"ptr inttoptr (i64 {values} to ptr)"
    texts, own = [], f"herk_{next(_names)}_bound"
    for suffix, written, called in (("_n", NUMBA_ARRAY, function.address), ("", C_ARRAY, function.entry)):
        given = [f"double %{n}" if n in ("t", "cj") else written.format(f"%{n}") for n in places]
        extra = f"ptr null, ptr null, i64 0, i64 8, {within}, i64 0, i64 8" if suffix else f"{within}, i64 0"
        result = "ptr %result, ptr %raised" if suffix else ""
        heads = [part for part in (result, *given) if part]
        inner = [part for part in (result, *given[:-1], extra, given[-1]) if part]
        back = "i32 0" if suffix else "void"
        texts.append(
            f"define {'i32' if suffix else 'void'} @{own}{suffix}({', '.join(heads)}) {{\n"
            f"  %at = inttoptr i64 {called} to ptr\n"
            f"  call {'i32' if suffix else 'void'} %at({', '.join(inner)})\n  ret {back}\n}}\n"
        )
    engine = compiled("\n".join(texts))

    def twin() -> Callable[..., Any]:
        plain = function.py_func
        return lambda *arguments: plain(*arguments[:-1], parameters, arguments[-1])

    at = engine.get_function_address
    return Native(at(f"{own}_n"), at(own), kinds, (engine, function, parameters), twin)


def c_entry(function: Function, name: str) -> str:
    """Return the function by which C and Python come in."""
    values = [Value(kind, f"%a{i}", f"%a{i}.size") for i, kind in enumerate(function.takes)]
    call = f"{function.result} @{function.name}({arguments(values)})"
    body = (
        f"  %r = call {call}\n  ret {function.result} %r"
        if function.returns
        else f"  call {call}\n  ret void"
    )
    return f"define {function.result} @{name}({arguments(values)}) {{\n{body}\n}}\n"


def _numba_entry(function: Function, name: str) -> str:
    """Return the function by which numba's code comes in, with the result behind a pointer."""
    given, values = ["ptr %result", "ptr %raised"], []
    for i, kind in enumerate(function.takes):
        given.append(NUMBA_ARRAY.format(f"%a{i}") if kind in ENTRY else f"{LLVM[kind]} %a{i}")
        values.append(Value(kind, f"%a{i}", f"%a{i}.size"))
    call = f"call {function.result} @{function.name}({arguments(values)})"
    store = [f"  %r = {call}", f"  store {function.result} %r, ptr %result"]
    body = store if function.returns else [f"  {call}"]
    return "\n".join([f"define i32 @{name}({', '.join(given)}) {{", *body, "  ret i32 0", "}", ""])


def compiled(text: str) -> Any:
    """Return the machine code of a text in LLVM's language, ready to be called."""
    Native.compilations += 1
    module, machine = _optimised(text)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


def object_code(text: str) -> bytes:
    """Return the machine code of a text in LLVM's language as it can be kept."""
    module, machine = _optimised(text)
    return bytes(machine.emit_object(module))


def engine_of(code: bytes) -> Any:
    """Return kept machine code, ready to be called."""
    _initialise()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target(2))
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def _optimised(text: str) -> tuple[Any, Any]:
    _initialise()
    level = 1 if text.count("\n") > LONG else 2
    machine = _target(level)
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    tuning = llvm.create_pipeline_tuning_options(speed_level=level)
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return module, machine


@cache
def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _target(level: int) -> Any:
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=level,
        jit=True,
        codemodel="jitdefault",
    )
