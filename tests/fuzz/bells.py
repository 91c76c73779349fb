"""Narrow peaks of the state: no step meets them but by chance; exact by the integral of the peak over its way.

With x' = h(u) s', u = (s - c)/w, the truth is x = w (H(u) - H(u0)) however s moves, H being the integral of h.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import erf, erfc, expit, gamma, gammainc, ive

from tests.fuzz.driven import rows_of
from tests.fuzz.judge import ORDINARY
from tests.fuzz.member import CHANNELS, Array, Member, Truth, pick, rng_of, round_digits, with_settings
from tests.fuzz.units import disguised

LOCATED = 300.0  # multiples of the tolerance by which a peak may come too early or too late
MESH = 2e-3  # of the span: corners as near to each other keep judges of derivatives away from a peak


@dataclass(frozen=True)
class Way:
    """How s moves: its states, rows of f, where the first of them are differential, truth, and rate of s."""

    kind: str
    states: tuple[str, ...]
    differential: int
    f: tuple[str, ...]
    truth: tuple[Callable[[Array], Array], ...]
    rate: str
    t_end: float
    exact: bool  # s has no error of its own


def straight(rng: np.random.Generator) -> Way:
    """Return s that grows."""
    v = round_digits(rng, 0.2, 3.0)
    return Way("straight", ("s",), 1, (f"{v}",), (lambda t: v * t - 1,), f"{v}", 2 / v, exact=True)


def swinging(rng: np.random.Generator) -> Way:
    """Return an oscillator."""
    w, start, t_end = round_digits(rng, 0.5, 3.0), round_digits(rng, 0.0, 6.0), round_digits(rng, 3.0, 9.0)
    truth = (lambda t: np.cos(w * t + start), lambda t: -np.sin(w * t + start))
    return Way("swinging", ("s", "q"), 2, (f"{w}*q", f"-{w}*s"), truth, f"{w}*q", t_end, exact=False)


def driven(rng: np.random.Generator) -> Way:
    """Return s given by a constraint."""
    w, t_end = round_digits(rng, 0.5, 3.0), round_digits(rng, 3.0, 9.0)
    rate = f"{w}*cos({w}*t)"
    return Way("driven", ("s",), 0, (f"s - sin({w}*t)",), (lambda t: np.sin(w * t),), rate, t_end, exact=True)


def dying(rng: np.random.Generator) -> Way:
    """Return s that dies away."""
    a = round_digits(rng, 0.3, 2.0)
    truth = (lambda t: np.exp(-a * t),)
    return Way("dying", ("s",), 1, (f"-{a}*s",), truth, f"(-{a}*s)", 3 / a, exact=False)


WAYS = (straight, swinging, driven, dying)
Shape = tuple[str, Callable[[Array], Array], Callable[[Array], Array]]  # text of u, values, integral
SHAPES: dict[str, Shape] = {
    "bell": ("exp(-({u})**2)", lambda u: np.exp(-(u**2)), lambda u: np.sqrt(np.pi) / 2 * erf(u)),
    "soliton": ("sech({u})**2", lambda u: 1 - np.tanh(u) ** 2, np.tanh),
    "hyperbolic": ("1/cosh({u})**2", lambda u: 1 - np.tanh(u) ** 2, np.tanh),
    "resonance": ("1/(1 + ({u})**2)", lambda u: 1 / (1 + u**2), np.arctan),
    "steep resonance": (
        "(1 + ({u})**2)**(-2)",
        lambda u: (1 + u**2) ** -2.0,
        lambda u: u / (2 * (1 + u**2)) + np.arctan(u) / 2,
    ),
    "two steps": (
        "(tanh({u} + 3) - tanh({u} - 3))/2",
        lambda u: (np.tanh(u + 3) - np.tanh(u - 3)) / 2,
        lambda u: (np.logaddexp(u + 3, -u - 3) - np.logaddexp(u - 3, 3 - u)) / 2,
    ),
}
OTHERS: dict[str, Shape] = {  # drawn by another stream: seeds of old keep their shapes, but for some
    "step of a square": (
        "erfc(({u})**2)",
        lambda u: erfc(u**2),
        lambda u: u * erfc(u**2) + np.sign(u) * gamma(0.75) * gammainc(0.75, u**4) / np.sqrt(np.pi),
    ),
    "square of a step": ("(1 - tanh({u})**2)", lambda u: 1 - np.tanh(u) ** 2, np.tanh),
    "corner": ("exp(-Abs({u}))", lambda u: np.exp(-np.abs(u)), lambda u: -np.sign(u) * np.expm1(-np.abs(u))),
    "root": (
        "exp(-sqrt(({u})**2))",
        lambda u: np.exp(-np.abs(u)),
        lambda u: -np.sign(u) * np.expm1(-np.abs(u)),
    ),
    "logistic": ("exp(-({u}))/(1 + exp(-({u})))**2", lambda u: expit(u) * expit(-u), expit),
    "product": ("(1 - 1/(1 + exp({u})))/(1 + exp({u}))", lambda u: expit(u) * expit(-u), expit),
    "exponentials": (
        "1/(exp({u}) + exp(-({u})))**2",
        lambda u: expit(2 * u) * expit(-2 * u),
        lambda u: expit(2 * u) / 2,
    ),
    "skew": (
        "exp({u} - exp({u}))",
        lambda u: np.exp(np.minimum(u, 9.0) - np.exp(np.minimum(u, 9.0))),
        lambda u: -np.exp(-np.exp(np.minimum(u, 9.0))),
    ),
}
NARROWEST = {
    "soliton": -2.5,
    "hyperbolic": -2.5,
    "logistic": -2,
    "product": -2,
    "exponentials": -2,
    "skew": -2,
}


def crossing(rng: np.random.Generator, seed: int) -> Member:
    """Return a peak of s in a rate, in E or in a constraint."""
    way, name = pick(rng, WAYS)(rng), pick(rng, list(SHAPES))
    chance = rng_of("bells otherwise", seed)
    name = pick(chance, list(OTHERS)) if chance.random() < 0.6 else name
    text, value, integral = (SHAPES | OTHERS)[name]
    least = NARROWEST.get(name, -5)  # exponentials, and their squares in derivatives, end at 710
    w, place = float(f"{10 ** rng.uniform(least, -1.5):.2g}"), round_digits(rng, -0.9, 0.9)
    place, high = (abs(place) if way.kind == "dying" else place), float(f"{1 / w:.3g}")
    h = text.format(u=f"((s - ({place!r}))/{w!r})")
    s = way.truth[0]

    def u(t: Array) -> Array:
        return (s(t) - place) / w

    def x(t: Array) -> Array:
        return high * w * (integral(u(t)) - integral(u(np.zeros(1))))

    kinds = ["rate", "rate", "E"] + (["constraint"] if way.exact else [])
    where, entry = pick(rng, kinds), "1"
    row, last, states = f"{high}*{h}*{way.rate}", x, (*way.states, "x")
    if where == "E":
        entry, row = f"1/(1 + {high}*{h})", way.rate
        last = lambda t: x(t) + s(t) - s(np.zeros(1))
    rows, truth = [*way.f, row], [*way.truth, last]
    if where == "constraint":
        states, rows, truth = (
            (*states, "z"),
            [*way.f, f"z*{way.rate}", f"z - {high}*{h}"],
            [*truth, lambda t: high * value(u(t))],
        )
    n = len(states)
    E = [["0"] * n for _ in states]
    for i in range(way.differential):
        E[i][i] = "1"
    E[len(way.states)][len(way.states)] = entry
    member = _member(
        f"{name} of width {w:g} in {where}, {way.kind}", seed, states, E, rows, rows_of(truth), way.t_end
    )
    member = replace(member, corners=_corners(s, place, w, way.t_end), **({} if way.exact else _inexact(w)))
    if where != "constraint":
        return member
    return replace(member, channels=_on_constraints(member), sizes=(*member.sizes[:-1], high))


def circling(rng: np.random.Generator, seed: int) -> Member:
    """Return a point on a circle that comes by a small place on it: exact by Bessel functions."""
    w, at, t_end = (
        float(f"{10 ** rng.uniform(-2.5, -1):.2g}"),
        round_digits(rng, 0.5, 6.0),
        round_digits(rng, 5.0, 14.0),
    )
    a, b = float(np.cos(at)), float(np.sin(at))
    rows = ["-q", "p", f"exp(-((p - ({a!r}))**2 + (q - ({b!r}))**2)/{w!r}**2)/{w!r}"]
    truth = [np.cos, np.sin, lambda t: (_turned(t - at, 2 / w**2) - _turned(-at, 2 / w**2)) / w]
    member = _member(f"circle, width {w:g}", seed, ("p", "q", "x"), _unit(3), rows, rows_of(truth), t_end)
    places = [at + 2 * np.pi * k for k in range(3)]
    return replace(member, corners=_around(places, w, t_end), **_inexact(w))


def train(rng: np.random.Generator, seed: int) -> Member:
    """Return peak after peak of a phase that grows: exact by Bessel functions."""
    w, v, t_end = float(f"{10 ** rng.uniform(-2.5, -1):.2g}"), round_digits(rng, 1.0, 9.0), 4.0
    rows = [f"{v}", f"{v / w:.6g}*exp(-(sin(s)/{w!r})**2)"]
    high, kappa = float(f"{v / w:.6g}") / v, 0.5 / w**2
    truth = [lambda t: v * t + 1, lambda t: high / 2 * (_turned(2 * v * t + 2, kappa) - _turned(2.0, kappa))]
    member = _member(f"train, width {w:g}", seed, ("s", "x"), _unit(2), rows, rows_of(truth), t_end)
    places = [(np.pi * k - 1) / v for k in range(int(v * t_end / np.pi) + 2)]
    return replace(member, corners=_around(places, w / v, t_end))


def _turned(angle: Array, k: float) -> Array:
    """Return the integral of exp(k (cos a - 1)) over a, from 0 to an angle."""
    n = np.arange(1, int(9 * np.sqrt(k)) + 40)
    terms = ive(n, k) / n
    flat = np.atleast_1d(angle)
    found = ive(0, k) * flat + 2 * np.array([np.sin(n * a) @ terms for a in flat])
    return found if np.ndim(angle) else found[0]


def _unit(n: int) -> list[list[str]]:
    return [["1" if i == j else "0" for j in range(n)] for i in range(n)]


def _corners(s: Callable[[Array], Array], place: float, w: float, t_end: float) -> tuple[float, ...]:
    """Return times at a peak and near it."""
    fine = np.linspace(0, t_end, 100_001)
    far = s(fine) - place
    crossed = np.flatnonzero(far[:-1] * far[1:] <= 0)
    near = fine[np.abs(far) < 8 * w]
    mesh = (
        near[
            np.unique(np.searchsorted(near, np.arange(0, t_end, MESH * t_end)).clip(0, max(near.size - 1, 0)))
        ]
        if near.size
        else near
    )
    zeros = fine[crossed] - far[crossed] * np.diff(fine)[crossed] / np.diff(far)[crossed]
    return tuple(float(time) for time in np.union1d(zeros, mesh) if 0 < time < t_end)


def _around(places: list[float], duration: float, t_end: float) -> tuple[float, ...]:
    """Return these times and others beside them."""
    beside = np.arange(-8 * duration, 8 * duration, MESH * t_end)
    return tuple(float(time) for place in places for time in (place, *(place + beside)) if 0 < time < t_end)


def _inexact(w: float) -> dict[str, Any]:
    """Return how an error of s is forgiven: it moves the peak, beside which values are not judged."""
    return {"located": LOCATED, "enlarged": ORDINARY * min(max(1.0, 0.1 / w), 10.0), "moved": True}


def _on_constraints(member: Member) -> tuple[str, ...]:
    """Return where values of an unknown that is a peak are judged: where they are put on g = 0."""
    return tuple(channel for channel in member.channels if channel != "unprojected")


def _member(
    kind: str,
    seed: int,
    states: tuple[str, ...],
    E: list[list[str]],
    f: list[str],
    truth: Truth,
    t_end: float,
) -> Member:
    grid = truth(np.linspace(0, t_end, 4001))
    sizes = [float(v) for v in np.abs(grid).max(axis=1)]
    sizes[states.index("x")] = max(sizes[states.index("x")], 1.0)  # it may pass no peak
    return Member(
        "bells", kind, seed, states, tuple(map(tuple, E)), tuple(f), (0.0, t_end),
        tuple(float(v) for v in grid[:, 0]), tuple(size or 1.0 for size in sizes), truth,
        channels=CHANNELS,
    )  # fmt: skip


def make(seed: int) -> Member:
    """Return the model of this seed."""
    rng = rng_of("bells", seed)
    member = pick(rng, (crossing, crossing, crossing, crossing, circling, train))(rng, seed)
    return with_settings(disguised(member, rng, often=0.3), rng)
