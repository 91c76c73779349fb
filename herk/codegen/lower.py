"""Plain numerical Python to LLVM's language.

Assignments, branches and counted loops over floats, whole numbers and arrays.

The text that code generation writes uses few words of Python, so that no types need to be inferred: numbers
are doubles unless they are written whole, arrays are doubles, an array called `ints` holds whole numbers. All
arithmetic is IEEE's, as in C: nothing raises.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from herk.codegen.expressions import Expressions
from herk.codegen.values import ARRAYS, FLOAT, FLOATS, LLVM, TRUTH, WHOLE, WHOLES, External, Function, Value


@dataclass
class Module:
    """The functions translated so far, and what they use from outside."""

    constants: Mapping[str, float]
    external: Mapping[str, External] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)

    def add(self, source: str) -> None:
        """Translate every function of the source."""
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef):
                _Body(self, node).translate()

    def text(self) -> str:
        """Return the whole in LLVM's language."""
        return "\n".join([*sorted(self.declared), *self.texts])


class _Body(Expressions):
    """One function while it is translated."""

    def __init__(self, module: Module, node: ast.FunctionDef) -> None:
        super().__init__(module, node.name, _assigned_inside(node))
        self.node = node
        self.returns: tuple[str, ...] | None = None
        self.exits: list[str] = []  # where `break` leads

    def translate(self) -> None:
        """Translate the function and add it to the module."""
        takes = []
        for each in self.node.args.args:
            kind = (
                WHOLES
                if each.arg == "ints"
                else WHOLE
                if each.arg == "task"
                else FLOATS
                if each.arg in ARRAYS
                else FLOAT
            )
            takes.append(kind)
            self.assign(each.arg, Value(kind, f"%{each.arg}"))
        done = self.statements(self.node.body)
        if not done:
            self.leave(())
        assert self.returns is not None
        function = Function(self.node.name, tuple(takes), self.returns)
        arguments = ", ".join(
            f"{LLVM[kind]} %{each.arg}" for kind, each in zip(takes, self.node.args.args, strict=True)
        )
        slots = [f"  {slot.text} = alloca {LLVM[slot.kind]}" for slot in self.slots.values()]
        head = f"define internal {function.result} @{function.name}({arguments}) {{\nentry:"
        self.module.functions[function.name] = function
        self.module.texts.append("\n".join([head, *slots, *self.lines, "}", ""]))

    # Statements; each returns whether it leaves the function or the loop

    def statements(self, body: Sequence[ast.stmt]) -> bool:
        for node in body:
            if getattr(self, f"_{type(node).__name__.lower()}")(node):
                return True
        return False

    def _expr(self, _: ast.Expr) -> bool:
        return False  # a docstring

    def _pass(self, _: ast.Pass) -> bool:
        return False

    def _assign(self, node: ast.Assign) -> bool:
        [target] = node.targets
        if isinstance(target, ast.Tuple):
            if isinstance(node.value, ast.Tuple):
                values = [self.value(each) for each in node.value.elts]
            else:
                assert isinstance(node.value, ast.Call)
                values = self.called(node.value)
            for each, value in zip(target.elts, values, strict=True):
                self.set(each, value)
        else:
            self.set(target, self.value(node.value))
        return False

    def set(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.assign(target.id, value)
            return
        assert isinstance(target, ast.Subscript)
        place, kind = self.place(target)
        value = self.cast(value, kind)
        self.lines.append(f"  store {LLVM[kind]} {value.text}, ptr {place}")

    def _augassign(self, node: ast.AugAssign) -> bool:
        before = self.value(node.target)
        self.set(node.target, self.arithmetic(type(node.op), before, self.value(node.value)))
        return False

    def _return(self, node: ast.Return) -> bool:
        parts = (
            []
            if node.value is None
            else node.value.elts
            if isinstance(node.value, ast.Tuple)
            else [node.value]
        )
        self.leave([self.value(part) for part in parts])
        return True

    def leave(self, values: Sequence[Value]) -> None:
        if self.returns is None:
            self.returns = tuple(value.kind for value in values)
        values = [self.cast(value, kind) for value, kind in zip(values, self.returns, strict=True)]
        if len(values) < 2:
            self.lines.append(
                "  ret void" if not values else f"  ret {LLVM[values[0].kind]} {values[0].text}"
            )
            return
        whole, kinds = "undef", "{ " + ", ".join(LLVM[value.kind] for value in values) + " }"
        for i, value in enumerate(values):
            name = self.fresh()
            self.lines.append(f"  {name} = insertvalue {kinds} {whole}, {LLVM[value.kind]} {value.text}, {i}")
            whole = name
        self.lines.append(f"  ret {kinds} {whole}")

    def _if(self, node: ast.If) -> bool:
        yes, no, after = self.label(), self.label(), self.label()
        self.fork(self.value(node.test), yes, no)
        left = []
        for label, body in ((yes, node.body), (no, node.orelse)):
            self.begin(label)
            left.append(self.statements(body))
            if not left[-1]:
                self.jump(after)
        if all(left):
            return True
        self.begin(after)
        return False

    def _for(self, node: ast.For) -> bool:
        """Translate `for i in range(k)` with its `break` and its `else`."""
        assert isinstance(node.target, ast.Name)
        assert isinstance(node.iter, ast.Call)
        [limit] = [self.value(each) for each in node.iter.args]
        counter = f"%{self.label()}_count"
        self.slots[counter] = Value(WHOLE, counter)
        test, body, ended, after = self.label(), self.label(), self.label(), self.label()
        self.lines.append(f"  store i64 0, ptr {counter}")
        self.jump(test)
        self.begin(test)
        now = self.put(WHOLE, f"load i64, ptr {counter}")
        self.fork(self.put(TRUTH, f"icmp slt i64 {now.text}, {limit.text}"), body, ended)
        self.begin(body)
        self.names[node.target.id] = now
        self.exits.append(after)
        if not self.statements(node.body):
            following = self.put(WHOLE, f"add i64 {now.text}, 1")
            self.lines.append(f"  store i64 {following.text}, ptr {counter}")
            self.jump(test)
        self.exits.pop()
        self.begin(ended)
        if not self.statements(node.orelse):
            self.jump(after)
        self.begin(after)
        return False

    def _break(self, _: ast.Break) -> bool:
        self.jump(self.exits[-1])
        return True


def _assigned_inside(node: ast.FunctionDef) -> set[str]:
    """Return the names that are set inside a branch or a loop."""
    inside = [
        part
        for statement in node.body
        if isinstance(statement, (ast.If, ast.For))
        for part in ast.walk(statement)
    ]
    return {part.id for part in inside if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
