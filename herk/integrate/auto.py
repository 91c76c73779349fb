"""When a run goes over to the other method: what steps cost, how far they lead, what limits them.

A run of method="auto" begins with the explicit method. Where stability seems to limit its steps (see
`steppers.half_explicit.stability`), or where one of them costs more than an implicit one, the implicit method
is tried, if a trial costs little beside the work that is left. It stays in use if it makes quicker progress.
It is left again where stability would allow explicit steps that lead as far for less.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from herk.integrate.methods import Plan
from herk.integrate.steppers.half_explicit.stability import bound
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.integrate.steppers.radau.layout import RadauMethod
from herk.integrate.steps import INFINITE
from herk.integrate.work import EXPECTED, Work, work_of

if TYPE_CHECKING:
    from herk.integrate.options import Request
    from herk.integrate.steppers.protocol import Stepper

TRIAL = 32  # steps of an implicit method that is tried; more if they do not decide
EARLY = 16  # explicit steps that show what they cost, where that is much
CHANGE = 3e5  # operations that a change costs: a machine made ready, a first step
SHARE = 0.1  # of the work left that a trial may cost
DEARER = 1.3  # an explicit step that costs more implicit ones than this is not worth its stages
HOPELESS = (
    0.2  # of the explicit method's progress for the same work: less than this decides at the second look
)
FAIRLY = 1.25  # how much worse it must be: the explicit steps were made elsewhere, where others may be due
LONGER = 2.0  # explicit steps of higher order beside implicit ones, where accuracy limits both, at least
SAFELY = 0.8  # part of the bound of stability that is counted on
CLEARLY = 1.5  # how much better the explicit method must seem for a change back
MOST_ITERATIONS = 4  # per stage, in a first guess at the work of an explicit step
RARER = 8  # how much more patient a run becomes after a trial in vain
NOTHING = dict.fromkeys(EXPECTED, 0)


@dataclass(frozen=True)
class Change:
    """What is decided: to go on with the partner, with this plan and first step, for this reason."""

    plan: Plan
    first_step: float
    why: str


def trial(work: Work) -> float:
    """Return the work left beside which a trial of the implicit method costs little."""
    return (TRIAL * work.expected() + CHANGE) / SHARE


@lru_cache(maxsize=256)
def guessed(work: Work, stages: int) -> tuple[float, int | None]:
    """Return the steps left from which on a change may pay, and those before the first look, if special."""
    once = {"nfev": stages, "ngev": stages, "njev": 1, "nlu": 1, "nit": 0}
    often = dict.fromkeys(once, MOST_ITERATIONS * stages) | {"nfev": stages}
    least, most = (work.explicit(counts, 1) for counts in (once, often))
    return trial(work) / most, EARLY if least > DEARER * work.expected() else None


class Chooser:
    """Looks at a run from time to time and decides whether the partner of its method goes on."""

    def __init__(self, asked: Request, machine: Stepper, plan: Plan) -> None:
        """Begin to count."""
        self.asked, self.machine, self.plan = asked, machine, plan
        self.work: Work = plan.work or work_of(asked, machine)
        self.implicit = isinstance(asked.method, RadauMethod)
        self.t, self.steps, self.counts = asked.t0, 0, NOTHING
        # steps left from which on a change may pay, and those before the first look, if not as always
        self.worth, self.first = 0.0, TRIAL if self.implicit else None
        if isinstance(asked.method, Tableau):
            self.worth, self.first = plan.guess or guessed(self.work, asked.method.stages)
            machine.state.worth = self.worth
        self.better = 0  # looks in a row at which the explicit method seemed better

    def look(self, t: float, steps: int, *, limited: bool) -> Change | None:
        """Return what is to be changed after this many steps; `limited`: stability seems to limit them."""
        taken, passed, far = steps - self.steps, abs(t - self.t), abs(self.asked.t1 - t)
        if taken < 1 or not passed > 0.0:
            return None
        h = min(passed / taken, abs(self.machine.loop.h_tried)) if limited else passed / taken
        if far < self.worth * h:
            return None
        counts = self.machine.counts()
        spent = {name: counts[name] - self.counts[name] for name in EXPECTED}
        work = self.work.implicit(spent, taken) if self.implicit else self.work.explicit(spent, taken)
        cost = work / taken
        left = far / h * cost
        change = self._back(t, h, cost, left, taken) if self.implicit else self._over(h, cost, left, limited)
        if not self.plan.trial:
            self.t, self.steps, self.counts = t, steps, counts
        return change

    def _over(self, h: float, cost: float, left: float, limited: bool) -> Change | None:
        """Decide on steps of an explicit method."""
        implicit = self.work.expected()
        dear = cost > DEARER * implicit and self.plan.patience < RARER * Plan.patience
        if not (limited or dear) or left < trial(self.work):
            return None
        why = (
            f"stability seems to limit explicit steps to {h:.2g}"
            if limited
            else f"an explicit step takes {cost / implicit:.1f} times the work of an implicit one"
        )
        plan = replace(
            self.plan, partner=self.asked.method, trial=True, pace=h / cost, cost=cost, work=self.work
        )
        return Change(plan, h, why)

    def _back(self, t: float, h: float, cost: float, left: float, steps: int) -> Change | None:
        """Decide on steps of an implicit method."""
        plan = self.plan
        if not self._fastest() < INFINITE:  # y' is determined by less than rounding: nothing can begin here
            return None
        pace = min(plan.pace, self._bound() / plan.cost) if plan.trial else 0.0  # of explicit steps, here
        if FAIRLY * h / cost < pace:
            hopeless = h / cost < HOPELESS * pace and steps > TRIAL
            if not hopeless and steps * cost < SHARE * abs(self.asked.t1 - t) / pace:
                return None
            patient = replace(plan, partner=self.asked.method, trial=False, patience=RARER * plan.patience)
            return Change(patient, plan.pace * plan.cost, "implicit steps led no farther for the same work")
        self.plan = replace(plan, trial=False)
        self.better = self.better + 1 if self._would_pay(h, cost) and left > CHANGE / SHARE else 0
        if self.better < plan.persist:
            return None
        stable = self._stable(h)
        back = replace(plan, partner=self.asked.method, trial=False, persist=2 * plan.persist)
        return Change(back, 0.5 * stable, f"explicit steps of {stable:.2g} are stable again")

    def _would_pay(self, h: float, cost: float) -> bool:
        """Tell whether explicit steps would lead as far for less work."""
        wanted = CLEARLY * h / cost * self.plan.cost
        return wanted <= LONGER * h and self._stable(h) >= wanted

    def _stable(self, h: float) -> float:
        """Return the length of explicit steps that are stable here, beside implicit ones of length h."""
        return min(LONGER * h, SAFELY * self._bound())

    def _bound(self) -> float:
        """Return the length that stability allows explicit steps here."""
        assert isinstance(self.plan.partner, Tableau)
        return bound(self.plan.partner) / max(self._fastest(), 1e-300)

    def _fastest(self) -> float:
        """Return the modulus of the fastest eigenvalue here."""
        found: float = self.machine.fastest()  # type: ignore[attr-defined]
        return found
