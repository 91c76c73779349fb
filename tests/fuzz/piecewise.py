"""Piecewise models (Piecewise, sign, Abs, Max, Min, pulses), exact or by tight runs from corner to corner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import erf

from tests.fuzz.driven import rows_of
from tests.fuzz.member import CHANNELS, Array, Member, Truth, pick, rng_of, round_digits, with_settings
from tests.fuzz.units import disguised


@dataclass(frozen=True)
class Piece:
    """Equations x' = f for the first states, 0 = f for the others; truth, end and corners."""

    kind: str
    states: tuple[str, ...]
    differential: int
    f: tuple[str, ...]
    truth: Truth
    t_end: float
    corners: tuple[float, ...] = ()
    channels: tuple[str, ...] = CHANNELS


def step_input(rng: np.random.Generator) -> Piece:
    """Return a lag whose input jumps."""
    a, p, c, d, x0 = (round_digits(rng, 0.5, 2.0) for _ in range(5))

    def x(t: Array) -> Array:
        at_p = c / a + (x0 - c / a) * np.exp(-a * p)
        later = -d / a + (at_p + d / a) * np.exp(-a * (t - p))
        return np.where(t < p, c / a + (x0 - c / a) * np.exp(-a * t), later)

    f = (f"-{a}*x + Piecewise(({c}, t < {p}), (-{d}, True))", "z - 2*x - 1")
    return Piece("jump of the input", ("x", "z"), 1, f, rows_of([x, lambda t: 2 * x(t) + 1]), p + 2.0, (p,))


def square_wave(rng: np.random.Generator) -> Piece:
    """Return the triangle wave x' = sign(sin(w t))."""
    w, c, t_end = round_digits(rng, 0.5, 3.0), round_digits(rng, 0.5, 2.0), round_digits(rng, 4.0, 9.0)

    def x(t: Array) -> Array:
        return np.arccos(np.cos(w * t)) / w

    corners = tuple(float(k * np.pi / w) for k in range(1, int(t_end * w / np.pi) + 1))
    return Piece(
        "sign",
        ("x", "z"),
        1,
        (f"sign(sin({w}*t))", f"z - {c}*x**2 - 1"),
        rows_of([x, lambda t: c * x(t) ** 2 + 1]),
        t_end,
        corners,
    )


def absolute(rng: np.random.Generator) -> Piece:
    """Return x' = |t - p|, and a constraint with |x - c| in it."""
    p, c = round_digits(rng, 0.5, 1.5), round_digits(rng, 0.3, 1.0)

    def x(t: Array) -> Array:
        return ((t - p) * np.abs(t - p) + p**2) / 2

    fine = np.linspace(0, 3, 300_001)
    corner = float(np.interp(c, x(fine), fine))
    return Piece(
        "Abs",
        ("x", "z"),
        1,
        (f"Abs(t - {p})", f"z - Abs(x - {c})"),
        rows_of([x, lambda t: np.abs(x(t) - c)]),
        3.0,
        (p, corner),
    )


def clipped(rng: np.random.Generator) -> Piece:
    """Return a sine and its clipped values, Max and Min in the constraints."""
    w, c, d = round_digits(rng, 0.7, 3.0), round_digits(rng, 0.1, 0.5), round_digits(rng, 0.1, 0.5)
    t_end = 5.0

    def x(t: Array) -> Array:
        return np.sin(w * t)

    first = [np.arcsin(-c), np.pi + np.arcsin(c), np.arcsin(d), np.pi - np.arcsin(d)]
    corners = [(angle + 2 * np.pi * k) / w for angle in first for k in range(-1, int(t_end * w / 6) + 1)]
    f = (f"{w}*cos({w}*t)", f"z - Max(x, -{c})", f"u - Min(z, {d})")
    truth = rows_of([x, lambda t: np.maximum(x(t), -c), lambda t: np.clip(x(t), -c, d)])
    return Piece(
        "Max and Min", ("x", "z", "u"), 1, f, truth, t_end, tuple(float(s) for s in corners if 0 < s < t_end)
    )


def bilinear(rng: np.random.Generator) -> Piece:
    """Return an oscillator whose spring is stiffer on one side: half waves of two frequencies."""
    a, b = round_digits(rng, 0.7, 2.0), round_digits(rng, 2.0, 5.0)  # frequencies for x > 0 and x < 0
    v0, t_end = round_digits(rng, 0.5, 2.0), 6.0
    half = np.pi / a
    period = half + np.pi / b

    def motion(t: Array) -> Array:
        s = np.mod(t, period)
        up, down = (
            (v0 / a * np.sin(a * s), v0 * np.cos(a * s)),
            (-v0 / b * np.sin(b * (s - half)), -v0 * np.cos(b * (s - half))),
        )
        x, v = np.where(s < half, up, down)
        return np.array([x, v, np.where(x > 0, a**2, b**2) * x])

    starts = [k * period for k in range(int(t_end / period) + 1)]
    corners = tuple(float(s) for s in (*starts, *(s + half for s in starts)) if 0 < s < t_end)
    f = ("v", "-z", f"z - Piecewise(({a}**2*x, x > 0), ({b}**2*x, True))")
    return Piece("bilinear spring", ("x", "v", "z"), 2, f, motion, t_end, corners)


def short_pulse(rng: np.random.Generator) -> Piece:
    """Return a lag with a rectangular pulse, as short as a thousandth of the span; the model shows where."""
    a, p = round_digits(rng, 0.3, 1.0), round_digits(rng, 2.0, 8.0)
    width = float(f"{10 ** rng.uniform(-2, 0):.2g}")
    h, q = float(f"{2 / width:.3g}"), float(f"{p + width:.12g}")

    def x(t: Array) -> Array:
        within, after = np.exp(-a * np.maximum(t - p, 0.0)), np.exp(-a * np.maximum(t - q, 0.0))
        return np.exp(-a * t) + h / a * np.where(t < p, 0.0, np.where(t < q, 1 - within, after - within))

    f = (f"-{a}*x + Piecewise((0, t < {p}), ({h}, t < {q}), (0, True))", "z - x")
    return Piece(f"pulse of width {width:g}", ("x", "z"), 1, f, rows_of([x, x]), 10.0, (p, q))


def bell(rng: np.random.Generator) -> Piece:
    """Return a bell curve as an algebraic unknown; no steps see a narrow one: it is judged on g = 0 only."""
    p, width, h = (
        round_digits(rng, 2.0, 8.0),
        float(f"{10 ** rng.uniform(-2, 0):.2g}"),
        round_digits(rng, 1, 100),
    )
    truth = rows_of([lambda t: t, lambda t: h * np.exp(-(((t - p) / width) ** 2))])
    channels = CHANNELS if width >= 0.2 else tuple(c for c in CHANNELS if c != "unprojected")
    return Piece(
        f"bell of width {width:g}",
        ("x", "z"),
        1,
        ("1", f"z - {h}*exp(-((t - {p})/{width})**2)"),
        truth,
        10.0,
        (p,),
        channels,
    )


def kicked(rng: np.random.Generator) -> Piece:
    """Return an oscillation beside a sum of it and a smooth kick: exact by the error function."""
    w, p, width = round_digits(rng, 3.0, 8.0), round_digits(rng, 1.0, 4.0), round_digits(rng, 0.1, 0.5)

    def x(t: Array) -> Array:
        return np.sqrt(np.pi) / 2 * width * (erf((t - p) / width) + erf(p / width))

    f = (f"exp(-((t - {p})/{width})**2)", f"{w}*c", f"-{w}*s", "z - x - s")
    truth = rows_of([x, lambda t: np.sin(w * t), lambda t: np.cos(w * t), lambda t: x(t) + np.sin(w * t)])
    return Piece("smooth kick", ("x", "s", "c", "z"), 3, f, truth, 5.0)


def rectifier(rng: np.random.Generator) -> Piece:
    """Return a lag behind a half-wave rectifier; tight runs of DOP853 from corner to corner."""
    a, w, t_end = round_digits(rng, 0.5, 3.0), round_digits(rng, 1.0, 5.0), 5.0
    corners = tuple(float(k * np.pi / w) for k in range(1, int(t_end * w / np.pi) + 1))
    runs, start = [], np.array([0.5])
    for low, high in zip((0.0, *corners), (*corners, t_end), strict=True):
        on = float(np.sin(w * (low + high) / 2) > 0)
        run = solve_ivp(
            lambda t, x, on=on: -a * x + on * np.sin(w * t),
            (low, high),
            start,
            method="DOP853",
            rtol=1e-12,
            atol=1e-13,
            dense_output=True,
        )
        runs.append(run.sol)
        start = run.y[:, -1]

    def truth(times: Array) -> Array:
        times = np.asarray(times, dtype=float)
        piece = np.searchsorted(corners, times)
        x = np.array([runs[k](time)[0] for k, time in zip(piece, times, strict=True)])
        return np.array([x, np.maximum(np.sin(w * times), 0.0)])

    return Piece("rectifier", ("x", "z"), 1, (f"z - {a}*x", f"z - Max(sin({w}*t), 0)"), truth, t_end, corners)


KINDS: tuple[Callable[[np.random.Generator], Piece], ...] = (
    step_input,
    square_wave,
    absolute,
    clipped,
    bilinear,
    short_pulse,
    bell,
    kicked,
    rectifier,
)


def make(seed: int) -> Member:
    """Return the piecewise model of this seed."""
    rng = rng_of("piecewise", seed)
    piece = pick(rng, KINDS)(rng)
    n = len(piece.states)
    grid = piece.truth(np.linspace(0, piece.t_end, 2001))
    member = Member(
        "piecewise",
        piece.kind,
        seed,
        piece.states,
        tuple(tuple("1" if i == j < piece.differential else "0" for j in range(n)) for i in range(n)),
        piece.f,
        (0.0, piece.t_end),
        tuple(float(v) for v in grid[:, 0]),
        tuple(float(v) or 1.0 for v in np.abs(grid).max(axis=1)),
        piece.truth,
        corners=piece.corners,
        channels=piece.channels,
    )
    return with_settings(disguised(member, rng, often=0.2), rng)
