"""Poles, blow-up, folds and the ends of domains: the run must end where the solution ends, and say so.

Each kind also has members whose span stops short of the end, which must be solved to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sp

from tests.fuzz.driven import rows_of
from tests.fuzz.member import Member, pick, rng_of, round_digits, with_settings
from tests.fuzz.units import disguised

t = sp.Symbol("t", real=True)


@dataclass(frozen=True)
class Limit:
    """Equations, the solution as formulas of t, and the time at which it ends."""

    kind: str
    states: tuple[str, ...]
    differential: tuple[bool, ...]
    f: tuple[str, ...]
    solution: tuple[sp.Expr, ...]
    end: float
    E: tuple[tuple[str, ...], ...] | None = None  # ones, if not given


def _with_clock(kind: str, text: str, solution: sp.Expr, end: float) -> Limit:
    return Limit(kind, ("x", "z"), (True, False), ("1", text), (t, solution), end)


def pole(rng: np.random.Generator) -> Limit:
    """Return a pole of order one, two or three in an algebraic unknown."""
    p, c, order = round_digits(rng, 0.5, 2.0), round_digits(rng, 0.5, 2.0), int(rng.integers(1, 4))
    variable = pick(rng, ("t", "x"))
    return _with_clock(
        f"pole of order {order}", f"z*({p} - {variable})**{order} - {c}", c / (p - t) ** order, p
    )


def tangent(rng: np.random.Generator) -> Limit:
    """Return an algebraic unknown that is a tangent."""
    w = round_digits(rng, 0.7, 3.0)
    return _with_clock("tangent", f"z - tan({w}*t)", sp.tan(w * t), float(np.pi / 2 / w))


def domain(rng: np.random.Generator) -> Limit:
    """Return a root or logarithm whose argument runs out."""
    p, name = round_digits(rng, 0.5, 2.0), pick(rng, ("sqrt", "log"))
    function = {"sqrt": sp.sqrt, "log": sp.log}[name]
    return _with_clock(f"domain of {name}", f"z - {name}({p} - x)", function(p - t), p)


def fold(rng: np.random.Generator) -> Limit:
    """Return a circle x**2 + z**2 = 1 driven through |x| = 1 at some speed, on either half."""
    a, w, side = round_digits(rng, 1.1, 2.0), round_digits(rng, 0.5, 2.0), pick(rng, (1, -1))
    x = a * sp.sin(w * t)
    solution = (x, side * sp.sqrt(1 - x**2))
    return Limit(
        "fold of a circle",
        ("x", "z"),
        (False, False),
        (f"x - {a}*sin({w}*t)", "x**2 + z**2 - 1"),
        solution,
        float(np.arcsin(1 / a) / w),
    )


def cubic(rng: np.random.Generator) -> Limit:
    """Return z**3 - 3 z = x, driven past its fold at x = 2, where z would have to jump from -1 to 2."""
    w = round_digits(rng, 0.5, 2.0)
    lower = -2 * sp.cos(sp.acos(-w * t / 2) / 3)  # from -sqrt(3) at x = 0 to -1 at x = 2
    return Limit(
        "fold of a cubic", ("x", "z"), (True, False), (f"{w}", "z**3 - 3*z - x"), (w * t, lower), 2 / w
    )


def blow_up(rng: np.random.Generator) -> Limit:
    """Return x' = z, z = x**2, whose solution is infinite after a finite time."""
    x0 = round_digits(rng, 0.5, 2.0)
    x = x0 / (1 - x0 * t)
    return Limit("blow-up", ("x", "z"), (True, False), ("z", "z - x**2"), (x, x**2), 1 / x0)


def vertical(rng: np.random.Generator) -> Limit:
    """Return x' = -z, x z = 1/2: x runs into zero like a root, with infinite slope."""
    p = round_digits(rng, 0.5, 2.0)
    x = sp.sqrt(p - t)
    return Limit(
        "root with infinite slope", ("x", "z"), (True, False), ("-z", "x*z - 0.5"), (x, 1 / (2 * x)), p
    )


def vanishing(rng: np.random.Generator) -> Limit:
    """Return (p - t) x' = -k x among other rows: at t = p E is singular, and behind it x is no longer determined."""
    p, k, variable = round_digits(rng, 0.5, 2.0), pick(rng, (1.0, 1.5, 2.0, 3.0)), pick(rng, ("t", "c"))
    u, v = round_digits(rng, 0.1, 3.0), round_digits(rng, -3.0, -0.1)
    x, w = (1 - t / p) ** k, sp.exp(-t)
    mass = f"({p} - {variable})"
    E = (
        ("1", "0", "0", "0"),
        ("0", mass, f"{u}", "0"),
        ("0", f"({v})*{mass}", "1", "0"),
        ("0", "0", "0", "0"),
    )
    f = ("1", f"-{k}*x - {u}*w", f"-({v})*{k}*x - w", "z - x*w")
    kinds = (True, True, True, False)
    return Limit("vanishing mass", ("c", "x", "w", "z"), kinds, f, (t, x, w, x * w), p, E)


KINDS: tuple[Callable[[np.random.Generator], Limit], ...] = (
    pole,
    tangent,
    domain,
    fold,
    cubic,
    blow_up,
    vertical,
    vanishing,
)


def make(seed: int) -> Member:
    """Return the member of this seed; a third of them end before the solution does."""
    rng = rng_of("limits", seed)
    limit = pick(rng, KINDS)(rng)
    beyond = rng.random() < 0.67
    t_end = float(limit.end * (rng.uniform(1.2, 3.0) if beyond else rng.uniform(0.5, 0.9)))
    n = len(limit.states)
    truth = rows_of([sp.lambdify(t, row, "numpy") for row in limit.solution])
    start = truth(np.array([0.0]))[:, 0]
    half = np.abs(truth(np.linspace(0, limit.end / 2, 50))).max(axis=1)
    member = Member(
        "limits",
        limit.kind + ("" if beyond else ", not reached"),
        seed,
        limit.states,
        limit.E
        or tuple(tuple("1" if i == j and limit.differential[i] else "0" for j in range(n)) for i in range(n)),
        limit.f,
        (0.0, t_end),
        tuple(float(v) for v in start),
        tuple(float(v) or 1.0 for v in half),
        truth,
        ends_at=limit.end if beyond else None,
    )
    return with_settings(disguised(member, rng, often=0.2), rng)
