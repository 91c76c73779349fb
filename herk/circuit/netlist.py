"""Texts in SPICE's words -> elements. Every complaint is a sentence that names the line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from herk.circuit.elements import GROUND, Element, Netlist
from herk.core import InputError

_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(meg|mil|[fpnumkgt])?[a-z]*", re.IGNORECASE)
_SCALE = {
    "mil": 25.4e-6,
    "f": 1e-15,
    "p": 1e-12,
    "n": 1e-9,
    "u": 1e-6,
    "m": 1e-3,
    "k": 1e3,
    "meg": 1e6,
    "g": 1e9,
    "t": 1e12,
}
_WAVES = {"SIN": (3, 5), "PULSE": (6, 7)}  # how many numbers they take
_OPTIONS = {"C": ("IC",), "L": ("IC",), "D": ("IS", "N"), "TRANSFORMER": ("N",)}
_SHAPES = {
    "R": "R1 node node ohms",
    "C": "C1 node node farads [IC=volts]",
    "L": "L1 node node henries [IC=amperes]",
    "V": "V1 node+ node- volts, or SIN(offset amplitude frequency), or PULSE(low high delay rise fall width)",
    "I": "I1 node+ node- amperes, or a shape as for V",
    "D": "D1 anode cathode [model] [IS=amperes] [N=factor]",
    "K": "K1 L1 L2 coupling",
    "X": "X1 in+ in- out OPAMP, or X1 p+ p- s+ s- TRANSFORMER N=ratio",
}


def read(text: str) -> Netlist:
    """Return the elements of a netlist, one on each line; * and ; begin comments, + continues a line."""
    if not isinstance(text, str):
        raise InputError(f"A netlist is a text with an element on each line, not {type(text).__name__}.")
    elements: list[Element] = []
    models: dict[str, dict[str, float]] = {}
    t_end = None
    waiting: list[tuple[str, Element, str]] = []
    for line in _lines(text):
        words = _words(line)
        head = words[0].lower()
        if head == ".model":
            models[words[1].lower()] = _model(line, words)
        elif head == ".tran":
            t_end = number(words[2] if len(words) > 2 else words[-1], line)
        elif head == ".end":
            break
        elif head.startswith("."):
            raise InputError(
                f"{line!r} in the netlist: of the commands only .tran, .model and .end are known."
            )
        else:
            element, model = _element(line, words)
            elements.append(element)
            waiting.append((line, element, model))
    if not elements:
        raise InputError("The netlist has no elements; a line such as 'R1 in out 1k' is one.")
    found = tuple(_with_model(line, element, model, models) for line, element, model in waiting)
    _refuse_twins(found)
    return Netlist(found, t_end)


def number(word: str, line: str) -> float:
    """Return a number with SPICE's suffixes: 4.7k, 10uF, 1meg, 5mil; other letters are units, 1A is 1."""
    match = _NUMBER.fullmatch(word)
    if match is None:
        raise InputError(f"{line!r} in the netlist: {word!r} is not a number such as 4.7k, 10u or 1e-3.")
    return float(match[1]) * _SCALE.get((match[2] or "").lower(), 1.0)


def _lines(text: str) -> list[str]:
    joined: list[str] = []
    for raw in text.splitlines():
        line = raw.split(";")[0].strip()
        if line.startswith("+") and joined:
            joined[-1] += " " + line[1:]
        elif line and not line.startswith("*"):
            joined.append(line)
    return joined


def _words(line: str) -> list[str]:
    """Return the words; NAME = number is one, and parentheses and commas are spaces."""
    return re.sub(r"\s*=\s*", "=", re.sub(r"[(),]", " ", line)).split()


def _options(kind: str, words: Sequence[str], line: str) -> dict[str, float]:
    found = {}
    for word in words:
        name, _, value = word.partition("=")
        if name.upper() not in _OPTIONS.get(kind, ()):
            raise InputError(f"{line!r} in the netlist: {name} means nothing here; it reads {_shape(kind)}.")
        found[name.upper()] = number(value, line)
    return found


def _shape(kind: str) -> str:
    return _SHAPES["X" if kind in ("OPAMP", "TRANSFORMER") else kind]


def _element(line: str, words: list[str]) -> tuple[Element, str]:
    """Return the element of a line and the name of its model, if it has one."""
    name, letter = words[0], words[0][0].upper()
    if letter not in _SHAPES or not name.isidentifier():
        known = ", ".join(_SHAPES)
        raise InputError(
            f"{line!r} in the netlist: names of elements begin with one of {known}, then letters or digits."
        )
    given = [word for word in words[1:] if "=" in word]
    plain = [word for word in words[1:] if "=" not in word]
    kind, count = letter, 2
    if letter == "X":
        kind = plain[-1].upper() if plain else ""
        count = {"OPAMP": 3, "TRANSFORMER": 4}.get(kind, -1)
        plain = plain[:-1]
    if len(plain) < count or count < 0:
        raise InputError(f"{line!r} in the netlist has too few words; it reads {_shape(letter)}.")
    nodes, rest = tuple(plain[:count]), plain[count:]
    options = _options(kind, given, line)
    _check_nodes(nodes, line)
    if kind == "D":
        return Element(kind, name, nodes, options=options), rest[0].lower() if rest else ""
    if kind == "K":
        return Element(kind, name, (), value=_coupling(rest, line), partners=nodes), ""
    if kind in ("V", "I"):
        wave, numbers = _wave(rest, line)
        return Element(kind, name, nodes, value=numbers[0], wave=wave, numbers=numbers), ""
    value = None if letter == "X" else _only(rest, line, kind)
    return Element(kind, name, nodes, value=value, options=options), ""


def _only(rest: Sequence[str], line: str, kind: str) -> float:
    if len(rest) != 1:
        raise InputError(
            f"{line!r} in the netlist: one value is expected behind the nodes; it reads {_shape(kind)}."
        )
    value = number(rest[0], line)
    if value == 0 or (kind != "R" and value < 0):
        raise InputError(f"{line!r} in the netlist: the value of {line.split()[0]} must be above zero.")
    return value


def _coupling(rest: Sequence[str], line: str) -> float:
    value = _only(rest, line, "K")
    if value > 1.0:
        raise InputError(
            f"{line!r} in the netlist: no coupling is above 1, which is that of an ideal transformer."
        )
    return value


def _wave(rest: Sequence[str], line: str) -> tuple[str, tuple[float, ...]]:
    words = list(rest[1:] if rest and rest[0].upper() == "DC" else rest)
    shape = words[0].upper() if words else ""
    if shape not in _WAVES:
        return "DC", (_constant(words, line),)
    numbers = tuple(number(word, line) for word in words[1:])
    least, most = _WAVES[shape]
    if not least <= len(numbers) <= most:
        raise InputError(
            f"{line!r} in the netlist: {shape} takes {least} to {most} numbers, not {len(numbers)}."
        )
    if shape == "PULSE" and min(numbers[3:5]) <= 0:
        raise InputError(f"{line!r} in the netlist: a pulse needs times above zero to rise and to fall.")
    return shape, numbers


def _constant(words: Sequence[str], line: str) -> float:
    if len(words) != 1:
        raise InputError(f"{line!r} in the netlist: a source is a number, SIN(...) or PULSE(...).")
    return number(words[0], line)


def _check_nodes(nodes: Sequence[str], line: str) -> None:
    for node in nodes:
        if not f"v_{node}".isidentifier():
            raise InputError(
                f"{line!r} in the netlist: the node {node!r} is not made of letters, digits and _."
            )
    if any(a == b or {a, b} <= set(GROUND) for a, b in pairwise(nodes[:2])):
        raise InputError(f"{line!r} in the netlist: both ends are at the node {nodes[0]}.")


def _model(line: str, words: Sequence[str]) -> dict[str, float]:
    if len(words) < 3 or words[2].upper() != "D":
        raise InputError(f"{line!r} in the netlist: only diodes have models, '.model name D(IS=1e-14 N=1)'.")
    return _options("D", words[3:], line)


def _with_model(line: str, element: Element, model: str, models: dict[str, dict[str, float]]) -> Element:
    if element.kind != "D":
        return element
    if model and model not in models:
        raise InputError(f"{line!r} in the netlist: there is no line '.model {model} D(...)'.")
    options = {"IS": 1e-14, "N": 1.0} | models.get(model, {}) | dict(element.options)
    return Element("D", element.name, element.nodes, options=options)


def _refuse_twins(elements: Sequence[Element]) -> None:
    names = [each.name for each in elements]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"The netlist has two elements called {twice[0]}; names must be different.")
    inductors = {each.name for each in elements if each.kind == "L"}
    for each in elements:
        missing = [name for name in each.partners if name not in inductors]
        if missing:
            raise InputError(f"{each.name} couples {missing[0]}, which is not an inductor of the netlist.")
