"""A claim: the facts a sentence states, as plain values that another program can check."""

from __future__ import annotations

import json
from dataclasses import dataclass

from reports.sentences import WORDS
from reports.words import Facts


@dataclass(frozen=True)
class Claim:
    """A kind of sentence and its facts; the sentence is made from nothing else."""

    kind: str
    facts: Facts

    def __str__(self) -> str:
        """Return the sentence."""
        return WORDS[self.kind](self.facts)

    @property
    def data(self) -> str:
        """Return kind and facts as JSON, as the page carries them beside the sentence."""
        return json.dumps({"kind": self.kind, **self.facts}, separators=(",", ":"), allow_nan=False)


def parse(data: str) -> Claim:
    """Return the claim of a page."""
    facts = json.loads(data)
    return Claim(facts.pop("kind"), facts)


def none(what: str, name: str = "") -> Claim:
    """Return the claim that the records hold nothing of a kind, `name` says of what."""
    return Claim("none", {"what": what, "name": name, "found": 0})
