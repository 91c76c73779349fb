"""Mechanical models as second-order systems: rows q' = v are found, and M p'' = force, 0 = g is handed out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herk.core import InputError

if TYPE_CHECKING:
    from herk.model.forms import Form
    from herk.model.model import Model


def second_order(model: Model) -> Form:
    """Return the second-order form."""
    raise InputError(f"Model {model.name!r} has no second-order form yet.")
