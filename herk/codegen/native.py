"""Machine code from plain numerical Python.

Functions called from Python, or by address from what numba compiled.

LLVM turns the code of a small model into machine code in a few milliseconds; most of what a Python compiler
does, finding types, is not needed. Nothing is kept on disk: making the code again is cheaper than proving
that a stored one may be trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import count
from typing import Any

import llvmlite.binding as llvm

from herk.codegen.lower import Module
from herk.codegen.values import FLOATS, LLVM, WHOLES, External, Function
from herk.jit.compiled import quiet

LONG = 20_000  # lines of LLVM's language from which on the code is not worth the time of every optimisation
# numba passes an array as seven values
ARRAY = "ptr {0}.m, ptr {0}.p, i64 {0}.n, i64 {0}.i, ptr {0}, i64 {0}.s, i64 {0}.d"
_names = count()


class Native:
    """A function in machine code.

    `address` is what compiled code calls (numba's convention), a call in Python goes there as well.
    """

    compilations = 0

    def __init__(
        self, address: int, signature: str, keep: Any, source: Callable[[], Callable[..., Any]]
    ) -> None:
        """Remember what must live as long as the address is used."""
        self.address, self.signature, self._keep, self._source = address, signature, keep, source

    @property
    def py_func(self) -> Callable[..., Any]:
        """Return the same function in plain Python."""
        return self._source()

    def __call__(self, *arguments: Any) -> Any:
        """Call it; arrays must be contiguous."""
        return trampoline(self.signature)(self.address, *arguments)


def build(
    source: str,
    signatures: Mapping[str, str],
    constants: Mapping[str, float],
    external: Mapping[str, External],
    scope: Mapping[str, Any],
) -> dict[str, Native]:
    """Return the functions of the source that are named in `signatures` (numba's), in machine code.

    `scope` is for their Python twins.
    """
    module = Module(constants, external)
    module.add(source)
    texts, entries = [module.text()], {}
    for name in signatures:
        entries[name] = f"herk_{next(_names)}_{name}"
        texts.append(_entry(module.functions[name], entries[name]))
    engine = _compiled("\n".join(texts))

    @cache
    def plain() -> dict[str, Any]:
        space = dict(constants) | dict(scope)
        exec(compile(source, "<generated>", "exec"), space)  # noqa: S102 - our own text, made a moment ago
        return space

    return {
        name: Native(
            engine.get_function_address(entry), signatures[name], engine, partial(_looked_up, plain, name)
        )
        for name, entry in entries.items()
    }


def _looked_up(space: Callable[[], dict[str, Any]], name: str) -> Any:
    return space()[name]


def bound(
    function: Native, parameters: Any, signature: str, places: Sequence[str] = ("t", "y", "out")
) -> Native:
    """Return the function (t, y, ..., out) with these parameter values inserted before `out`.

    The array must not move.
    """
    values = parameters.ctypes.data
    given = [f"double %{name}" if name in ("t", "cj") else ARRAY.format(f"%{name}") for name in places]
    passed = list(given)
    passed.insert(
        len(passed) - 1, f"ptr null, ptr null, i64 0, i64 8, ptr inttoptr (i64 {values} to ptr), i64 0, i64 8"
    )
    body = (
        f"  %at = inttoptr i64 {function.address} to ptr\n"
        f"  %status = call i32 %at(ptr %result, ptr %raised, {', '.join(passed)})\n  ret i32 %status\n"
    )
    engine, entry = compiled_entry(f"ptr %result, ptr %raised, {', '.join(given)}", body)

    def twin() -> Callable[..., Any]:
        plain = function.py_func
        return lambda *arguments: plain(*arguments[:-1], parameters, arguments[-1])

    return Native(entry, signature, (engine, function, parameters), twin)


def compiled_entry(arguments: str, body: str, declarations: str = "") -> tuple[Any, int]:
    """Return the code of a single function in LLVM's language, and its address."""
    name = f"herk_{next(_names)}_entry"
    engine = _compiled(f"{declarations}define i32 @{name}({arguments}) {{\n{body}}}\n")
    return engine, engine.get_function_address(name)


def _entry(function: Function, name: str) -> str:
    """Return the function by which others come in: numba's convention, with the result behind a pointer."""
    given, passed = ["ptr %result", "ptr %raised"], []
    for i, kind in enumerate(function.takes):
        array = kind in (FLOATS, WHOLES)
        given.append(ARRAY.format(f"%a{i}") if array else f"{LLVM[kind]} %a{i}")
        passed.append(f"{LLVM[kind]} %a{i}")
    call = f"call {function.result} @{function.name}({', '.join(passed)})"
    body = (
        [f"  %r = {call}", f"  store {function.result} %r, ptr %result"]
        if function.returns
        else [f"  {call}"]
    )
    return "\n".join([f"define i32 @{name}({', '.join(given)}) {{", *body, "  ret i32 0", "}", ""])


def _compiled(text: str) -> Any:
    """Return the machine code of a text in LLVM's language, ready to be called."""
    Native.compilations += 1
    _initialise()
    machine = _target(1 if text.count("\n") > LONG else 2)
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    tuning = llvm.create_pipeline_tuning_options(speed_level=1 if text.count("\n") > LONG else 2)
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


@cache
def _initialise() -> None:
    import numba.core.registry

    numba.core.registry.cpu_target.target_context  # noqa: B018


def _target(level: int) -> Any:
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=level,
        jit=True,
        codemodel="jitdefault",
    )


@cache
def trampoline(signature: str) -> Any:
    """Return the compiled function (address, arguments...) that calls what stands at an address."""
    from herk.codegen import trampolines

    with quiet():
        return trampolines.BY_SIGNATURE[signature]
