"""Methods by name: a tableau for half-explicit steps, or Radau."""

from __future__ import annotations

from typing import Any

from herk.core import nearest
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.integrate.steppers.half_explicit.tableaus import METHODS
from herk.integrate.steppers.radau.layout import RadauMethod

Method = Tableau | RadauMethod
RADAU = {"radau5": RadauMethod()}


def method_of(given: Any) -> Method:
    """Return the method of this name, or the method itself if one is given."""
    if isinstance(given, (Tableau, RadauMethod)):
        return given
    known: dict[str, Method] = {**METHODS, **RADAU}
    if not isinstance(given, str) or given not in known:
        raise nearest(given, known, "method")
    return known[given]
