"""Input signals of circuits: trapezoidal pulses as formulas, and the times of their breakpoints."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

import sympy as sp

from herk.model.entries import t


@dataclass(frozen=True)
class Pulse:
    """A signal that waits at 0, rises to `top`, stays there, falls, and begins anew.

    The four times are given as exact texts; a fifth is that of a rest before it begins anew.
    """

    top: int
    times: tuple[str, ...]

    @property
    def corners(self) -> list[tuple[Fraction, int]]:
        """Return time and value at the beginning and at the end of the parts of a period."""
        times = accumulate(map(Fraction, self.times), initial=Fraction(0))
        return list(zip(times, (0, 0, self.top, self.top, 0, 0), strict=False))

    @property
    def period(self) -> Fraction:
        """Return the length of a period."""
        return self.corners[-1][0]

    def breakpoints(self, t_end: float) -> tuple[float, ...]:
        """Return the times of the corners after 0 and up to t_end."""
        periods = range(int(t_end / float(self.period)) + 1)
        times = (float(k * self.period + time) for k in periods for time, _ in self.corners[1:])
        return tuple(time for time in times if 0 < time <= t_end)

    def left(self, time: float) -> tuple[float, float]:
        """Return value and slope, at corners those of the part before."""
        number, before = divmod(
            Fraction(time * (1 - 1e-13)), self.period
        )  # a corner in doubles may lie on either side of the corner
        (start, low), (end, high) = next(part for part in pairwise(self.corners) if before < part[1][0])
        slope = (high - low) / (end - start)
        return float(low + slope * (Fraction(time) - number * self.period - start)), float(slope)

    def signal(self) -> Any:
        """Return the signal as a formula of t for all times.

        It cannot be differentiated, because of the function floor in it.
        """
        return self._by_parts(0)

    def slope(self) -> Any:
        """Return the derivative of the signal, which jumps."""
        return self._by_parts(1)

    def differentiable(self, t_end: float) -> Any:
        """Return the signal as a formula that can be differentiated but holds, period by period.

        Only up to t_end.
        """
        parts = [
            part
            for k in range(int(t_end / float(self.period)) + 1)
            for part in self._parts(t - k * _exact(self.period))
        ]
        return sp.Piecewise(*((value, left > 0) for value, left in parts), (0, True))

    def _by_parts(self, order: int) -> Any:
        time = t - _exact(self.period) * sp.floor(t / _exact(self.period))
        x = sp.Dummy(real=True)
        *parts, last = [
            (value.diff(x, order).xreplace({x: time}), left.xreplace({x: time}) > 0)
            for value, left in self._parts(x)
        ]
        return sp.Piecewise(*parts, (last[0], True))

    def _parts(self, time: Any) -> list[tuple[Any, Any]]:
        """Return for each part its formula and the time that is left of it.

        A corner belongs to the part behind it.
        """
        return [
            (
                sp.sympify(low) + (high - low) * (time - _exact(start)) / _exact(end - start),
                _exact(end) - time,
            )
            for (start, low), (end, high) in pairwise(self.corners)
            if end > start
        ]


def _exact(number: Fraction) -> Any:
    return sp.Rational(number.numerator, number.denominator)
