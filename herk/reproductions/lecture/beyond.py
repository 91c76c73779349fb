"""Measurements behind the errata.

Z of index 1 as the slides define it, z that enters nonlinearly, and Lobatto IIIC up to 7 stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import partial

from baselines.irk.families import tableau
from baselines.irk.hessenberg import march
from herk.core.dae import Array
from herk.reproductions.lecture import printed, theory
from herk.reproductions.lecture.orders import AGREES, QUICK_STEPS, STEPS, Measured, Slopes, slopes
from herk.reproductions.lecture.systems import NONLINEAR, OWN, PENDULUM, T_END, multiplier
from herk.reproductions.published import Origin, Row, Verdict

_DEFINED = (
    "the slides take z from 0 = g(x, z) at the end of the step: then z is as accurate as x; the printed order"
    " is that of z + h sum b_i z'_i"
)
_SQUARED = (
    "errors O(h^(q-1)) of z at the stages enter squared, so x has at most 2q - 2; the printed order needs z"
    " to enter linearly"
)

Key = tuple[str, int]  # family, stages


def defined(quick: bool) -> dict[Key, Measured]:
    """Measure z of index 1, taken from the constraint after each step.

    For the families that are not stiffly accurate.
    """
    return {
        (family, s): Measured(*_completed(family, s, _steps(quick)))
        for family in ("gauss", "radau_ia")
        for s in _stages(quick)
    }


def nonlinear(quick: bool) -> dict[Key, Slopes]:
    """Measure index 3 with z entering as z^3, for the families of the table."""
    found = {}
    for family in ("radau_ia", "radau_iia", "lobatto_iiic"):
        least = 3 if family in printed.MORE_THAN_TWO else 2
        found |= {
            (family, s): slopes(NONLINEAR, family, s, _steps(quick)) for s in _stages(quick) if s >= least
        }
    return found


def parity(quick: bool) -> dict[int, float | None]:
    """Measure the order of x for Lobatto IIIC in index 3, 2 to 7 stages, h = 1/32 to 1/128.

    The smaller steps were chosen after looking: with those of the rule 7 stages have the slope 11.67, still
    rising to 12.
    """
    return {s: slopes(OWN[3], "lobatto_iiic", s, STEPS[2:]).order("x") for s in range(2, 5 if quick else 8)}


def rows(as_defined: dict[Key, Measured], squared: dict[Key, Slopes]) -> list[Row]:
    """Return the rows."""
    result = []
    for (family, s), measured in as_defined.items():
        case = f"{printed.FAMILIES[family]}, n_s = {s}"
        part = "Index 1, z from the constraint"
        result.append(
            _row(
                part,
                case,
                "z",
                printed.order(family, s, 1, "z"),
                tableau(family, s).order,
                measured.order("z"),
                _DEFINED,
            )
        )
    for (family, s), found in squared.items():
        expected = min(theory.order(family, s, 3, "x"), 2 * tableau(family, s).stage_order - 2)
        case = f"{printed.FAMILIES[family]}, n_s = {s}"
        part = "Index 3, z enters as z³"
        result.append(
            _row(part, case, "x", printed.order(family, s, 3, "x"), expected, found.order("x"), _SQUARED)
        )
    return result


def _row(
    part: str, case: str, group: str, value: int | None, expected: int, ours: float | None, why: str
) -> Row:
    agrees = ours is not None and abs(ours - expected) <= AGREES
    verdict = Verdict.LOST if not agrees else Verdict.SAME if value == expected else Verdict.WRONG
    text = "no solution" if ours is None else f"{ours + 0.0:.2f}"
    said = why if verdict is not Verdict.SAME else ""
    return Row(
        part, case, f"order of {group}", value, text, verdict, said, origin=Origin.OURS
    )  # printed once, in the table of orders


def _completed(family: str, s: int, steps: Sequence[int]) -> list[Slopes]:
    found = []
    for case, complete in ((OWN[1], _own_z), (PENDULUM[1], lambda x: multiplier(*x))):
        errors = [
            case.errors(march(case.system, tableau(family, s), T_END, count, partial(_with, complete)))
            for count in steps
        ]
        found.append(
            Slopes(tuple(steps), {group: tuple(e[group] for e in errors) for group in case.system.groups})
        )
    return found


def _with(complete, z: Array) -> Array:  # type: ignore[no-untyped-def]
    """Return the point with its last component taken from the constraint."""
    z[-1] = complete(z[:-1])
    return z


def _own_z(x: Array) -> Decimal:
    """Return z of z^2 b = a^2."""
    root: Decimal = (x[0] ** 2 / x[1]).sqrt()
    return root


def _steps(quick: bool) -> tuple[int, ...]:
    return QUICK_STEPS if quick else STEPS


def _stages(quick: bool) -> tuple[int, ...]:
    return printed.STAGES[:2] if quick else printed.STAGES
