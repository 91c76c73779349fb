"""Steps of central differences in time, which know neither seconds nor years."""

from __future__ import annotations

SHARE = 1e-2  # of the span: about the time in which functions of time change
EPS = 2.220446049250313e-16


def time_size(t0: float, t1: float) -> float:
    """Return the time in which what happens between these times is taken to change."""
    return SHARE * abs(t1 - t0)


def time_step(t: float, size: float) -> float:
    """Return the step that balances its cube against rounding, which is that of t where t is large."""
    return (EPS * max(abs(t), size) * size * size) ** (1.0 / 3.0)  # type: ignore[no-any-return]
