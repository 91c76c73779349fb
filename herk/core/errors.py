"""Errors that say in a sentence what is wrong and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class HerkError(Exception):
    """Base of every error this package raises on purpose.

    Examples
    --------
    >>> import herk
    >>> issubclass(herk.InputError, herk.HerkError)
    True

    """


class InputError(HerkError, ValueError):
    """The call cannot be carried out as it stands; the message says why.

    Examples
    --------
    >>> import herk, testset
    >>> try:
    ...     herk.solve_dae(testset.get("pendulum"), rtol=-1)
    ... except herk.InputError as error:
    ...     print(error)
    rtol must be a positive number, not -1.

    """


def nearest(name: str, known: Iterable[str], what: str) -> InputError:
    """Return the error for an unknown name, with the nearest known names."""
    known = sorted(known)
    close = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
    hint = (
        f"Did you mean {' or '.join(map(repr, close))}?" if close else f"Known: {', '.join(known) or 'none'}."
    )
    return InputError(f"There is no {what} named {name!r}. {hint}")
