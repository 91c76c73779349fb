"""Calls in LLVM's language: functions of the same code, of the C library, and functions by address."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from herk.core import InputError
from herk.jit.by_address import ByAddress
from herk.jit.lines import Lines
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

_INTRINSICS = {
    "sqrt": "llvm.sqrt.f64",
    "abs": "llvm.fabs.f64",
    "round_down": "llvm.floor.f64",
    "round_up": "llvm.ceil.f64",
    "copysign": "llvm.copysign.f64",
}
_LIBRARY = {
    name: name
    for name in [
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "exp",
        "log",
        "erf",
        "erfc",
        "pow",
        "lgamma",
    ]
} | {"gamma": "tgamma"}


class Calls(Lines):
    """How calls become lines."""

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        raise NotImplementedError

    def called(self, node: ast.Call) -> list[Value]:
        """Translate a call; a function that returns several values gives a list of them."""
        if isinstance(node.func, ast.Attribute):  # Layout.at(address)
            return [self.state(node)]
        if isinstance(node.func, ast.Call):  # kernel_at(address)(...)
            return self.reached(node)
        assert isinstance(node.func, ast.Name)
        name, values = node.func.id, [self.value(each) for each in node.args]
        if name in ("floats_at", "wholes_at"):
            at = self.put(STATE, f"inttoptr i64 {values[0].text} to ptr")
            return [Value(FLOATS if name == "floats_at" else WHOLES, at.text)]
        if name == "stack":  # memory of the function, made where it begins
            place, size = self.fresh(), values[0].text
            self.lines.insert(0, f"  {place} = alloca [{size} x double]")
            return [Value(FLOATS, place, size)]
        if name == "view":
            return [self.part(*values)]
        if name in ("max", "min"):
            return [self.extreme("gt" if name == "max" else "lt", values)]
        if name in ("float", "int", "bool"):
            return [self.converted(name, values[0])]
        if name == "modulo":
            top, under = (self.cast(value, FLOAT) for value in values)
            whole = self.library("round_down", [self.put(FLOAT, f"fdiv double {top.text}, {under.text}")])
            product = self.put(FLOAT, f"fmul double {under.text}, {whole.text}")
            return [self.put(FLOAT, f"fsub double {top.text}, {product.text}")]
        found = self.scope.resolve(name)
        if isinstance(found, Function):
            return self.own(found, values)
        if name in _INTRINSICS or name in _LIBRARY:
            return [self.library(name, values)]
        raise InputError(f"{self.name}: there is no function {name} in compiled code.")

    def state(self, node: ast.Call) -> Value:
        """Return the state at an address."""
        assert isinstance(node.func, ast.Attribute)
        assert isinstance(node.func.value, ast.Name)
        [number] = [self.value(each) for each in node.args]
        at = self.put(STATE, f"inttoptr i64 {number.text} to ptr")
        return Value(STATE, at.text, layout=self.scope.resolve(node.func.value.id))

    def part(self, array: Value, start: Value, size: Value) -> Value:
        """Return part of an array."""
        kind = ENTRY[array.kind]
        at = self.put(array.kind, f"getelementptr {LLVM[kind]}, ptr {array.text}, i64 {start.text}")
        return Value(array.kind, at.text, size.text)

    def converted(self, name: str, value: Value) -> Value:
        """Translate float(x), int(x) and bool(x)."""
        if name == "int" and value.kind == FLOAT:
            return self.put(WHOLE, f"fptosi double {value.text} to i64")
        return self.cast(value, {"float": FLOAT, "int": WHOLE, "bool": TRUTH}[name])

    def own(self, function: Function, values: Sequence[Value]) -> list[Value]:
        """Call a function of the same code."""
        cast = [self.cast(value, kind) for value, kind in zip(values, function.takes, strict=True)]
        if not function.behind:
            return self.results(function.returns, f"{function.result} @{function.name}({arguments(cast)})")
        places = [Value(kind, self.fresh()) for kind in function.returns]
        self.slots |= {place.text: place for place in places}
        given = ", ".join([arguments(cast), *(f"ptr {place.text}" for place in places)])
        self.lines.append(f"  call void @{function.name}({given})")
        return [self.put(place.kind, f"load {LLVM[place.kind]}, ptr {place.text}") for place in places]

    def results(self, returns: Sequence[str], call: str) -> list[Value]:
        """Add a call and return what it gives."""
        if not returns:
            self.lines.append(f"  call {call}")
            return []
        if len(returns) == 1:
            return [self.put(returns[0], f"call {call}")]
        whole = self.put("", f"call {call}")
        kinds = "{ " + ", ".join(LLVM[kind] for kind in returns) + " }"
        return [self.put(kind, f"extractvalue {kinds} {whole.text}, {i}") for i, kind in enumerate(returns)]

    def reached(self, node: ast.Call) -> list[Value]:
        """Call a function by address."""
        assert isinstance(node.func, ast.Call)
        assert isinstance(node.func.func, ast.Name)
        how: Any = self.scope.resolve(node.func.func.id)
        assert isinstance(how, ByAddress)
        number = self.value(node.func.args[0])
        values = [self.value(each) for each in node.args]
        cast = [self.cast(value, kind) for value, kind in zip(values, how.takes, strict=True)]
        at = self.put(STATE, f"inttoptr i64 {number.text} to ptr")
        returns = () if how.returns is None else (how.returns,)
        result = LLVM[how.returns] if how.returns else "void"
        return self.results(returns, f"{result} {at.text}({arguments(cast)})")

    def extreme(self, order: str, values: Sequence[Value]) -> Value:
        """Return Python's max or min: a later value counts only if it is beyond those before it."""
        kind = WHOLE if all(value.kind == WHOLE for value in values) else FLOAT
        test = f"icmp s{order}" if kind == WHOLE else f"fcmp o{order}"
        total = self.cast(values[0], kind)
        for each in values[1:]:
            other = self.cast(each, kind)
            beyond = self.put(TRUTH, f"{test} {LLVM[kind]} {other.text}, {total.text}")
            sides = f"{LLVM[kind]} {other.text}, {LLVM[kind]} {total.text}"
            total = self.put(kind, f"select i1 {beyond.text}, {sides}")
        return total

    def library(self, name: str, values: Sequence[Value]) -> Value:
        """Call a function of LLVM or of the C library."""
        called = _INTRINSICS.get(name) or _LIBRARY[name]
        takes = ", ".join(["double"] * len(values))
        pure = "nounwind willreturn readnone"  # equal calls are made once; every LLVM knows the word
        self.scope.declare(f"declare double @{called}({takes}) {pure}")
        passed = ", ".join(f"double {self.cast(value, FLOAT).text}" for value in values)
        return self.put(FLOAT, f"call double @{called}({passed})")
