"""Runs into and through singular configurations: change points, dead centres, touched folds, removable poles.

The right answer is the smooth continuation, with a note that the configuration is singular, or an end there
with the reason. With masses the force grows without bound towards such a point, and the run must end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import sympy as sp

from tests.fuzz.driven import Mechanism, member_of
from tests.fuzz.member import Member, pick, rng_of, round_digits, with_settings
from tests.fuzz.units import disguised

t = sp.Symbol("t", real=True)


def _passes(w: float, phase: float, every: float, t_end: float, offset: float = 0.0) -> tuple[float, ...]:
    """Return the times in the span at which w t + phase is a multiple of `every`, plus an offset."""
    first = int(np.ceil((phase - offset) / every + 1e-9))
    times = [(offset + k * every - phase) / w for k in range(first, first + 20)]
    return tuple(float(s) for s in times if 0 < s < t_end)


def parallelogram(rng: np.random.Generator) -> Mechanism:
    """Return a parallelogram, which could fold over whenever its links are in line."""
    bx, by = sp.symbols("bx by")
    r, d, w, phase = (
        round_digits(rng, 0.5, 1.0),
        round_digits(rng, 1.2, 2.5),
        round_digits(rng, 0.5, 4.0),
        round_digits(rng, 0.4, 2.5),
    )
    ax, ay = r * sp.cos(w * t + phase), r * sp.sin(w * t + phase)
    constraints = (
        (bx - ax) ** 2 + (by - ay) ** 2 - sp.Float(d) ** 2,
        (bx - d) ** 2 + by**2 - sp.Float(r) ** 2,
    )
    t_end = float(rng.uniform(3.5, 7.0) / w)
    return Mechanism(
        "parallelogram", ("bx", "by"), constraints, (d + ax, ay), t_end, _passes(w, phase, np.pi, t_end)
    )


def equal_crank(rng: np.random.Generator) -> Mechanism:
    """Return a slider crank with equal links: the slider may stop for ever in the bearing of the crank."""
    ax, ay, s = sp.symbols("ax ay s")
    r, w = round_digits(rng, 0.5, 2.0), round_digits(rng, 0.5, 4.0)
    x, y = r * sp.cos(w * t), r * sp.sin(w * t)
    t_end = float(rng.uniform(2.0, 6.0) / w)
    constraints = (ax - x, ay - y, (s - ax) ** 2 + ay**2 - sp.Float(r) ** 2)
    return Mechanism(
        "equal crank",
        ("ax", "ay", "s"),
        constraints,
        (x, y, 2 * x),
        t_end,
        _passes(w, 0.0, np.pi, t_end, np.pi / 2),
    )


def dead_centre(rng: np.random.Generator) -> Mechanism:
    """Return a crank pushed by its slider through the dead centres."""
    ax, ay = sp.symbols("ax ay")
    r, w, phase = round_digits(rng, 0.5, 1.0), round_digits(rng, 0.5, 3.0), round_digits(rng, 0.5, 2.5)
    L = float(f"{r * rng.uniform(1.3, 3.0):.3g}")
    x, y = r * sp.cos(w * t + phase), r * sp.sin(w * t + phase)
    slider = x + sp.sqrt(sp.Float(L) ** 2 - y**2)
    t_end = float(rng.uniform(3.5, 6.0) / w)
    constraints = (ax**2 + ay**2 - sp.Float(r) ** 2, (slider - ax) ** 2 + ay**2 - sp.Float(L) ** 2)
    return Mechanism("dead centre", ("ax", "ay"), constraints, (x, y), t_end, _passes(w, phase, np.pi, t_end))


def touched_fold(rng: np.random.Generator) -> Mechanism:
    """Return x**2 + z**2 = 1 driven to |x| = 1 and back: z = cos(w t) goes on to the other half."""
    x, z = sp.symbols("x z")
    w = round_digits(rng, 0.5, 4.0)
    t_end = float(rng.uniform(2.0, 6.0) / w)
    return Mechanism(
        "touched fold",
        ("x", "z"),
        (x - sp.sin(w * t), x**2 + z**2 - 1),
        (sp.sin(w * t), sp.cos(w * t)),
        t_end,
        _passes(w, 0.0, np.pi, t_end, np.pi / 2),
    )


def removable(rng: np.random.Generator) -> Mechanism:
    """Return x z = sin(x) with x through zero: z = sin(x)/x is smooth, but nothing determines z there."""
    x, z = sp.symbols("x z")
    p, w = round_digits(rng, 0.5, 2.0), round_digits(rng, 0.5, 2.0)
    place = w * (t - p)
    return Mechanism(
        "removable pole",
        ("x", "z"),
        (x - place, x * z - sp.sin(x)),
        (place, sp.sin(place) / place),
        p + 2.0,
        (p,),
    )


KINDS: tuple[Callable[[np.random.Generator], Mechanism], ...] = (
    parallelogram,
    equal_crank,
    dead_centre,
    touched_fold,
    removable,
)
MASSIVE = ("parallelogram", "dead centre")


def make(seed: int) -> Member:
    """Return the member of this seed."""
    rng = rng_of("singular", seed)
    mechanism = pick(rng, KINDS)(rng)
    member = member_of(
        mechanism, "singular", seed, rng, masses=mechanism.name in MASSIVE and rng.random() < 0.3
    )
    if len(member.states) == 3 * len(mechanism.names):
        member = replace(member, ends_at=min(mechanism.singular_at), singular_at=())
    member = with_settings(disguised(member, rng, often=0.2), rng)
    # forces that grow like the third power of 1/distance lose so many digits on the way that tight tolerances end early
    return member if member.ends_at is None else replace(member, rtol=max(member.rtol, 1e-6))
