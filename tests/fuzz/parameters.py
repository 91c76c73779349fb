"""Numbers of a model as named parameters, whose values are given at run time only."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from tests.fuzz.member import Member, rng_of

DECIMAL = re.compile(r"(?<![\w.*])\d+\.\d+(?:e[-+]?\d+)?|(?<=[^*]\*)\d+\.\d+(?:e[-+]?\d+)?")  # no exponents
OFTEN = 0.4


def parametrised(member: Member) -> Member:
    """Return the member, every so often with its decimal numbers as parameters; equal ones share a name."""
    rng = rng_of(f"parameters of {member.family}", member.seed)
    if member.parameters or rng.random() >= OFTEN:
        return member
    names: dict[str, str] = {}

    def named(text: str) -> str:
        return DECIMAL.sub(lambda found: names.setdefault(found.group(), f"par{len(names)}"), text)

    E = tuple(tuple(named(entry) for entry in row) for row in member.E)
    f = tuple(named(row) for row in member.f)
    return replace(member, E=E, f=f, parameters={name: float(text) for text, name in names.items()})


def other_values(member: Member) -> dict[str, float]:
    """Return values near the right ones, which a run that is given the right ones must not depend on."""
    shift = np.random.default_rng(member.seed).uniform(-0.1, 0.1, len(member.parameters))
    return {name: value * (1 + s) for (name, value), s in zip(member.parameters.items(), shift, strict=True)}
