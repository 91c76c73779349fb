"""Shapes of sources over time, as formulas: DC, SIN, PULSE; and the times at which pulses have corners."""

from __future__ import annotations

import math

import sympy as sp

from herk.circuit.elements import Element
from herk.model.functions import floor


def wave(element: Element, t: sp.Symbol) -> sp.Expr:
    """Return the value of a source at time t; a constant one is a parameter of its name."""
    if element.wave == "DC":
        return sp.Symbol(element.name, real=True)
    return (_sine if element.wave == "SIN" else _pulse)([sp.Float(value, 17) for value in element.numbers], t)


def corners(element: Element, t0: float, t1: float) -> list[float]:
    """Return the times between t0 and t1 at which a source is not smooth."""
    if element.wave == "SIN":
        return [element.numbers[3]] if len(element.numbers) > 3 and element.numbers[3] else []
    if element.wave != "PULSE":
        return []
    _, _, delay, rise, fall, width, *rest = element.numbers
    period = rest[0] if rest else 0.0
    ends = [0.0, rise, rise + width, rise + width + fall]
    last = math.ceil((max(t0, t1) - delay) / period) if period else 0
    times = [delay + k * period + end for k in range(max(0, last) + 1) for end in ends]
    return [time for time in times if min(t0, t1) < time < max(t0, t1)]


def _sine(numbers: list[sp.Expr], t: sp.Symbol) -> sp.Expr:
    """Return offset + amplitude exp(-damping s) sin(2 pi frequency s), s being the time since the delay."""
    offset, amplitude, frequency, *rest = numbers
    delay = rest[0] if rest else sp.S.Zero
    damping = rest[1] if len(rest) > 1 else sp.S.Zero
    since = t - delay if delay else t
    value = offset + amplitude * sp.sin(2 * sp.pi * frequency * since)
    if damping:
        value = offset + amplitude * sp.exp(-damping * since) * sp.sin(2 * sp.pi * frequency * since)
    return sp.Piecewise((offset, t < delay), (value, True)) if delay else value


def _pulse(numbers: list[sp.Expr], t: sp.Symbol) -> sp.Expr:
    """Return straight lines from low to high and back, every period anew."""
    low, high, delay, rise, fall, width, *rest = numbers
    s = t - delay
    if rest and rest[0]:
        s = s - rest[0] * floor(s / rest[0])
    return sp.Piecewise(
        (low, t < delay),
        (low + (high - low) * s / rise, s < rise),
        (high, s < rise + width),
        (high + (low - high) * (s - rise - width) / fall, s < rise + width + fall),
        (low, True),
    )
