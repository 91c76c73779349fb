"""Members of the other families, solved by the code for many unknowns: matrices sparse, structure first.

That code takes any size; it is used from a hundred unknowns on, where it pays. Truths are theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.fuzz import (
    bells,
    circuits,
    driven,
    known,
    limits,
    linear,
    mechanisms,
    piecewise,
    pivots,
    singular,
    switching,
)
from tests.fuzz.member import Member, pick, rng_of

FAMILIES: tuple[Callable[[int], Member], ...] = (
    linear.make,
    driven.make,
    mechanisms.make,
    circuits.make,
    limits.make,
    piecewise.make,
    singular.make,
    pivots.make,
    switching.make,
    bells.make,
    known.make,
)


def make(seed: int) -> Member:
    """Return a member of some family, to be solved as if it were large."""
    rng = rng_of("sparse", seed)
    member = pick(rng, FAMILIES)(int(rng.integers(1 << 30)))
    return replace(member, family="sparse", kind=f"{member.family}: {member.kind}", seed=seed, sparse=True)
