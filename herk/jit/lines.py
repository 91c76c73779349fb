"""The lines of one function in LLVM's language: fresh names, labels, where variables stand, casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herk.core import InputError
from herk.jit.values import FLOAT, LLVM, STATE, TRUTH, WHOLE, Value, literal

if TYPE_CHECKING:
    from herk.jit.lower import Scope


class Lines:
    """The lines of a function so far, and where its names stand."""

    def __init__(self, scope: Scope, name: str, shared: set[str]) -> None:
        """Begin; `shared` are the names that a branch or a loop sets: they live in memory."""
        self.scope, self.name, self.shared = scope, name, shared
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
        self.lines.append(f"  br i1 {self.truth(condition).text}, label %{yes}, label %{no}")

    def assign(self, name: str, value: Value) -> None:
        """Let a name stand for a value.

        Numbers that a branch or a loop sets live in memory; arrays and states are named where they are.
        """
        if name not in self.shared or value.kind not in (FLOAT, WHOLE, TRUTH):
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
        found = self.scope.resolve(name)
        if isinstance(found, bool):
            return Value(TRUTH, "true" if found else "false")
        if isinstance(found, (int, float)):
            return literal(found)
        raise InputError(f"{self.name}: nothing is called {name}.")

    def cast(self, value: Value, kind: str) -> Value:
        """Return the value as one of another kind, where that is possible."""
        if value.kind == kind:
            return value
        if kind == TRUTH:
            return self.truth(value)
        if value.kind == TRUTH and kind in (WHOLE, FLOAT):
            word = "zext" if kind == WHOLE else "uitofp"
            return self.put(kind, f"{word} i1 {value.text} to {LLVM[kind]}")
        if value.kind == STATE and kind == WHOLE:
            return self.put(WHOLE, f"ptrtoint ptr {value.text} to i64")
        if kind == FLOAT and value.kind == WHOLE:
            if value.text.lstrip("-").isdigit():
                return literal(float(value.text))
            return self.put(FLOAT, f"sitofp i64 {value.text} to double")
        raise InputError(f"{self.name}: a {value.kind} cannot stand for a {kind}.")

    def truth(self, value: Value) -> Value:
        """Return whether a number is not zero."""
        if value.kind == TRUTH:
            return value
        if value.kind == WHOLE:
            return self.put(TRUTH, f"icmp ne i64 {value.text}, 0")
        return self.put(TRUTH, f"fcmp une double {self.cast(value, FLOAT).text}, 0x0000000000000000")
