"""Analyses that were made, kept for models of the same structure; special values have their own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from herk.model.index_reduction.regularize import Regularization
    from herk.model.model import Model

_MOST_KEPT = 512  # analyses and forms in memory; the oldest goes first
_kept: OrderedDict[tuple[Any, ...], Any] = OrderedDict()


def once(key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    """Return what was made for this key, or make it."""
    if key not in _kept:
        _kept[key] = make()
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    return _kept[key]


def analysis(model: Model) -> Regularization:
    """Return what regularize found for this structure, whatever the values it was found for.

    Special values have their own.
    """
    from herk.model.index_reduction.regularize import regularize

    found: Regularization = once(_analysis_key(model), lambda: regularize(model))
    if not is_special(model) and any(
        model.E[place].free_symbols & set(model.parameters) for place in found.zeros
    ):
        make_special(model)  # an entry of E vanishes for just these values
        _kept.pop(("analysis", model.structure, ()), None)
        _kept[_analysis_key(model)] = found
    return found


def _analysis_key(model: Model) -> tuple[Any, ...]:
    return "analysis", *(case(model) if is_special(model) else (model.structure, ()))


_MOST_CASES = 4096
_special_cases: OrderedDict[tuple[Any, ...], None] = OrderedDict()  # a set; the oldest goes first


def case(model: Model) -> tuple[Any, ...]:
    """Return all that the points of an analysis depend on."""
    return model.structure, model.values, model.y0, model.t_span[0]


def is_special(model: Model) -> bool:
    """Tell whether an analysis for this case must not serve others.

    A parameter is zero, or the general one did not fit.
    """
    return 0.0 in model.values or case(model) in _special_cases


def make_special(model: Model) -> None:
    """Have this case analysed for itself from now on."""
    _special_cases[case(model)] = None
    while len(_special_cases) > _MOST_CASES:
        _special_cases.popitem(last=False)
