"""Which solvers on which forms are tried, in which order: referees first, then every family in turn."""

from __future__ import annotations

from collections import Counter

import baselines
from herk.bench import agreement
from herk.bench.agreement import REFEREE, Candidate, kind
from herk.bench.recommend.examine import Facts

# Forms from those that solvers are made for to those that only cost more; the index a model must have.
FORMS = {
    "overdetermined": 0, "index1": 1, "ode": 0, "ggl": 3, "index3": 3, "index2": 2, "baumgarte": 2,
    "second_order": 3, "index4": 4, "index5": 5,
}  # fmt: skip
MOST_REFEREES = 4
MANY_STEPS = 1e4
# Slow twins in plain Python, and programs of their own, which nobody can paste.
LEFT_OUT = frozenset({"interpreted", "own_clock"})


def referees(facts: Facts) -> list[Candidate]:
    """Return the candidates whose agreement makes the reference, each on the first form it takes.

    Where stability asks explicit ones for many steps they come last.
    """
    first = {name: (name, form) for name, form in reversed(agreement.referees(_forms(facts)))}
    chosen = [pair for pair in agreement.referees(_forms(facts)) if first[pair[0]] == pair]
    return _implicit_first(chosen[:MOST_REFEREES], facts)


def candidates(facts: Facts) -> list[Candidate]:
    """Return every adaptive solver on every form it takes, in the order of trying.

    Families take turns: first each one's referee on the form it is made for, then its next form and the next
    solver. Where stability asks explicit methods for many steps they come after the implicit ones.
    """
    known = [baselines.get(name) for name in baselines.names()]
    able = [each for each in known if each.adaptive and not LEFT_OUT & each.tags and each.available()[0]]
    begun: Counter[str] = Counter()
    turn: dict[Candidate, int] = {}
    for each in sorted(able, key=lambda solver: (REFEREE not in solver.tags, solver.name)):
        taken = [form for form in _forms(facts) if form in each.forms]
        turn |= {(each.name, form): begun[each.family] + place for place, form in enumerate(taken)}
        begun[each.family] += bool(taken)
    return _implicit_first(sorted(turn, key=turn.__getitem__), facts)


def _implicit_first(pairs: list[Candidate], facts: Facts) -> list[Candidate]:
    stiff = facts.stability_steps > MANY_STEPS
    return sorted(pairs, key=lambda pair: stiff and kind(pair[0]) == "explicit")


def _forms(facts: Facts) -> list[str]:
    """Return the forms that a model of this index can have; callables are overdetermined already."""
    if facts.index is None:
        return ["overdetermined", "underlying"]
    return [form for form, least in FORMS.items() if facts.index >= least]
