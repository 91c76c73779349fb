"""Members that were refused, failed, hung or came out wrong once, and what it took to get them right."""

from __future__ import annotations

import pytest

from tests.fuzz.examine import examine
from tests.fuzz.judge import Outcome

# Decimal numbers read as binary ones: what cancels on paper left 1e-17 behind, and ranks hung on it.
# The analysis of many more is tested in tests/codegen/test_numbers.py.
NOISE = [*(("linear", seed) for seed in (7048, 9007, 9041, 9056)), ("testset", 9003), ("piecewise", 9034)]
# Constraints divided by a function of time that vanishes on the way.
POLES = [("linear", seed) for seed in (9002, 9054, 12007)]

# Constraints that were singular only by how they were combined at the start.
COMBINED = [("linear", seed) for seed in (70162, 70171, 80012)]
# A column of E that is zero at the start by chance; times to judge that rounding made equal; a pendulum that
# passes its highest point slowly, which enlarges errors two hundred times.
CHANCE = [("linear", 70022), ("piecewise", 70144), ("mechanisms", 70029)]
# Radau: a crossing without masses was noticed one step late, or turned into the other solution.
LATE = [("singular", 920043), ("singular", 910014)]
# Where dop853 had ended at a change point, the other method of auto crawled past it on the other solution.
CRAWLED = [("singular", 6000014)]
# Without masses Radau stepped over a fold that its polynomial, held to little, did not show.
OVER = [("singular", 8000195)]
# A row of E whose entries have different units was taken for one that vanishes at the start.
FADING = [("linear", 6000060)]
# The last digits of its constraint decided on which solution Radau left a crossing.
DIGITS = [("singular", 8000106)]
# A machine made for the values of one start alone was given others, for which it had no room.
GIVEN = [("singular", 9000113)]
# A switch was passed and passed back within one step.
BACK = [("switching", 8000149)]
# Radau passed kinks with errors of seventy tolerances, which moved the time of a jump.
KINKS = [("switching", 6000127)]
# Radau between steps: rows chosen anew were others than those of the step, did not converge, or to something else.
ROWS = [("linear", 10000019), ("testset", 10000098), ("testset", 11000044), ("testset", 12000001)]
# Radau between steps: short steps took the place of a polynomial with rows that turn singular inside the step.
TURNED = [("linear", 52000149)]
# Where constraints turn within a step, short steps to a time inside it were not short enough.
SHORT = [("testset", 30000038)]
# Rows of E were exchanged by numbers, whatever the units: derivatives followed from an entry that nearly vanishes.
UNITS = [("linear", 70000244)]
# Radau between steps: in the middle of a step the polynomial was right by chance.
BY_CHANCE = [("linear", 71000182)]
# Radau between steps: a constraint vanishes on the way from the start of a step, not from its end.
FROM_BEHIND = [("linear", 120000116)]
# Near a fold the determinant is rounding: once it rose, and the run went on along the other solution.
RISEN = [("singular", 70000004), ("singular", 70000100)]
# Units kept the rows that a pendulum has at its side in use at its lowest point, where they determine nothing.
SIDE = [("mechanisms", 10000108)]
# A selection was looked at twice in the first run of a model, which then took other, poorer steps; and errors
# that a bead makes on its way, enlarged three thousand times, were judged like those of its start (thirty times).
TWICE = [("mechanisms", 22000008)]
# Constraints written with a denominator that vanishes on the way, though it could be cleared or left out.
WRITTEN = [("linear", seed) for seed in (11000118, 12000101, 12000110, 130000067)]
# The finer estimate of dop853 vanished by chance: in a first step, and in one across a resonance.
VANISHED = [("circuits", 97000089), ("bells", 92000089)]
# Large models: entries of odd units were taken for rounding, values between steps had pivots of elsewhere, and
# nothing looked at determinants.
MANY = [("sparse", seed) for seed in (23, 50, 97, 118, 137)]
MANY_END = [("sparse", seed) for seed in (13, 16, 63, 64, 70, 1279)]

# Large models that turn: constraints were divided by pivots that vanish on the way, and not combined anew there.
MANY_TURN = [("sparse", seed) for seed in (22, 1015, 130000050, 130000098, 130000121, 220000155, 220000445)]
# Rows that must determine required components were left out for larger ones, which others may determine as well.
MANY += [("sparse", 222000277)]

# An unknown that cancels when a constraint is multiplied out: code waited for its value.
CANCELLED = [("attacks", 51000161)]
# Callables: a row of E that is zero but for rounding was a mass, and made steps without end.
MASSES = [("callables", 210000054), ("callables", 210000116), ("callables", 210000136)]
# Callables without masses: in least squares one row, of large units, decided whether any contradicts the flow.
ROW_BY_ROW = [("callables", 130000104), ("callables", 300000296)]
# F(t, y, y') with g in ordinary units had y' as further unknowns, whose constraints were not solved between points.
ROW_BY_ROW += [("callables", 240000016), ("callables", 250000102)]
# What E leaves open in one unknown was mixed with that in another one, 1e20 times as fast.
MIXED = [("callables", 230000767)]
# Without dg/dy: differences for an unknown in units of 1e8 were as long as the unknown itself.
STEPS = [("callables", 240000245)]
# F without y' had masses that are zero at every call, and nothing looked at determinants.
STILL = [("callables", 230000236)]


@pytest.mark.parametrize(
    ("family", "seed"), LATE + CRAWLED + OVER + DIGITS + BACK + GIVEN + RISEN + MANY_END + STILL
)
def test_the_end_of_a_solution_is_noticed_before_it_is_passed(family: str, seed: int) -> None:
    verdict, _, script = examine(family, seed)
    assert verdict.outcome is Outcome.HONEST, f"{script}\n# {verdict.detail}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "seed"),
    [
        *(*NOISE, *POLES, *COMBINED, *CHANCE, *FADING, *KINKS, *ROWS, *TURNED, *SHORT, *SIDE),
        *(*WRITTEN, *TWICE, *CANCELLED, *UNITS, *BY_CHANCE, *FROM_BEHIND, *VANISHED, *MANY, *MANY_TURN),
        *(*MASSES, *ROW_BY_ROW),
    ],
)
def test_what_was_repaired_stays_right(family: str, seed: int) -> None:
    verdict, _, script = examine(family, seed)
    assert verdict.outcome is Outcome.RIGHT, f"{script}\n# {verdict.detail}"
