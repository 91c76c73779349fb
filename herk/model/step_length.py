"""How long a step of Newton's method had better be where equations are far from linear.

The exponential of a diode goes from 1e-14 to 1e70 within a step that looks short to its tangent. Steps are
cut until the residuals become less. On the other side of the solution each step goes back by one e-fold only:
what still gains there by going on is made longer.
"""

from __future__ import annotations

from collections.abc import Callable

MOST_HALVINGS = 400  # z**9 = 1 from z = 1e-10
MOST_DOUBLINGS = 12  # 4096 e-folds are more than doubles hold
QUICK = 0.1  # of a residual is left by a step that is right as it is


def length(
    residual: Callable[[float], float], halvings: int = MOST_HALVINGS, doublings: int = MOST_DOUBLINGS
) -> float:
    """Return by how much to multiply a step so that the residual becomes less; 0 if nothing does.

    `residual` takes such a factor and is infinite where the equations have no value. Linear equations are
    solved by 1. Of exponentials that is too much on one side of the solution, and much too little on the
    other.
    """
    before, share = residual(0.0), 1.0
    size = residual(share)
    for _ in range(halvings):
        if size < before:
            break
        share /= 2.0
        size = residual(share)
    else:
        return 0.0
    if share < 1.0 or size <= QUICK * before:
        return share
    for _ in range(doublings):
        longer = residual(2.0 * share)
        if not longer < size:
            break
        share, size = 2.0 * share, longer
    return share
