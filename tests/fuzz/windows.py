"""Short events of time, written so that values at some times do not show them: windows, flat pulses, trains."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import erf, gamma, gammainc

from tests.fuzz.driven import rows_of
from tests.fuzz.member import Array, Member, Truth, pick, rng_of, round_digits, with_settings
from tests.fuzz.units import disguised

Event = tuple[str, str, Callable[[Array], Array], float, tuple[float, ...]]  # kind, f, x, end, corners


def window(rng: np.random.Generator) -> Event:
    """Return a lag with one short window."""
    a, c = round_digits(rng, 0.3, 1.0), float(f"{rng.uniform(2.0, 8.0):.5g}")
    w = float(f"{10 ** rng.uniform(-5, -1):.2g}")
    h, p, q = float(f"{1 / w:.3g}"), float(f"{c - w:.12g}"), float(f"{c + w:.12g}")
    conditions = (
        f"(t - {c})**2 < {w!r}**2",
        f"(t - {p!r})*({q!r} - t) > 0",
        f"((t - {c})/{w!r})**4 < 1",
        f"exp(-((t - {c})/{w!r})**2) > exp(-1)",
        f"Abs(t - {c}) < {w!r}",
        f"atan((t - {c})/{w!r})**2 < (pi/4)**2",
    )
    condition = pick(rng, conditions)

    def after(t: Array) -> Array:
        return -np.expm1(-a * np.maximum(t, 0.0))

    def x(t: Array) -> Array:
        return np.exp(-a * t) + h / a * (after(t - p) - after(t - q))

    f = f"-{a}*x + Piecewise(({h}, {condition}), (0, True))"
    return f"window {condition}", f, x, 10.0, (p, q)


def chopped(rng: np.random.Generator) -> Event:
    """Return the integral of a window that comes back."""
    period, part = round_digits(rng, 0.3, 0.9), float(f"{10 ** rng.uniform(-4, -0.4):.2g}")
    h, t_end = float(f"{1 / (part * period):.3g}"), 60 * period
    conditions = {
        f"Mod(t, {period}) < {part * period!r}": 0.0,
        f"sin(2*pi*t/{period}) > cos(pi*{part})": period * (0.25 - part / 2),
    }
    condition, begin = pick(rng, list(conditions.items()))

    def x(t: Array) -> Array:
        whole, rest = np.divmod(t - begin, period)
        found = whole * part * period + np.minimum(rest, part * period)
        return 1 + h * (found + (part * period if begin else 0.0))

    ends = (begin + k * period + share for k in range(61) for share in (0.0, part * period))
    corners = tuple(float(end) for end in ends if 0 < end < t_end)
    return f"train {condition}", f"Piecewise(({h}, {condition}), (0, True))", x, t_end, corners


def pulse(rng: np.random.Generator) -> Event:
    """Return the integral of one smooth pulse."""
    w, c, m = float(f"{10 ** rng.uniform(-6, -3.5):.2g}"), round_digits(rng, 2.0, 8.0), pick(rng, (4, 6, 8))
    shapes = {
        f"exp(-({{u}})**{m})": lambda v: np.sign(v) * gamma(1 + 1 / m) * gammainc(1 / m, np.abs(v) ** m),
        "1 - tanh({u})**2": np.tanh,
        "exp(-Abs({u}))": lambda v: -np.sign(v) * np.expm1(-np.abs(v)),
        "exp({u} - exp({u}))": lambda v: -np.exp(-np.exp(np.minimum(v, 9.0))),
    }
    shape, h = pick(rng, list(shapes)), float(f"{1 / w:.3g}")

    def x(t: Array) -> Array:
        return 1 + h * w * (shapes[shape]((t - c) / w) - shapes[shape](np.full(1, -c / w)))

    f = f"{h}*({shape.format(u=f'(t - {c})/{w!r}')})"
    return f"{shape} of width {w:g}", f, x, 10.0, (c,)


def train(rng: np.random.Generator) -> Event:
    """Return the integral of bell after bell."""
    w = float(f"{10 ** rng.uniform(-4, -3):.2g}")
    h = float(f"{1 / w:.3g}")

    def x(t: Array) -> Array:
        return 1 + h * w * np.sqrt(np.pi) * (np.floor(t) + 0.5 + 0.5 * erf((np.mod(t, 1.0) - 0.5) / w))

    f = f"{h}*exp(-((Mod(t, 1) - 0.5)/{w!r})**2)"
    return f"bells of width {w:g}", f, x, 30.0, tuple(k + 0.5 for k in range(30))


KINDS: tuple[Callable[[np.random.Generator], Event], ...] = (window, window, chopped, chopped, pulse, train)


def make(seed: int) -> Member:
    """Return the model of this seed: x, and z = x beside it."""
    rng = rng_of("windows", seed)
    kind, f, x, t_end, corners = pick(rng, KINDS)(rng)
    truth: Truth = rows_of([x, x])
    grid = truth(np.linspace(0, t_end, 2001))
    member = Member(
        "windows", kind, seed, ("x", "z"), (("1", "0"), ("0", "0")), (f, "z - x"), (0.0, t_end),
        tuple(float(v) for v in grid[:, 0]), tuple(float(v) for v in np.abs(grid).max(axis=1)), truth,
        corners=corners,
    )  # fmt: skip
    return with_settings(disguised(member, rng, often=0.2), rng)
