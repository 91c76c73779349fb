"""Statements of a function to LLVM's language: assignments, branches, loops, returns."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from herk.core import InputError
from herk.jit.expressions import Expressions
from herk.jit.state import State
from herk.jit.values import (
    ARRAYS,
    FLOAT,
    FLOATS,
    KINDS,
    LLVM,
    STATE,
    TRUTH,
    WHOLE,
    WHOLES,
    Function,
    Value,
    arguments,
)

if TYPE_CHECKING:
    from herk.jit.lower import Scope


class Body(Expressions):
    """One function while it is translated."""

    def __init__(self, scope: Scope, node: ast.FunctionDef, name: str) -> None:
        """Begin."""
        super().__init__(scope, name, _assigned_inside(node))
        self.node = node
        self.returns = _declared(node.returns)
        self.behind = bool(node.decorator_list)  # @inline, in generated text
        self.loops: list[tuple[str, str]] = []  # where `continue` and `break` lead

    def translate(self) -> Function:
        """Translate the function, add it to the module and return what callers need to know."""
        takes = []
        for each in self.node.args.args:
            value = self.argument(each)
            takes.append(value)
            self.assign(each.arg, value)
        if not self.statements(self.node.body):
            if self.returns:
                self.lines.append("  unreachable")
            else:
                self.leave(())
        assert self.returns is not None
        function = Function(
            self.name,
            tuple(value.kind for value in takes),
            self.returns,
            self.behind and len(self.returns) > 1,
        )
        slots = [f"  {slot.text} = alloca {LLVM[slot.kind]}" for slot in self.slots.values()]
        inline = " alwaysinline" if self.behind else ""
        given = [arguments(takes), *(f"ptr %result.{i}" for i in range(len(self.returns)) if function.behind)]
        head = f"define internal {function.result} @{function.name}({', '.join(given)}){inline} {{\nentry:"
        self.scope.module.texts.append("\n".join([head, *slots, *self.lines, "}", ""]))
        return function

    def argument(self, given: ast.arg) -> Value:
        """Return the value of an argument: by its annotation, in generated text by its name."""
        name, text = given.arg, f"%{given.arg}"
        if given.annotation is None:
            kind = WHOLE if name in ("task", "state") else FLOATS if name in ARRAYS else FLOAT
            return Value(WHOLES if name == "ints" else kind, text, f"{text}.size")
        assert isinstance(given.annotation, ast.Name)
        word = given.annotation.id
        if word in KINDS:
            return Value(KINDS[word], text, f"{text}.size")
        layout = self.scope.resolve(word)
        if not (isinstance(layout, type) and issubclass(layout, State)):
            raise InputError(f"{self.name}: {word} is no kind of argument.")
        return Value(STATE, text, layout=layout)

    # Statements; each returns whether it leaves the function or the loop

    def statements(self, body: Sequence[ast.stmt]) -> bool:
        """Translate statements up to one that leaves."""
        for node in body:
            if getattr(self, f"_{type(node).__name__.lower()}")(node):
                return True
        return False

    def _expr(self, node: ast.Expr) -> bool:
        if isinstance(node.value, ast.Call):
            self.called(node.value)
        return False  # otherwise a docstring

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
        """Let a name, a field or an entry of an array have a value."""
        if isinstance(target, ast.Name):
            self.assign(target.id, value)
            return
        if isinstance(target, ast.Attribute):
            place, kind = self.field(self.value(target.value), target.attr)
        else:
            assert isinstance(target, ast.Subscript)
            place, kind = self.place(target)
        self.lines.append(f"  store {LLVM[kind]} {self.cast(value, kind).text}, ptr {place}")

    def _augassign(self, node: ast.AugAssign) -> bool:
        before = self.value(node.target)
        self.set(node.target, self.arithmetic(type(node.op), before, self.value(node.value)))
        return False

    def _return(self, node: ast.Return) -> bool:
        whole = isinstance(node.value, ast.Tuple)
        parts = [] if node.value is None else node.value.elts if whole else [node.value]  # type: ignore[attr-defined]
        self.leave([self.value(part) for part in parts])
        return True

    def leave(self, values: Sequence[Value]) -> None:
        """Return these values."""
        if self.returns is None:
            self.returns = tuple(value.kind for value in values)
        values = [self.cast(value, kind) for value, kind in zip(values, self.returns, strict=True)]
        if len(values) < 2:
            what = "void" if not values else f"{LLVM[values[0].kind]} {values[0].text}"
            self.lines.append(f"  ret {what}")
            return
        if self.behind:
            for i, value in enumerate(values):
                self.lines.append(f"  store {LLVM[value.kind]} {value.text}, ptr %result.{i}")
            self.lines.append("  ret void")
            return
        whole, kinds = "undef", "{ " + ", ".join(LLVM[value.kind] for value in values) + " }"
        for i, value in enumerate(values):
            part = f"{LLVM[value.kind]} {value.text}"
            whole = self.put("", f"insertvalue {kinds} {whole}, {part}, {i}").text
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
        """Translate `for i in range(...)` with its `break` and its `else`; the step is a literal."""
        assert isinstance(node.target, ast.Name)
        assert isinstance(node.iter, ast.Call)
        given = [self.value(each) for each in node.iter.args]
        first = given[0] if len(given) > 1 else Value(WHOLE, "0")
        limit = given[1] if len(given) > 1 else given[0]
        stride = given[2].text if len(given) > 2 else "1"
        counter = f"%{self.label()}_count"
        self.slots[counter] = Value(WHOLE, counter)
        test, body, following, ended, after = (self.label() for _ in range(5))
        self.lines.append(f"  store i64 {first.text}, ptr {counter}")
        self.jump(test)
        self.begin(test)
        now = self.put(WHOLE, f"load i64, ptr {counter}")
        order = "sgt" if stride.startswith("-") else "slt"
        self.fork(self.put(TRUTH, f"icmp {order} i64 {now.text}, {limit.text}"), body, ended)
        self.begin(body)
        self.names[node.target.id] = now
        if node.target.id in self.slots:
            self.assign(node.target.id, now)
        self.loops.append((following, after))
        if not self.statements(node.body):
            self.jump(following)
        self.loops.pop()
        self.begin(following)
        self.lines.append(
            f"  store i64 {self.put(WHOLE, f'add i64 {now.text}, {stride}').text}, ptr {counter}"
        )
        self.jump(test)
        self.begin(ended)
        if not self.statements(node.orelse):
            self.jump(after)
        self.begin(after)
        return False

    def _while(self, node: ast.While) -> bool:
        test, body, after = self.label(), self.label(), self.label()
        self.jump(test)
        self.begin(test)
        self.fork(self.value(node.test), body, after)
        self.begin(body)
        self.loops.append((test, after))
        if not self.statements(node.body):
            self.jump(test)
        self.loops.pop()
        self.begin(after)
        return False

    def _break(self, _: ast.Break) -> bool:
        self.jump(self.loops[-1][1])
        return True

    def _continue(self, _: ast.Continue) -> bool:
        self.jump(self.loops[-1][0])
        return True


def _declared(node: ast.expr | None) -> tuple[str, ...] | None:
    """Return the kinds a function returns by its annotation; None: by its first `return`."""
    if node is None:
        return None
    if isinstance(node, ast.Constant):  # None
        return ()
    if isinstance(node, ast.Name):
        return (KINDS[node.id],)
    assert isinstance(node, ast.Subscript)  # tuple[...]
    assert isinstance(node.slice, ast.Tuple)
    return tuple(KINDS[each.id] for each in node.slice.elts if isinstance(each, ast.Name))


def _assigned_inside(node: ast.FunctionDef) -> set[str]:
    """Return the names that are set inside a branch or a loop."""
    inside = [
        part
        for statement in node.body
        if isinstance(statement, (ast.If, ast.For, ast.While))
        for part in ast.walk(statement)
    ]
    return {part.id for part in inside if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
