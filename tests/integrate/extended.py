"""The integrator's own stepping loop in 50-digit numbers.

Interpreted source, arrays of gmpy2 numbers, unrounded tableau.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import gmpy2
import mpmath
import numpy as np
from gmpy2 import mpfr

import herk
from herk.integrate import loop
from herk.integrate.options import request
from herk.integrate.run import Run
from herk.integrate.steppers.half_explicit import newton, stepper, tableaus
from herk.integrate.steppers.half_explicit.layout import rows_of
from herk.integrate.steppers.half_explicit.ready import ready
from herk.integrate.steps import CHUNK_FULL, FINISHED, NEED_PYTHON
from herk.jit.by_address import stand_in
from herk.model.evaluate import linearise

DIGITS = 50
BITS = 180  # a little more than 50 digits
NAMES = ("f", "g", "jac_g")


@contextmanager
def long_numbers() -> Iterator[None]:
    """Let gmpy2 and mpmath work with 50 digits, whatever others have asked them for."""
    with gmpy2.context(gmpy2.get_context(), precision=BITS), mpmath.workdps(DIGITS + 2):
        yield


@dataclass(frozen=True)
class Precise:
    """A DAE whose functions take and give gmpy2 numbers; `exact` gives the solution as mpmath numbers."""

    name: str
    E: Any
    f: Callable[..., Any]
    g: Callable[..., Any]
    jac_g: Callable[..., Any]
    m: int
    t_span: tuple[str, str]
    exact: Callable[[Any], list[Any]]

    @property
    def dae(self) -> herk.Dae:
        """Return the DAE in double precision, from which sizes and the first selection come."""

        def rounded(function: Callable[..., Any]) -> Callable[..., np.ndarray]:
            return lambda t, y: np.array(function(mpfr(t), y), dtype=float)

        plain = {name: rounded(getattr(self, name)) for name in NAMES}
        return herk.Dae(E=self.E, n=len(self.E), m=self.m, g_t=lambda t, y: np.zeros(self.m), **plain)


def number(value: Any) -> mpfr:
    """Return a gmpy2 number of full length from a text, an mpmath number, a float or an exact coefficient."""
    if isinstance(value, tableaus.Number):
        root = gmpy2.sqrt(mpfr(value.radicand)) if value.factor else mpfr(0)
        rational, factor = (mpfr(q.numerator) / mpfr(q.denominator) for q in (value.rational, value.factor))
        return rational + factor * root
    return mpfr(mpmath.nstr(value, DIGITS + 4) if isinstance(value, mpmath.mpf) else value)


def numbers(values: Any) -> np.ndarray:
    """Return an array of gmpy2 numbers."""
    return np.array([number(value) for value in np.asarray(values, dtype=object).ravel()], dtype=object)


def exact_table(own: Any, method: str) -> None:
    """Put the coefficients before rounding in the place of the rounded ones."""
    tableau, table = herk.METHODS[method], tableaus.exact(method)
    width, s = tableau.stages + 1 + len(tableau.dense_c), tableau.stages
    rows, nodes = numbers(rows_of(tableau)[0]).reshape(width, width), numbers(rows_of(tableau)[1])
    nodes[:s] = [number(c) for c in table.c]
    for i, weights in enumerate(table.A):
        rows[i, :s] = [number(a) for a in weights]
        if i > 0:  # what is printed with 40 digits need not have its row sums to 50
            last = max(j for j in range(s) if rows[i, j] != 0)
            rows[i, last] += nodes[i] - sum(rows[i, :s])
    rows[s, :s] = quadrature([number(b) for b in table.b], nodes[:s], tableau.order)
    own.table_a[:] = rows.ravel()
    own.table_c[:] = nodes


def quadrature(weights: list[mpfr], nodes: np.ndarray, order: int) -> list[mpfr]:
    """Return the weights with the least change after which they integrate powers below `order` to all digits; exact ones stay."""
    used = [i for i, weight in enumerate(weights) if weight != 0]
    powers = [[nodes[i] ** k for i in used] for k in range(order)]
    missing = [
        1 / mpfr(k + 1) - sum(p * weights[i] for p, i in zip(row, used, strict=True))
        for k, row in enumerate(powers)
    ]
    if max(map(abs, missing)) < mpfr(10) ** -DIGITS:
        return weights
    matrix = mpmath.matrix([[mpmath.mpf(str(value)) for value in row] for row in powers])
    change = matrix.T * mpmath.lu_solve(
        matrix * matrix.T, mpmath.matrix([mpmath.mpf(str(value)) for value in missing])
    )
    for place, i in enumerate(used):
        weights[i] += number(change[place])
    return weights


def in_place(function: Callable[..., Any]) -> Callable[..., None]:
    """Return function(t, y, par, out) without a detour through floats."""

    def call(t: Any, y: np.ndarray, _: np.ndarray, out: np.ndarray) -> None:
        out[:] = np.asarray(function(t, y), dtype=object).ravel()

    return call


def converted(value: Any) -> Any:
    """Return a number or an array in gmpy2 numbers."""
    return numbers(value) if isinstance(value, np.ndarray) else number(value)


def solve(
    problem: Precise, method: str, count: int, selection: str, monkeypatch: Any
) -> tuple[list[Any], np.ndarray]:
    """Make `count` fixed steps; return times and points (times x unknowns)."""
    monkeypatch.setattr(newton, "EPS", 10.0**-DIGITS)
    t0, t1 = (number(t) for t in problem.t_span)
    y0 = [number(value) for value in problem.exact(mpmath.mpf(problem.t_span[0]))]
    options = dict.fromkeys(("t_eval", "events", "first_step", "time_limit", "callback"))
    options |= {
        "rtol": 1e-6,
        "atol": 1e-9,
        "step": float(t1 - t0) / count,
        "dense_output": False,
        "max_step": np.inf,
        "max_steps": 10**9,
        "consistent": "trust",
    }
    extra = {"generate": False, "selection": selection, "newton": "full"}
    asked = request(problem.dae, (float(t0), float(t1)), [float(v) for v in y0], method, options, extra)
    start = np.array([float(v) for v in y0])
    here = linearise(asked.dae, asked.t0, start)
    machine = ready(asked, start, here)
    machine.state.any_size = stand_in(stepper.kernel)
    machine.slot(machine.first_selection(replace(here, jac=np.array(problem.jac_g(t0, y0), dtype=float))))
    Run(asked, machine, start)
    own, state = machine.state.plain(converted), machine.loop.plain(converted)
    exact_table(own, method)
    own.tight = own.tolerance = mpfr(10) ** -(DIGITS - 6)
    own.y[:] = y0
    own.at_f, own.at_g, own.at_jac_g = (stand_in(in_place(getattr(problem, name))) for name in NAMES)
    state.own, state.y = own.address, own.y
    state.begin, state.try_step, state.accept = map(
        stand_in, (stepper.begin, stepper.try_step, stepper.accept)
    )
    state.t, state.t_start, state.t_end, state.h = t0, t0, t1, (t1 - t0) / count
    times, points = np.empty(count, dtype=object), np.empty((count, len(y0)), dtype=object)
    done = 0
    while done < count:
        own.table, own.known = machine.table.ravel(), len(machine.known)
        status = loop.advance(
            state, times[done:], points[done:].reshape(-1), np.zeros(count - done, dtype=np.int64)
        )
        done += state.count
        if status == NEED_PYTHON:
            machine.slot(own.wanted.tolist())
        else:
            assert status in (FINISHED, CHUNK_FULL), f"the run ended with {status}"
    return list(times), points
