"""Expressions of plain numerical Python in LLVM's language: numbers, names, arrays, arithmetic, choices."""

from __future__ import annotations

import ast

from herk.core import InputError
from herk.jit.calls import Calls
from herk.jit.state import FLOAT as FLOAT_FIELD
from herk.jit.state import FLOATS as FLOATS_FIELD
from herk.jit.state import WHOLE as WHOLE_FIELD
from herk.jit.values import ENTRY, FLOAT, FLOATS, LLVM, STATE, TRUTH, WHOLE, WHOLES, Value, literal, number

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
    ast.FloorDiv: ("", "sdiv"),
    ast.Mod: ("", "srem"),
}


class Expressions(Calls):
    """How expressions become lines."""

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        return getattr(self, f"_{type(node).__name__.lower()}_value")(node)  # type: ignore[no-any-return]

    def _call_value(self, node: ast.Call) -> Value:
        [value] = self.called(node)
        return value

    def _constant_value(self, node: ast.Constant) -> Value:
        if isinstance(node.value, bool):
            return Value(TRUTH, "true" if node.value else "false")
        assert isinstance(node.value, (int, float))
        return literal(node.value)

    def _name_value(self, node: ast.Name) -> Value:
        return self.named(node.id)

    def _attribute_value(self, node: ast.Attribute) -> Value:
        """Translate `state.name`, or the length of an array."""
        value = self.value(node.value)
        if value.kind in ENTRY and node.attr == "size":
            return Value(WHOLE, value.size)
        place, kind = self.field(value, node.attr)
        if kind in (FLOAT, WHOLE):
            return self.put(kind, f"load {LLVM[kind]}, ptr {place}")
        length = self.put(STATE, f"getelementptr i64, ptr {place}, i64 1")
        size = self.put(WHOLE, f"load i64, ptr {length.text}")
        return Value(kind, self.put(kind, f"load ptr, ptr {place}").text, size.text)

    def field(self, value: Value, name: str) -> tuple[str, str]:
        """Return the address of a field of a state, and its kind."""
        if value.kind != STATE or name not in value.layout.fields:
            raise InputError(f"{self.name}: nothing has a field {name} there.")
        kind, place = value.layout.fields[name]
        kinds = {FLOAT_FIELD: FLOAT, WHOLE_FIELD: WHOLE, FLOATS_FIELD: FLOATS}
        at = self.put(STATE, f"getelementptr i64, ptr {value.text}, i64 {place}")
        return at.text, kinds.get(kind, WHOLES)

    def _binop_value(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Pow):
            return self.power(left, right)
        return self.arithmetic(type(node.op), left, right)

    def power(self, left: Value, right: Value) -> Value:
        """Return a power: squares as products, square roots as such."""
        if right == Value(WHOLE, "2"):
            return self.arithmetic(ast.Mult, left, left)
        if right == literal(0.5):
            return self.library("sqrt", [left])
        return self.library("pow", [left, right])

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
            return self.put(TRUTH, f"xor i1 {self.truth(value).text}, true")
        assert isinstance(node.op, ast.USub)
        if value.kind == WHOLE:
            if value.text.isdigit():
                return Value(WHOLE, f"-{value.text}")
            return self.put(WHOLE, f"sub i64 0, {value.text}")
        if value.text.startswith("0x"):
            return literal(-number(value.text))
        return self.put(FLOAT, f"fneg double {value.text}")

    def _boolop_value(self, node: ast.BoolOp) -> Value:
        """Translate `and` and `or`; calls and entries of arrays are only reached where they count."""
        word = "and" if isinstance(node.op, ast.And) else "or"
        total = self.truth(self.value(node.values[0]))
        for each in node.values[1:]:
            if not any(isinstance(part, (ast.Call, ast.Subscript)) for part in ast.walk(each)):
                total = self.put(TRUTH, f"{word} i1 {total.text}, {self.truth(self.value(each)).text}")
                continue
            before, further, after = self.block, self.label(), self.label()
            self.fork(total, *((further, after) if word == "and" else (after, further)))
            self.begin(further)
            other = self.truth(self.value(each))
            end = self.block
            self.jump(after)
            self.begin(after)
            settled = "false" if word == "and" else "true"
            total = self.put(TRUTH, f"phi i1 [ {settled}, %{before} ], [ {other.text}, %{end} ]")
        return total

    def _compare_value(self, node: ast.Compare) -> Value:
        total, left = None, self.value(node.left)
        if isinstance(node.ops[0], ast.In):
            return self.among(left, node.comparators[0])
        for operator, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other)
            found = self.compared(type(operator), left, right)
            total = found if total is None else self.put(TRUTH, f"and i1 {total.text}, {found.text}")
            left = right
        assert total is not None
        return total

    def among(self, left: Value, choices: ast.expr) -> Value:
        """Translate `x in (a, b)`."""
        assert isinstance(choices, ast.Tuple)
        found = [self.compared(ast.Eq, left, self.value(each)) for each in choices.elts]
        total = found[0]
        for other in found[1:]:
            total = self.put(TRUTH, f"or i1 {total.text}, {other.text}")
        return total

    def compared(self, operator: type[ast.cmpop], left: Value, right: Value) -> Value:
        """Return a comparison."""
        on_floats, on_wholes = _COMPARED[operator]
        if {left.kind, right.kind} <= {WHOLE, TRUTH}:
            left, right = self.cast(left, WHOLE), self.cast(right, WHOLE)
            return self.put(TRUTH, f"icmp {on_wholes} i64 {left.text}, {right.text}")
        left, right = self.cast(left, FLOAT), self.cast(right, FLOAT)
        return self.put(TRUTH, f"fcmp {on_floats} double {left.text}, {right.text}")

    def _ifexp_value(self, node: ast.IfExp) -> Value:
        """Translate a choice; only the side that applies is evaluated."""
        yes, no, after = self.label(), self.label(), self.label()
        self.fork(self.value(node.test), yes, no)
        kept, sides = self.lines, []
        for label, side in ((yes, node.body), (no, node.orelse)):
            self.lines = []
            self.begin(label)
            sides.append((self.value(side), self.lines))
        kinds = {value.kind for value, _ in sides}
        kind = kinds.pop() if len(kinds) == 1 else FLOAT if FLOAT in kinds else WHOLE
        ends = []
        for value, lines in sides:
            self.lines = lines
            ends.append((self.cast(value, kind), _last_block(lines)))
            self.jump(after)
            kept += lines
        self.lines = kept
        self.begin(after)
        return self.put(kind, f"phi {LLVM[kind]} " + ", ".join(f"[ {v.text}, %{b} ]" for v, b in ends))

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
        kind = ENTRY[array.kind]
        at = self.put(array.kind, f"getelementptr {LLVM[kind]}, ptr {array.text}, i64 {index.text}")
        return at.text, kind


def _last_block(lines: list[str]) -> str:
    return next(line[:-1] for line in reversed(lines) if line.endswith(":"))
