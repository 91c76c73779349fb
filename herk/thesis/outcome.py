"""How a run of the program of 2017 went: points, counters, failures and warnings in words."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from herk.core import HerkError
from herk.core.dae import Array
from herk.thesis import layout
from herk.thesis.settings import Settings

REASONS = {
    layout.NEWTON: (
        "Newton's iteration does not converge: 99 updates did not bring |g_1 + ... + g_m| below tol = {tol:g}"
    ),
    layout.NOT_FINITE: "the error estimate or the solution is not a finite number",
    layout.UNDERFLOW: "the step has become so small that it no longer changes t",
    layout.IRREDUCIBLE: (
        "E is not regularly reducible (its non-zero columns depend on each other), or more components are"
        " free than g has rows"
    ),
}


class ThesisWarning(UserWarning):
    """A warning of the original program."""


class ThesisError(HerkError):
    """The run ended early; X, T and H hold the points reached, t is the stage time at which it happened."""

    def __init__(self, message: str, t: float, X: Array, T: Array, H: Array) -> None:
        """Keep the points reached."""
        super().__init__(message)
        self.t, self.X, self.T, self.H = t, X, T, H


class NewtonAbort(ThesisError):  # noqa: N818 - the name says what happened
    """Newton's iteration failed, which ends the integration.

    The program makes no second attempt with a smaller step.
    """


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A run with everything the studies want to know.

    Points, counters, selections, and how it ended (`failure` is 0 if well).
    """

    X: Array
    T: Array
    H: Array
    failure: int
    message: str
    t_failed: float
    rejected: int
    updates: int
    solves: int
    reluctant: int
    ill: int
    beyond: int
    selections: list[
        tuple[float, tuple[int, ...]]
    ]  # start times of steps, algebraic components from there on


def warn(outcome: Outcome, settings: Settings) -> None:
    """Issue the warnings of the original that say something about the result, each once."""
    texts = []
    if settings.adaptive and settings.tol > settings.eps0:
        texts.append(f"tol = {settings.tol:g} is larger than eps0 = {settings.eps0:g} and was set to it.")
    if settings.adaptive and settings.delta > settings.eps0:
        texts.append(
            f"delta = {settings.delta:g} is larger than eps0 = {settings.eps0:g}; Newton may converge slowly."
        )
    if outcome.reluctant:
        texts.append(
            f"{outcome.reluctant} times Newton stopped after 99 updates with a residual between tol and 10"
            " tol."
        )
    if outcome.ill:
        texts.append(f"{outcome.ill} Jacobians of the simplified Newton iteration had |R_11/R_mm| > 1e5.")
    if outcome.beyond:
        texts.append(
            f"Inhomogeneity not fulfilled: {outcome.beyond} times rows of f where E has none were above 100"
            " max(tol, eps0); check the model: these rows are constraints, and g does not keep them."
        )
    for text in texts:
        warnings.warn(text, ThesisWarning, stacklevel=3)
