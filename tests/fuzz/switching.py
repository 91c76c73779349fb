"""Oscillators whose forces jump or bend with the state, of index 0 to 3, solved from switch to switch by SciPy.

The judge knows every force as a plain function of the present branch, finds the switches by SciPy's events, and
sees where the motion slides along one of them: the solution ends there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import solve_ivp

from tests.fuzz.member import Array, Member, pick, rng_of, round_digits, with_settings

T_END = 6.0
CLEAR = 0.05  # speed with which a switch must be crossed, and distance at which it must be missed
PERTURBED = 1e-7
AT_ONCE = 1e-12  # so near another switch, that is crossed with the one that was found
LOCATED = (
    30.0  # errors of ten tolerances, crossed with a speed of a third: so well is a switch located in time
)


@dataclass(frozen=True)
class Force:
    """A force as text, and as a function of (x, v) and of the signs of its surfaces."""

    kind: str
    text: str
    surfaces: tuple[Callable[[float, float], float], ...]
    value: Callable[..., float]
    jumps: bool = False


def friction(rng: np.random.Generator) -> Force:
    """Return dry friction on a belt."""
    mu, belt = round_digits(rng, 0.2, 1.5), round_digits(rng, 0.1, 0.6)
    return Force(
        "friction", f"-{mu}*sign(v - {belt})", (lambda x, v: v - belt,), lambda x, v, s: -mu * s, jumps=True
    )


def relay(rng: np.random.Generator) -> Force:
    """Return a relay that pulls back, by position or by a mixture with the speed."""
    a, c = round_digits(rng, 0.3, 2.0), round_digits(rng, 0.2, 1.0) * pick(rng, (0, 1))
    return Force(
        "relay", f"-{a}*sign(x + {c}*v)", (lambda x, v: x + c * v,), lambda x, v, s: -a * s, jumps=True
    )


def step(rng: np.random.Generator) -> Force:
    """Return a force that is another one behind a place."""
    k, d = round_digits(rng, 0.3, 2.0), round_digits(rng, 0.1, 0.8)
    text = f"Piecewise((-{k}, x > {d}), ({k}/2, True))"
    return Force("step", text, (lambda x, v: x - d,), lambda x, v, s: -k if s > 0 else k / 2, jumps=True)


def saturation(rng: np.random.Generator) -> Force:
    """Return a spring that gives way."""
    k, d = round_digits(rng, 0.5, 3.0), round_digits(rng, 0.1, 0.6)

    def value(x: float, v: float, above: float, below: float) -> float:
        return -k * (d if above > 0 else -d if below < 0 else x)

    return Force(
        "saturation", f"-{k}*Max(-{d}, Min({d}, x))", (lambda x, v: x - d, lambda x, v: x + d), value
    )


def diode(rng: np.random.Generator) -> Force:
    """Return a stop that pushes on one side only."""
    k, d = round_digits(rng, 1.0, 9.0), round_digits(rng, 0.1, 0.8)
    text = f"-Piecewise(({k}*(x - {d}), x > {d}), (0, True))"
    return Force("diode", text, (lambda x, v: x - d,), lambda x, v, s: -k * (x - d) if s > 0 else 0.0)


def absolute(rng: np.random.Generator) -> Force:
    """Return a spring with a kink, and drag."""
    k, c = round_digits(rng, 0.2, 1.0), round_digits(rng, 0.1, 0.6)

    def value(x: float, v: float, right: float, ahead: float) -> float:
        return -k * right * x - c * v * ahead * v

    return Force("Abs", f"-{k}*Abs(x) - {c}*v*Abs(v)", (lambda x, v: x, lambda x, v: v), value)


FORCES = (friction, relay, step, saturation, diode, absolute)


@dataclass
class Motion:
    """x'' = force, followed from switch to switch."""

    w2: float
    damping: float
    amplitude: float
    speed: float
    forces: tuple[Force, ...]
    share: float = 1.0  # of the force that accelerates x: the rest moves what it is tied to
    slides_at: float | None = None
    runs: list[tuple[float, float, Array, Callable[[Array], Array]]] = field(default_factory=list)
    doubtful: bool = False

    @property
    def text(self) -> str:
        """Return the force as a formula."""
        smooth = f"-{self.w2}*x - {self.damping}*v + {self.amplitude}*cos({self.speed}*t)"
        return " + ".join([smooth, *(f"({each.text})" for each in self.forces)])

    def surfaces(self) -> list[Callable[[float, float], float]]:
        """Return all switching functions."""
        return [surface for each in self.forces for surface in each.surfaces]

    def force(self, t: Array, x: Array, v: Array, signs: Array) -> Array:
        """Return the force on the present branch."""
        total = -self.w2 * x - self.damping * v + self.amplitude * np.cos(self.speed * t)
        at = 0
        for each in self.forces:
            total = total + each.value(x, v, *signs[at : at + len(each.surfaces)])
            at += len(each.surfaces)
        return total

    def go(self, x0: float, v0: float) -> None:
        """Follow the motion to the end of the span, or to where it slides."""
        self.runs, self.slides_at, self.doubtful = [], None, False
        t, y = 0.0, np.array([x0, v0])
        signs = np.array([1.0 if surface(*y) > 0 else -1.0 for surface in self.surfaces()])
        while t < T_END and len(self.runs) < 60:
            run = solve_ivp(
                self._rate(signs), (t, T_END), y, "DOP853", rtol=1e-12, atol=1e-13, dense_output=True,
                events=[self._event(i, signs[i]) for i in range(signs.size)], max_step=0.05,
            )  # fmt: skip
            self.runs.append((t, run.t[-1], signs.copy(), run.sol))
            self._near_misses(run.y)
            t, y = float(run.t[-1]), run.y[:, -1]
            hit = [i for i, found in enumerate(run.t_events) if found.size]
            if run.status != 1 or not hit:
                return
            self._cross(hit[0], t, y, signs)
            for i, surface in enumerate(self.surfaces()):  # two of them may be crossed at once
                if i != hit[0] and signs[i] * surface(*y) < AT_ONCE:
                    self._cross(i, t, y, signs)
            if self.slides_at is not None or self.doubtful:
                return

    def _cross(self, i: int, t: float, y: Array, signs: Array) -> None:
        """Change the branch, unless it leads back."""
        before = self._speed(i, t, y, signs)
        signs[i] = -signs[i]
        behind = self._speed(i, t, y, signs) * signs[i]
        self.doubtful |= abs(before) < CLEAR or abs(behind) < CLEAR
        if behind < 0:
            self.slides_at = t

    def _speed(self, i: int, t: float, y: Array, signs: Array) -> float:
        rate, h = np.array(self._rate(signs)(t, y)), 1e-6
        surface = self.surfaces()[i]
        return (surface(*(y + h * rate)) - surface(*(y - h * rate))) / (2 * h)

    def _rate(self, signs: Array) -> Callable[[float, Array], list[float]]:
        kept = signs.copy()
        return lambda t, y: [y[1], self.share * self.force(t, y[0], y[1], kept)]

    def _event(self, i: int, sign: float) -> Callable[[float, Array], float]:
        surface = self.surfaces()[i]

        def value(t: float, y: Array) -> float:
            return surface(*y) + sign * 1e-14

        value.terminal, value.direction = True, -sign  # type: ignore[attr-defined]
        return value

    def _near_misses(self, points: Array) -> None:
        """Note if a switch is nearly touched: then rounding decides."""
        for surface in self.surfaces():
            values = np.abs([surface(*column) for column in points.T])
            inner = values[1:-1]
            low = (inner < values[:-2]) & (inner < values[2:])
            self.doubtful |= bool((inner[low] < 1e-2).any())

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        """Return x, v and the force at these times; not a number behind the end."""
        times = np.asarray(times, dtype=float)
        x, v, force = (np.full(times.shape, np.nan) for _ in range(3))
        for low, high, signs, sol in self.runs:
            inside = (times >= low) & (times <= high)
            if inside.any():
                x[inside], v[inside] = sol(times[inside])
                force[inside] = [
                    self.force(*each, signs) for each in zip(times[inside], x[inside], v[inside], strict=True)
                ]
        return x, v, force


def motion(rng: np.random.Generator, share: float) -> tuple[Motion, float, float, float]:
    """Return a motion whose switches are clear, its start, and how much it enlarges errors of the start."""
    while True:
        chosen = rng.choice(len(FORCES), size=int(rng.integers(1, 4)), replace=False)
        forces = tuple(FORCES[k](rng) for k in chosen)
        numbers = (round_digits(rng, *ends) for ends in ((0.5, 6.0), (0.05, 0.5), (0.5, 3.0), (0.7, 3.0)))
        found = Motion(*numbers, forces, share)
        x0, v0 = round_digits(rng, -1.5, 1.5), round_digits(rng, -1.5, 1.5)
        found.go(x0 + PERTURBED, v0 - PERTURBED)
        end = (found.slides_at or T_END) - 1e-3
        moved, bad = np.array(found.at(np.linspace(0, end, 200))[:2]), found.doubtful
        found.go(x0, v0)
        if bad or found.doubtful or not found.runs or (found.slides_at or T_END) < 0.5:
            continue
        difference = moved - np.array(found.at(np.linspace(0, end, 200))[:2])
        return found, x0, v0, float(np.nanmax(np.abs(difference))) / PERTURBED


SHAPES = {
    0: (("x", "v"), 2, ("v", "F"), 1.0),
    1: (("x", "v", "q"), 2, ("v", "q", "q - F"), 1.0),
    2: (("x", "v", "u", "lam"), 3, ("v", "F + lam", "-lam", "v - u"), 0.5),
    3: (("x", "z", "v", "u", "lam"), 4, ("v", "u", "F + lam", "-lam", "x - z - 1"), 0.5),
}


def make(seed: int) -> Member:
    """Return the switching model of this seed."""
    rng = rng_of("switching", seed)
    index = pick(rng, tuple(SHAPES))
    states, differential, f, share = SHAPES[index]
    found, *_, enlarged = motion(rng, share)

    def truth(times: Array) -> Array:
        x, v, force = found.at(times)
        known = {"x": x, "v": v, "q": force, "u": v, "z": x - 1, "lam": -force / 2}
        return np.array([known[name] for name in states])

    end = found.slides_at or T_END
    grid = truth(np.linspace(0, end, 2001))
    n = len(states)
    member = Member(
        "switching",
        f"index {index}: {', '.join(each.kind for each in found.forces)}"
        + (", slides" if found.slides_at else ""),
        seed,
        states,
        tuple(tuple("1" if i == j < differential else "0" for j in range(n)) for i in range(n)),
        tuple(row.replace("F", f"({found.text})") for row in f),
        (0.0, T_END),
        tuple(float(value) for value in grid[:, 0]),
        tuple(float(value) or 1.0 for value in np.nanmax(np.abs(grid), axis=1)),
        truth,
        corners=tuple(float(high) for _, high, _, _ in found.runs[:-1]),
        ends_at=found.slides_at,
        enlarged=enlarged,
        located=LOCATED * max(1.0, enlarged),
    )
    return with_settings(member, rng)
