"""Until when an analysis may go on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from typing import Any

DEADLINE: ContextVar[float] = ContextVar("deadline", default=inf)  # of the analysis, by time.monotonic()


@contextmanager
def within(seconds: Any) -> Iterator[None]:
    """Let analyses made inside end after so many seconds, None for any.

    A wrong limit is for others to refuse.
    """
    limited = isinstance(seconds, (int, float)) and seconds > 0
    token = DEADLINE.set(min(DEADLINE.get(), time.monotonic() + seconds) if limited else DEADLINE.get())
    try:
        yield
    finally:
        DEADLINE.reset(token)
