"""Wrong inputs, one on each line of a file, and what herk says to them: examples for the list of messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import messages

VAGUE = 12  # letters; shorter skeletons fit what they do not mean

FOLDER = messages.ROOT / "docs" / "wrong_inputs"


def setup() -> str:
    """Return the program in which the inputs are made."""
    return (FOLDER / "setup.py").read_text().split('"""', 2)[2].strip()


def said() -> Iterator[tuple[str, str]]:
    """Yield each wrong input with what herk says to it, empty if it says nothing."""
    import warnings

    import herk

    names: dict[str, Any] = {}
    exec(compile(setup(), "setup", "exec"), names)  # noqa: S102 - our own text
    for line in (FOLDER / "inputs.txt").read_text().splitlines():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcome = eval(compile(line, "provoked", "eval"), names)  # noqa: S307 - our own text
        except (herk.HerkError, TypeError) as error:
            yield line, " ".join(str(error).split())
        else:
            yield line, " ".join(str(getattr(outcome, "message", "")).split())


def skeletons_of(message: str, known: list[str]) -> list[str]:
    """Return the skeletons that fit a message; one that says next to nothing fits only if no other does."""
    fitting = [text for text in known if _fits(text, message)]
    telling = [text for text in fitting if len(text.replace("...", "")) > VAGUE]
    return telling or fitting


def _fits(skeleton: str, message: str) -> bool:
    """Tell whether the parts of a skeleton stand in the message one behind the other."""
    at = 0
    for part in skeleton.split("..."):
        found = message.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def unprovoked() -> list[str]:
    """Return the messages that are known to have no example."""
    lines = (FOLDER / "unprovoked.txt").read_text().splitlines()
    return [line for line in lines if not line.startswith("#")]


def examples() -> dict[str, str]:
    """Return skeleton -> the first wrong input that provokes it."""
    known = messages.inventory().splitlines()
    found: dict[str, str] = {}
    for line, message in said():
        for skeleton in skeletons_of(message, known):
            found.setdefault(skeleton, line)
    return found
