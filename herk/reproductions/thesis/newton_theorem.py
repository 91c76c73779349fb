"""Theorem 3.16 (Newton-Mysovskikh) for the divided Newton method, on the constraints of the pendulum.

With 60 digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mpmath import mp

from herk.reproductions.published import Origin, Row, Verdict
from herk.reproductions.thesis.examples import START

DIGITS = 60
GRAVITY = "11.16"
SHIFTS = ("0.0001", "0.0003", "0.001")  # of the start, in every algebraic component
MOST_UPDATES = 8
THIRD = 8 * 3**0.5  # the third derivatives of g are -8 for y, y, lambda in any order: a bound of the norm


@dataclass(frozen=True)
class Iteration:
    """Divided Newton from one start.

    L of the Lipschitz condition, lengths of the updates, distances to the solution.
    """

    shift: str
    lipschitz: Any
    updates: tuple[Any, ...]
    distances: tuple[Any, ...]
    moved: tuple[Any, ...]  # of the iterates from the start

    @property
    def applies(self) -> bool:
        """Tell whether eps_0 = L |update_0| is below 2."""
        return bool(self.lipschitz * self.updates[0] < 2)

    @property
    def quadratic(self) -> bool:
        """Tell whether every update is at most L/2 times the square of the one before."""
        with mp.workdps(DIGITS):
            pairs = zip(self.updates[1:], self.updates[:-1], strict=True)
            return all(new <= self.lipschitz / 2 * old**2 for new, old in pairs)

    @property
    def bounded(self) -> bool:
        """Tell whether |x_k - x*| <= |update_k| / (1 - L/2 |update_k|).

        And the iterates stay in the ball of radius rho.
        """
        with mp.workdps(DIGITS):
            rho = self.updates[0] / (1 - self.lipschitz * self.updates[0] / 2)
            near = all(
                d <= u / (1 - self.lipschitz * u / 2)
                for d, u in zip(self.distances, self.updates, strict=True)
            )
            return near and all(m <= rho for m in self.moved)


def constraints(y: Any, w: Any, lam: Any) -> Any:
    """Return g of system (2.9), m = l = 1, with x and v of Example 2.13 given."""
    x, v, gravity = mp.mpf(START[0]), mp.mpf(START[2]), mp.mpf(GRAVITY)
    third = 2 * v**2 + 2 * w**2 - 4 * (x**2 + y**2) * lam - 2 * gravity * y
    return mp.matrix([x**2 + y**2 - 1, 2 * x * v + 2 * y * w, third])


def derivative(y: Any, w: Any, lam: Any) -> Any:
    """Return dg/d(y, w, lambda)."""
    x = mp.mpf(START[0])
    return mp.matrix(
        [[2 * y, 0, 0], [2 * w, 2 * y, 0], [-8 * y * lam - 2 * mp.mpf(GRAVITY), 4 * w, -4 * (x**2 + y**2)]]
    )


def lipschitz(start: Sequence[Any], update: Any) -> Any:
    """Return a bound of L in the ball the theorem needs.

    |J^-1| (|g''| + |g'''| rho) with |J^-1| continued from its centre.
    """
    y, _, lam = start
    entries = [
        2,
        2,
        2,
        -8 * lam,
        4,
        -8 * y,
        -8 * y,
    ]  # second derivatives: yy; yw twice; yy, ww, y lambda twice
    rho = 2 * update  # confirmed below: the theorem's radius is smaller as long as eps_0 < 1
    second = mp.sqrt(sum(mp.mpf(e) ** 2 for e in entries)) + THIRD * rho
    inverse = mp.mnorm(derivative(*start) ** -1, "f")
    return inverse / (1 - inverse * second * rho) * second if inverse * second * rho < 1 else mp.inf


def iterate(shift: str) -> Iteration:
    """Run divided Newton from a start off by `shift` in every algebraic component.

    X and v keep their values.
    """
    with mp.workdps(DIGITS):
        y = -mp.sqrt(1 - mp.mpf(START[0]) ** 2)
        w = -mp.mpf(START[0]) * mp.mpf(START[2]) / y
        lam = (2 * mp.mpf(START[2]) ** 2 + 2 * w**2 - 2 * mp.mpf(GRAVITY) * y) / 4
        solution, x = mp.matrix([y, w, lam]), mp.matrix([y, w, lam]) + mp.mpf(shift) * mp.matrix([1, 1, 1])
        start, updates, distances, moved = x.copy(), [], [], []
        for _ in range(MOST_UPDATES):
            step = mp.lu_solve(derivative(*x), -constraints(*x))
            if mp.norm(step) < mp.mpf(10) ** (10 - DIGITS):  # the next one would be rounding
                break
            updates.append(mp.norm(step))
            distances.append(mp.norm(x - solution))
            moved.append(mp.norm(x - start))
            x += step
        return Iteration(
            shift, lipschitz(list(start), updates[0]), tuple(updates), tuple(distances), tuple(moved)
        )


def row(each: Iteration) -> Row:
    """Judge the estimates of the theorem; a start to which it does not apply proves nothing and is lost."""
    fits = each.applies and each.quadratic and each.bounded and len(each.updates) > 2
    lengths = ", ".join(mp.nstr(u, 2) for u in each.updates)
    first = mp.nstr(each.lipschitz * each.updates[0], 2)
    why = f"L <= {mp.nstr(each.lipschitz, 3)}, eps_0 = {first}; algebraic: y, w, lambda; 60 digits"
    said, verdict = (
        "each at most L/2 times the square of the one before",
        Verdict.SAME if fits else Verdict.LOST,
    )
    return Row(
        "Theorem 3.16",
        f"pendulum, start off by {each.shift}",
        "lengths of updates",
        said,
        lengths,
        verdict,
        why,
        origin=Origin.SAID,
    )


def rows() -> list[Row]:
    """Return the theorem on the starts of SHIFTS."""
    return [row(iterate(shift)) for shift in SHIFTS]
