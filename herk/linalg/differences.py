"""Steps of central differences in time and in unknowns, which fit seconds and years, pico and giga."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from herk.core.dae import Array
from herk.linalg.balance import sizes

SHARE = 1e-2  # of the span: about the time in which functions of time change
EPS = 2.220446049250313e-16
STEP = 6e-6  # of the size of an unknown
LEAST = 1e-3  # or the largest unknown, if that is less: a size where nothing else is known
FAR = 1e4  # times too long: a step that is no use
BESIDE = 1e-6  # part of the largest size: in steps for a smaller unknown, changes may be lost in rounding
CLEAR = 1e5 * EPS  # of a value, is a change that rounding does not spoil
SUDDEN = 1e-2  # of the terms of a row, which a step a bit longer than one without effect does not change
LONGER = 1e3  # times as long is the step tried next


def time_size(t0: float, t1: float) -> float:
    """Return the time in which what happens between these times is taken to change."""
    return SHARE * abs(t1 - t0)


def time_step(t: float, size: float) -> float:
    """Return the step that balances its cube against rounding, which is that of t where t is large."""
    return (EPS * max(abs(t), size) * size * size) ** (1.0 / 3.0)  # type: ignore[no-any-return]


def guessed_sizes(y: Array) -> Array:
    """Return sizes of unknowns as far as their values alone tell them."""
    top = float(np.abs(y).max(initial=0.0)) or 1.0
    found: Array = np.abs(y) + min(LEAST, top)
    return found


def differenced(slopes: Callable[[Array], Any], y: Array) -> Any:
    """Return the Jacobian, sparse or not, that `slopes` finds with steps that fit the unknowns.

    Unknowns may be of different units: a small value is in small units, and its step too long, if the slopes
    balance there; if they balance at one far larger, it is near zero by chance.
    """
    guess, size = guessed_sizes(y), np.abs(y)
    jac = slopes(STEP * guess)
    small = (size > 0.0) & (guess > FAR * size)
    for _ in range(2 if small.any() else 0):
        if not np.isfinite(jac.data if hasattr(jac, "tocsr") else jac).all():
            break
        balance = np.maximum(size, sizes(jac, np.where(small, 0.0, y)))
        far = small & (guess > FAR * balance)
        if not far.any():
            break
        guess = np.where(far, balance, guess)
        jac = slopes(STEP * guess)
    return jac


def beyond_rounding(
    slopes: Callable[[Array], Array],
    y: Array,
    value: Callable[[], Array],
    jac: Array,
    larger: float,
    floor: Array | None = None,
) -> Array:
    """Return the Jacobian with longer steps for unknowns whose changes are lost beside the terms of others.

    Nothing is known of the size of an unknown that is zero: what is 1e12 does not change by 1e-9. It may be
    `larger` than the largest one. `floor` are sizes below which unknowns do not matter, as tolerances tell;
    up to these, entries are looked for one by one. A change that comes out of nothing is no slope: that of an
    exponential far away.
    """
    guess, top = guessed_sizes(y), larger * float(np.abs(y).max(initial=0.0))
    felt = np.zeros(len(y)) if floor is None else floor
    if not (guess < np.maximum(BESIDE * top, felt)).any():
        return jac
    terms = np.abs(np.nan_to_num(jac)) @ np.abs(y)  # at a consistent start their sum is zero
    terms = np.maximum(np.abs(value()), terms)[:, None]
    clear, most_felt = CLEAR * terms, np.where(terms > 0.0, SUDDEN * terms, np.inf)
    while True:
        small = np.abs(jac) * (STEP * guess) <= clear
        whole = (guess < BESIDE * top) & small.all(axis=0)
        lost = small & ((guess < felt) | whole)
        columns = lost.any(axis=0)
        if not columns.any():
            return jac
        most = np.where(whole, np.maximum(top, felt), felt)
        guess = np.where(columns, np.minimum(LONGER * guess, most), guess)
        longer = slopes(STEP * guess)
        smooth = np.isfinite(longer).all(axis=0) & (np.abs(longer) * (STEP * guess) <= most_felt)
        jac = np.where(lost & smooth, longer, jac)
