"""Proofs of a page: every sentence that carries facts must say just these.

And they must be those of the records.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from reports.claims import Claim, parse
from reports.proof.kinds import KINDS
from reports.proof.world import World, world

RECORDS = ("records.jsonl", "records.jsonl.gz")
TAGS = ("li", "dd", "p")  # elements that carry sentences


@dataclass(frozen=True)
class Proof:
    """A sentence, whether it holds, and what does not fit."""

    sentence: str
    holds: bool
    evidence: str


class _Reader(HTMLParser):
    """Collects the elements that carry a claim, with the text in them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.data: str | None = None
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        data = dict(attrs).get("data-claim")
        if tag in TAGS and data is not None:
            self.data, self.text = data, []

    def handle_data(self, data: str) -> None:
        if self.data is not None:
            self.text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in TAGS and self.data is not None:
            self.found.append((self.data, "".join(self.text).strip()))
            self.data = None


def of_folder(folder: Path) -> list[Proof]:
    """Return a proof for every sentence of FOLDER/index.html that carries facts.

    None if page or records are not there.
    """
    page, stored = folder / "index.html", [folder / name for name in RECORDS if (folder / name).exists()]
    if not page.exists() or not stored:
        return []
    reader = _Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    known = world(read(stored[0]))
    return [of_sentence(text, data, known) for data, text in dict.fromkeys(reader.found)]


def read(path: Path) -> Iterable[dict[str, Any]]:
    """Yield the records of a file; a line that was cut off is passed over."""
    with (
        gzip.open(path, "rt", encoding="utf-8")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8") as lines
    ):
        for line in lines:
            if line.rstrip().endswith("}"):
                yield json.loads(line)


def of_sentence(text: str, data: str, known: World) -> Proof:
    """Return the proof of one sentence of a page."""
    claim = parse(data)
    try:
        said = str(claim)
    except KeyError as missing:
        return Proof(text, False, f"its facts lack {missing}: another version of herk wrote this page")
    return of_claim(claim, known) if said == text else Proof(text, False, f"its facts say: {said}")


def of_claim(claim: Claim, known: World) -> Proof:
    """Return whether the records have these facts."""
    wrong = contradictions(claim, known)
    return Proof(str(claim), not wrong, "; ".join(wrong) or f"{claim.kind}: counted again")


def contradictions(claim: Claim, known: World) -> list[str]:
    """Return the facts of a claim that the records do not have."""
    counted = KINDS[claim.kind](claim.facts, known)
    pairs = [(name, claim.facts.get(name), value) for name, value in counted.items()]
    return [
        f"{name}: {said!r} is claimed, {value!r} is counted"
        for name, said, value in pairs
        if not same(said, value)
    ]


def same(claimed: Any, counted: Any) -> bool:
    """Tell whether two facts agree: numbers to nine digits, lists in order, tables entry by entry."""
    if isinstance(claimed, dict) and isinstance(counted, dict):
        return claimed.keys() == counted.keys() and all(
            same(claimed[name], counted[name]) for name in claimed
        )
    if isinstance(claimed, (list, tuple)) and isinstance(counted, (list, tuple)):
        return len(claimed) == len(counted) and all(map(same, claimed, counted))
    if isinstance(claimed, (int, float)) and isinstance(counted, (int, float)):
        return math.isclose(claimed, counted, rel_tol=1e-9, abs_tol=1e-300)
    return bool(claimed == counted)
