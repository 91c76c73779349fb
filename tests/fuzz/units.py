"""The same model in other units of unknowns, rows and time, and in another order: the solution stays."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from tests.fuzz.member import Array, Member, Truth
from tests.fuzz.parameters import parametrised

DECADES = 12
NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


def permuted(member: Member, rng: np.random.Generator) -> Member:
    """Return the member with rows and unknowns in another order."""
    n = len(member.states)
    rows, columns = rng.permutation(n), rng.permutation(n)
    truth = member.truth

    def reordered(t: Array) -> Array:
        return truth(t)[columns]

    return replace(
        member,
        states=tuple(member.states[j] for j in columns),
        E=tuple(tuple(member.E[i][j] for j in columns) for i in rows),
        f=tuple(member.f[i] for i in rows),
        y0=tuple(member.y0[j] for j in columns),
        sizes=tuple(member.sizes[j] for j in columns),
        truth=reordered,
    )


def in_units(member: Member, rng: np.random.Generator, decades: int = DECADES) -> Member:
    """Return the member in random units: y_j = u_j Y_j, t = T s, row i times r_i, each a power of ten."""
    n = len(member.states)
    powers = rng.integers(-decades, decades + 1, 2 * n + 1)
    units, rows, clock = 10.0 ** powers[:n], powers[n : 2 * n], 10.0 ** float(powers[-1])
    texts = dict(zip(member.states, powers[:n], strict=True)) | {"t": powers[-1]}

    def rescaled(text: str) -> str:
        return NAME.sub(lambda found: _scaled(found.group(), texts), text)

    E = tuple(
        tuple(_times(rescaled(entry), int(rows[i] + powers[j] - powers[-1])) for j, entry in enumerate(row))
        for i, row in enumerate(member.E)
    )
    return replace(
        member,
        E=E,
        f=tuple(_times(rescaled(text), int(rows[i])) for i, text in enumerate(member.f)),
        t_span=(member.t_span[0] / clock, member.t_span[1] / clock),
        y0=tuple(None if y is None else float(y / u) for y, u in zip(member.y0, units, strict=True)),
        sizes=tuple(float(size / u) for size, u in zip(member.sizes, units, strict=True)),
        truth=_in_new_units(member.truth, units, clock),
        ends_at=None if member.ends_at is None else member.ends_at / clock,
        singular_at=tuple(time / clock for time in member.singular_at),
        corners=tuple(time / clock for time in member.corners),
    )


def _in_new_units(truth: Truth, units: Array, clock: float) -> Truth:
    def rescaled(t: Array) -> Array:
        return truth(np.asarray(t) * clock) / units[:, None]

    return rescaled


def _scaled(name: str, powers: dict[str, int]) -> str:
    return f"(1e{powers[name]}*{name})" if powers.get(name) else name


def _times(text: str, power: int) -> str:
    return text if text == "0" or not power else f"1e{power}*({text})"


def disguised(member: Member, rng: np.random.Generator, often: float = 0.3) -> Member:
    """Return the member in a random order, its numbers as parameters, and perhaps in random units."""
    member = parametrised(member)
    if rng.random() < often:
        member = in_units(member, rng)
    return permuted(member, rng) if rng.random() < 0.6 else member
