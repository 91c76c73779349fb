"""Every kind of claim, with the function that counts its facts again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reports.proof import counts, facts, scaling
from reports.proof.world import World

KINDS: dict[str, Callable[[Mapping[str, Any], World], dict[str, Any]]] = {
    "duel": facts.duel,
    "speed": facts.speed,
    "endings": facts.endings,
    "drift": facts.drift,
    "orders": facts.orders,
    "stiff": facts.stiff,
    "tolerance": facts.tolerance,
    "far": facts.far,
    "profile": facts.profile,
    "scaling": scaling.scaling,
    "testset": counts.testset,
    "references": counts.references,
    "documents": counts.documents,
    "whole": counts.whole,
    "absent": counts.absent,
    "held": counts.held,
    "own_failures": counts.own_failures,
    "printed_ends": counts.printed_ends,
    "machines": counts.machines,
    "selections": counts.selections,
    "other_problems": counts.other_problems,
    "unmeasured": counts.unmeasured,
    "none": counts.none,
}
