"""A bounded share of the fuzzer in every test run; `tools/fuzz.py` goes on for as long as one likes.

Faults that are known and not yet repaired stand in known_faults.toml. A fault that is not there fails the
test, and so does one that is there but repaired: strike it off, or write the file anew with
`python tools/fuzz.py --seed 0 --members N --minutes 10 --known`, N being MEMBERS, and look at the difference.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.fuzz.examine import examine
from tests.fuzz.families import FAMILIES

MEMBERS = 4  # per family
KNOWN = tomllib.loads(Path(__file__).with_name("known_faults.toml").read_text())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seeded_share_of_each_family_has_no_fault_but_the_known_ones(family: str) -> None:
    found = {str(seed): examine(family, seed) for seed in range(MEMBERS)}
    faults = {seed: verdict.outcome.value for seed, (verdict, *_) in found.items() if verdict.outcome.fault}
    shown = "\n\n".join(f"{script}\n# {verdict.detail}" for verdict, _, script in found.values() if script)
    assert faults == KNOWN.get(family, {}), shown


def test_known_faults_are_members_of_the_share() -> None:
    assert [
        f"{family}:{seed}" for family, seeds in KNOWN.items() for seed in seeds if int(seed) >= MEMBERS
    ] == []
    assert set(KNOWN) <= set(FAMILIES)
