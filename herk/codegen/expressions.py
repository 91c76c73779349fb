"""Expressions of plain numerical Python in LLVM's language.

Numbers, names, entries of arrays, arithmetic, choices and calls.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from herk.codegen.values import (
    FLOAT,
    FLOATS,
    LLVM,
    TRUTH,
    WHOLE,
    WHOLES,
    External,
    Function,
    Value,
    literal,
    number,
)
from herk.core import InputError

if TYPE_CHECKING:
    from herk.codegen.lower import Module

_INTRINSICS = {
    "sqrt": "llvm.sqrt.f64",
    "abs": "llvm.fabs.f64",
    "round_down": "llvm.floor.f64",
    "round_up": "llvm.ceil.f64",
    "copysign": "llvm.copysign.f64",
}
_LIBRARY = {
    name: name
    for name in (
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
    )
} | {"gamma": "tgamma"}
_COMPARED = {
    ast.Lt: ("olt", "slt"),
    ast.LtE: ("ole", "sle"),
    ast.Gt: ("ogt", "sgt"),
    ast.GtE: ("oge", "sge"),
    ast.Eq: ("oeq", "eq"),
    ast.NotEq: ("une", "ne"),
}
_ARITHMETIC = {
    ast.Add: ("fadd", "add"),
    ast.Sub: ("fsub", "sub"),
    ast.Mult: ("fmul", "mul"),
    ast.Div: ("fdiv", ""),
}


class Expressions:
    """The lines of one function so far, where its names stand, and how expressions become lines."""

    def __init__(self, module: Module, name: str, shared: set[str]) -> None:
        """Begin; `shared` are the names that a branch or a loop sets.

        They live in memory, the others in values.
        """
        self.module, self.name, self.shared = module, name, shared
        self.lines: list[str] = []
        self.count = 0
        self.block = "entry"
        self.names: dict[str, Value] = {}
        self.slots: dict[str, Value] = {}

    def fresh(self) -> str:
        """Return a name that is not in use."""
        self.count += 1
        return f"%_{self.count}"

    def put(self, kind: str, text: str) -> Value:
        """Add a line that computes a value."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return Value(kind, name)

    def label(self) -> str:
        """Return a name for a place in the code."""
        self.count += 1
        return f"b{self.count}"

    def begin(self, label: str) -> None:
        """Let the lines that follow stand at this place."""
        self.lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        """Go on at this place."""
        self.lines.append(f"  br label %{label}")

    def fork(self, condition: Value, yes: str, no: str) -> None:
        """Go on at one of two places."""
        self.lines.append(f"  br i1 {condition.text}, label %{yes}, label %{no}")

    def assign(self, name: str, value: Value) -> None:
        """Let a name stand for a value.

        Directly where it is set once, in memory where a branch or a loop sets it.
        """
        if name not in self.shared:
            self.names[name] = value
            return
        if name not in self.slots:
            self.slots[name] = Value(value.kind, f"%{name}_slot")
        slot = self.slots[name]
        value = self.cast(value, slot.kind)
        self.lines.append(f"  store {LLVM[slot.kind]} {value.text}, ptr {slot.text}")

    def named(self, name: str) -> Value:
        """Return what a name stands for."""
        if name in self.slots:
            slot = self.slots[name]
            return self.put(slot.kind, f"load {LLVM[slot.kind]}, ptr {slot.text}")
        if name in self.names:
            return self.names[name]
        if name == "nan":
            return Value(FLOAT, "0x7FF8000000000000")
        if name in self.module.constants:
            return literal(self.module.constants[name])
        raise InputError(f"{self.name}: nothing is called {name}.")

    def cast(self, value: Value, kind: str) -> Value:
        """Return the value as one of another kind, where that is possible."""
        if value.kind == kind:
            return value
        if kind == FLOAT and value.kind == WHOLE:
            if value.text.lstrip("-").isdigit():
                return literal(float(value.text))
            return self.put(FLOAT, f"sitofp i64 {value.text} to double")
        raise InputError(f"{self.name}: a {value.kind} cannot stand for a {kind}.")

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        return getattr(self, f"_{type(node).__name__.lower()}_value")(node)  # type: ignore[no-any-return]

    def _constant_value(self, node: ast.Constant) -> Value:
        if isinstance(node.value, bool):
            return Value(TRUTH, "true" if node.value else "false")
        assert isinstance(node.value, (int, float))
        return literal(node.value)

    def _name_value(self, node: ast.Name) -> Value:
        return self.named(node.id)

    def _binop_value(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Pow):
            return self.library("pow", [left, right])
        return self.arithmetic(type(node.op), left, right)

    def arithmetic(self, kind: type[ast.operator], left: Value, right: Value) -> Value:
        """Return a sum, difference, product or quotient."""
        on_floats, on_wholes = _ARITHMETIC[kind]
        if left.kind == right.kind == WHOLE and on_wholes:
            return self.put(WHOLE, f"{on_wholes} i64 {left.text}, {right.text}")
        left, right = self.cast(left, FLOAT), self.cast(right, FLOAT)
        return self.put(FLOAT, f"{on_floats} double {left.text}, {right.text}")

    def _unaryop_value(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return self.put(TRUTH, f"xor i1 {value.text}, true")
        assert isinstance(node.op, ast.USub)
        if value.kind == WHOLE:
            return (
                Value(WHOLE, f"-{value.text}")
                if value.text.isdigit()
                else self.put(WHOLE, f"sub i64 0, {value.text}")
            )
        if value.text.startswith("0x"):
            return literal(-number(value.text))
        return self.put(FLOAT, f"fneg double {value.text}")

    def _boolop_value(self, node: ast.BoolOp) -> Value:
        word = "and" if isinstance(node.op, ast.And) else "or"
        total = self.value(node.values[0])
        for each in node.values[1:]:  # nothing raises, so all of them may be looked at
            total = self.put(TRUTH, f"{word} i1 {total.text}, {self.value(each).text}")
        return total

    def _compare_value(self, node: ast.Compare) -> Value:
        [operator], [other] = node.ops, node.comparators
        left, right = self.value(node.left), self.value(other)
        on_floats, on_wholes = _COMPARED[type(operator)]
        if left.kind == right.kind == WHOLE:
            return self.put(TRUTH, f"icmp {on_wholes} i64 {left.text}, {right.text}")
        left, right = self.cast(left, FLOAT), self.cast(right, FLOAT)
        return self.put(TRUTH, f"fcmp {on_floats} double {left.text}, {right.text}")

    def _ifexp_value(self, node: ast.IfExp) -> Value:
        """Translate a choice; only the side that applies is evaluated."""
        yes, no, after = self.label(), self.label(), self.label()
        self.fork(self.value(node.test), yes, no)
        ends = []
        for label, side in ((yes, node.body), (no, node.orelse)):
            self.begin(label)
            value = self.value(side)
            ends.append((value, self.block))
            self.jump(after)
        kind = FLOAT if any(value.kind == FLOAT for value, _ in ends) else ends[0][0].kind
        if any(value.kind != kind and not value.text.lstrip("-").isdigit() for value, _ in ends):
            raise InputError(f"{self.name}: both sides of a choice must be of one kind.")
        self.begin(after)
        sides = ", ".join(f"[ {self.cast(value, kind).text}, %{block} ]" for value, block in ends)
        return self.put(kind, f"phi {LLVM[kind]} {sides}")

    def _subscript_value(self, node: ast.Subscript) -> Value:
        place, kind = self.place(node)
        if isinstance(node.slice, ast.Slice):
            return Value(FLOATS if kind == FLOAT else WHOLES, place)
        return self.put(kind, f"load {LLVM[kind]}, ptr {place}")

    def place(self, node: ast.Subscript) -> tuple[str, str]:
        """Return the address of an entry, or of where a slice starts, and the kind of the entries."""
        array = self.value(node.value)
        start = node.slice.lower if isinstance(node.slice, ast.Slice) else node.slice
        index = Value(WHOLE, "0") if start is None else self.value(start)
        kind = FLOAT if array.kind == FLOATS else WHOLE
        return (
            self.put(array.kind, f"getelementptr {LLVM[kind]}, ptr {array.text}, i64 {index.text}").text,
            kind,
        )

    def _call_value(self, node: ast.Call) -> Value:
        [value] = self.called(node)
        return value

    def called(self, node: ast.Call) -> list[Value]:
        """Translate a call; a function that returns several values gives a list of them."""
        assert isinstance(node.func, ast.Name)
        name, values = node.func.id, [self.value(each) for each in node.args]
        if name in self.module.functions:
            return self.own(self.module.functions[name], values)
        if name in self.module.external:
            return [self.outside(self.module.external[name], values)]
        if name in ("max", "min"):
            return [self.extreme("ogt" if name == "max" else "olt", values)]
        if name == "modulo":
            top, under = (self.cast(value, FLOAT) for value in values)
            whole = self.library("round_down", [self.arithmetic(ast.Div, top, under)])
            return [self.arithmetic(ast.Sub, top, self.arithmetic(ast.Mult, under, whole))]
        if name in _INTRINSICS or name in _LIBRARY:
            return [self.library(name, values)]
        raise InputError(f"{self.name}: there is no function {name} in compiled code.")

    def own(self, function: Function, values: Sequence[Value]) -> list[Value]:
        """Call a function that was translated before."""
        cast = [self.cast(value, kind) for value, kind in zip(values, function.takes, strict=True)]
        arguments = ", ".join(f"{LLVM[value.kind]} {value.text}" for value in cast)
        call = f"call {function.result} @{function.name}({arguments})"
        if len(function.returns) == 1:
            return [self.put(function.returns[0], call)]
        whole = self.put("", call)
        return [
            self.put(kind, f"extractvalue {function.result} {whole.text}, {i}")
            for i, kind in enumerate(function.returns)
        ]

    def outside(self, function: External, values: Sequence[Value]) -> Value:
        """Call numba's code: result and exception come back through pointers.

        An array is passed as its seven parts.
        """
        self.slots["%result"] = Value(FLOAT, "%result")
        self.slots["%raised"] = Value(FLOATS, "%raised")
        parts = ["ptr %result", "ptr %raised"]
        for value, kind in zip(values, function.takes, strict=True):
            parts += (
                [f"ptr null, ptr null, i64 0, i64 8, ptr {value.text}, i64 0, i64 8"]
                if kind == FLOATS
                else [f"i64 {value.text}"]
            )
        at = self.put(FLOATS, f"inttoptr i64 {function.address} to ptr")
        self.put(WHOLE, f"call i32 {at.text}({', '.join(parts)})")
        return self.put(FLOAT, "load double, ptr %result")

    def extreme(self, order: str, values: Sequence[Value]) -> Value:
        """Return Python's max or min: a later value counts only if it is beyond those before it."""
        total = self.cast(values[0], FLOAT)
        for each in values[1:]:
            other = self.cast(each, FLOAT)
            beyond = self.put(TRUTH, f"fcmp {order} double {other.text}, {total.text}")
            total = self.put(FLOAT, f"select i1 {beyond.text}, double {other.text}, double {total.text}")
        return total

    def library(self, name: str, values: Sequence[Value]) -> Value:
        """Call a function of LLVM or of the C library."""
        called = _INTRINSICS.get(name) or _LIBRARY[name]
        self.module.declared.add(f"declare double @{called}({', '.join(['double'] * len(values))})")
        arguments = ", ".join(f"double {self.cast(value, FLOAT).text}" for value in values)
        return self.put(FLOAT, f"call double @{called}({arguments})")
