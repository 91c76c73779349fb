"""When a run goes over to the other method: what steps cost, how far they lead, what limits them.

A run of method="auto" begins with the explicit method, unless its steps are dear, or the start shows that
stability would ask for very many. Where stability seems to limit its steps (see
`steppers.half_explicit.stability`), or where one of them costs more than an implicit one, the implicit method
is tried, if a trial costs little beside the work that is left. It stays in use if it makes quicker progress.
It is left again where stability would allow explicit steps that lead as far for less.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from herk.integrate.methods import PATIENT, PERSISTENT, Plan
from herk.integrate.steppers.half_explicit.stability import AT_ONCE, bound
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.integrate.steppers.radau.layout import RadauMethod
from herk.integrate.steps import INFINITE
from herk.integrate.work import EXPECTED, Work, known_better, work_of

if TYPE_CHECKING:
    from herk.integrate.options import Request
    from herk.integrate.steppers.protocol import Stepper

TRIAL = 32  # steps of an implicit method that is tried; more if they do not decide
FIRST_CHUNK, LONGEST_CHUNK = 64, 8192  # steps of any run between looks of Python: twice as many every time
SELDOM = 4  # how many more there are between two looks at the choice of the method
SETTLED = 3 * FIRST_CHUNK  # steps of an implicit method that began: it is looked at after two chunks
EARLY = 16  # explicit steps that show what they cost, where that is much
CHANGE = 1.5e5  # operations that a change costs, a machine being at hand: a run made ready, a first step
BEGINNING = 3e4  # and that it costs to begin with the other method
SHARE = 0.1  # of the work left that a trial may cost
CALM, AT_REST = 4, 8  # implicit steps with which a smooth solution begins, a restless one comes to rest
RESTLESS, FINER = 0.3, 0.2  # how many there are in the time in which it changes: twice 0.16 rtol^-0.2
HIGHER = 1 / 18  # steps of order 8 beside those of order 5 grow like rtol^(1/9 - 1/6)
COARSE, FINE = 1e-4, 1e-12  # outside nobody has counted them
DEARER = 1.3  # an explicit step that costs more implicit ones than this is not worth its stages
HOPELESS = 0.2  # of the explicit progress for the same work: less than this decides at the second look
FAIRLY = 1.25  # how much worse it must be: the explicit steps were made elsewhere, where others may be due
LONGER = 2.0  # explicit steps beside implicit ones, at a coarse tolerance (in the test set 1.9; 7 at 1e-12)
SAFELY = 0.8  # part of the bound of stability that is counted on
CLEARLY = 1.5  # how much better the explicit method must seem for a change back
CLOSELY = 128  # steps between looks while it does: what it would have saved in them counts,
THERE_AND_BACK = 2.0  # until it is worth as many changes: a phase has lasted for half of its time, on average
MOST_ITERATIONS = 4  # per stage, in a first guess at the work of an explicit step
RARER = 8  # how much more patient a run becomes after a trial in vain,
PATIENTLY = 1 << 40  # at most: compiled steps go on to double it
NOTHING = dict.fromkeys(EXPECTED, 0)


class Change(NamedTuple):
    """What is decided: to go on with the partner, with this plan and first step, for this reason."""

    plan: Plan
    first_step: float | None
    why: str


@dataclass(frozen=True)
class Guess:
    """What is known of a run before its first step."""

    worth: float  # explicit steps left from which on a change may pay,
    many: float  # and from which on the implicit method begins, if stability seems to ask for so many
    calm: float  # or so many, where the solution itself changes slowly
    few: float  # implicit steps left for which no change pays
    first: int  # explicit steps before the first look
    least: float  # operations of an explicit step at least,
    likely: float  # with some iterations,
    price: float  # and at least in units of an implicit one


def trial(work: Work) -> float:
    """Return the work of a trial of the implicit method."""
    return TRIAL * work.expected() + CHANGE + work.opening


def beginning(work: Work, steps: float) -> float:
    """Return the explicit work instead of which a run is begun with so many implicit steps.

    There is no margin: on 80 random models at three tolerances it cost more (1.19 times the better method, in
    the mean) than begins in vain, which are soon left again (1.11).
    """
    return steps * work.expected() + BEGINNING + work.opening


@lru_cache(maxsize=256)
def guessed(work: Work, stages: int) -> Guess:
    """Return what the costs of evaluations tell before any step."""
    once = {"nfev": stages, "ngev": stages, "njev": 1, "nlu": 1, "nit": 0}
    often = dict.fromkeys(once, MOST_ITERATIONS * stages) | {"nfev": stages}
    least, most = (work.explicit(counts, 1) for counts in (once, often))
    price = least / work.expected()
    first = EARLY if price > DEARER else FIRST_CHUNK
    few = CHANGE / work.expected()
    ahead, likely = trial(work) / least, (least + most) / 2
    calm = min(ahead, beginning(work, CALM) / least)
    return Guess(trial(work) / SHARE / most, ahead, calm, few, first, least, likely, price)


def beside(rtol: float) -> float:
    """Return how many times longer explicit steps are than implicit ones, where accuracy limits both."""
    growth: float = (COARSE / min(max(rtol, FINE), COARSE)) ** HIGHER
    return LONGER * growth


def distant(asked: Request, plan: Plan, guess: Guess) -> float:
    """Return |lambda| * span from which on the implicit method begins; less than nothing: it does."""
    if plan.cost:  # known from steps that were made
        return INFINITE
    return AT_ONCE if guess.price > beside(asked.rtol) else guess.calm * bound(cast(Any, asked.method))


def costs(asked: Request, machine: Any, plan: Plan) -> tuple[Work, Guess]:
    """Return what is known of the work of the two methods of a run.

    It depends on the components chosen at the start, and on nothing that earlier runs have found.
    """
    found: tuple[Work, Guess] | None = plan.costs
    if found is not None and isinstance(asked.method, RadauMethod):
        work = known_better(found[0], machine)
        return found if work is found[0] else (work, guessed(work, cast(Any, plan.partner).stages))
    if found is None:
        methods: Any = asked.method, plan.partner
        begun = machine.state.slot, methods[1].fewest
        found = machine.costs.get(begun)
        if found is None:
            work = work_of(asked, machine)
            found = machine.costs[begun] = work, guessed(work, methods[0].stages)
    return found


class Chooser:
    """Looks at a run from time to time and decides whether the partner of its method goes on."""

    def __init__(
        self, asked: Request, machine: Stepper, plan: Plan, known: tuple[Work, Guess] | None = None
    ) -> None:
        """Begin to count; `known`: the costs, as they were found at the start."""
        self.asked, self.machine, self.plan = asked, machine, plan
        self.implicit = isinstance(asked.method, RadauMethod)
        self.t, self.steps, self.counts = asked.t0, 0, NOTHING
        self.trial = plan.trial
        self.costs = known or costs(asked, machine, plan)
        self.work, self.guess = self.costs
        self.worth = self.guess.few if self.implicit else self.guess.worth  # steps left from which on it pays
        self.won = 0.0  # operations that the explicit method would have saved lately
        self.longer = plan.longer  # explicit steps beside implicit ones, by what was seen of both

    def at_once(self) -> Change | None:
        """Return that the implicit method begins, where explicit steps would be dear, or very many."""
        machine: Any = self.machine
        explicit: Any = self.asked.method
        cost, pace = self.guess.least, 0.0
        if machine.state.distant == AT_ONCE:
            cost = self.guess.likely
            why = f"an explicit step takes {self.guess.price:.1f} times the work of an implicit one"
        else:
            h = bound(explicit) / machine.state.fastest
            steps = abs(self.asked.t1 - self.asked.t0) / h
            if steps < self.guess.many:
                pace = h / cost  # of which the implicit method must do better, since less is at stake
                if steps * cost < beginning(self.work, self._smooth(machine.state.restless)):
                    return None
            why = f"stability would limit explicit steps to {h:.2g}"
        how: dict[str, Any] = {"trial": pace > 0.0, "pace": pace, "cost": cost, "costs": self.costs}
        return Change(Plan(explicit, persist=2 * PERSISTENT, why=why, **how), None, why)

    def _smooth(self, restless: float) -> float:
        """Return about how many implicit steps there are.

        Between few, if what changes at the start soon comes to rest, and as many as if it goes on like this:
        what is known is the decade, so the mean is that of the logarithms.
        """
        span = abs(self.asked.t1 - self.asked.t0)
        most = CALM + RESTLESS * restless * span / self.asked.rtol**FINER
        return float(min(most, (AT_REST * most) ** 0.5))

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
        if not self.trial:
            self.t, self.steps, self.counts = t, steps, counts
        return change

    def _over(self, h: float, cost: float, left: float, limited: bool) -> Change | None:
        """Decide on steps of an explicit method."""
        implicit = self.work.expected()
        dear = cost > DEARER * implicit and self.plan.patience < RARER * PATIENT
        if not (limited or dear) or left < trial(self.work) / SHARE:
            return None
        why = (
            f"stability seems to limit explicit steps to {h:.2g}"
            if limited
            else f"an explicit step takes {cost / implicit:.1f} times the work of an implicit one"
        )
        plan = self.plan._replace(partner=self.asked.method, trial=True, pace=h / cost)
        plan = plan._replace(cost=cost, costs=self.costs, accurate=0.0 if limited else h)
        return Change(plan, h, why)

    def _back(self, t: float, h: float, cost: float, left: float, steps: int) -> Change | None:
        """Decide on steps of an implicit method."""
        plan, machine = self.plan, cast(Any, self.machine)
        fastest: float = machine.fastest()
        if not fastest < INFINITE:  # y' is determined by less than rounding: nothing can begin here
            return None
        longest = bound(plan.partner) / max(fastest, 1e-300)  # of explicit steps, here
        pace = min(plan.pace, longest / plan.cost) if self.trial else 0.0
        h = max(h, abs(machine.loop.h_tried))  # steps may just have become longer
        if FAIRLY * h / cost < pace:
            hopeless = h / cost < HOPELESS * pace and steps > TRIAL
            if not hopeless and steps * cost < SHARE * abs(self.asked.t1 - t) / pace:
                return None
            longer = min(RARER * plan.patience, PATIENTLY)
            patient = plan._replace(partner=self.asked.method, trial=False, patience=longer)
            return Change(patient, plan.pace * plan.cost, "implicit steps led no farther for the same work")
        if self.trial and 0.0 < plan.accurate < SAFELY * longest:
            self.longer = plan.accurate / h
        self.trial = False
        stable = min(min(beside(self.asked.rtol), self.longer) * h, SAFELY * longest)
        part = plan.cost * h / (cost * max(stable, 1e-300))  # of the work, with explicit steps
        better = CLEARLY * part <= 1.0 and left > CHANGE / SHARE
        self.won = self.won + min(steps, CLOSELY) * cost * (1.0 - part) if better else 0.0
        if not self.won > plan.persist * THERE_AND_BACK * CHANGE:
            return None
        back = plan._replace(
            partner=self.asked.method, trial=False, persist=2 * plan.persist, longer=self.longer
        )
        return Change(back, 0.5 * stable, f"explicit steps of {stable:.2g} are stable again")


class Choice:
    """When the choice of the method is looked at: by counts of steps, so that clocks decide nothing."""

    def __init__(self, asked: Request, machine: Stepper, plan: Plan) -> None:
        """Look soon at an implicit method that is only tried."""
        self.asked, self.machine, self.plan = asked, machine, plan
        self.chooser: Chooser | None = None  # not before there is something to choose: a run may be short
        self.known: tuple[Work, Guess] | None = None  # the costs, with the components chosen at the start
        self.worth = 0.0  # steps left from which on a change may pay
        self.due = (
            TRIAL if plan.trial or asked.first_step is not None else SETTLED
        )  # the step after which that is done next
        self.pause = FIRST_CHUNK

    def foreseen(self) -> Change | None:
        """Return that the implicit method begins, if an explicit one was to begin and that does not pay."""
        asked, machine = self.asked, cast(Any, self.machine)
        if isinstance(asked.method, Tableau):
            self.known, state = costs(asked, machine, self.plan), machine.state
            guess = self.known[1]
            self.due, self.worth = guess.first, guess.worth
            state.worth, state.distant = guess.worth, distant(asked, self.plan, guess)
            if machine.foreseen():
                self.chooser = Chooser(asked, machine, self.plan, self.known)
                change = self.chooser.at_once()
                if change is not None:
                    return change
        self.pause = min(self.due, FIRST_CHUNK)
        return None

    def look(self, t: float, steps: int, *, limited: bool) -> Change | None:
        """Return what is to be changed, and settle when to look next: soon if the other method may pay."""
        chooser, change = self.chooser, None
        if chooser is not None or limited or not self._ends_soon(t, steps):
            if chooser is None:
                chooser = self.chooser = Chooser(self.asked, self.machine, self.plan, self.known)
            change = chooser.look(t, steps, limited=limited)
        if chooser is not None and chooser.won > 0.0:
            self.due = steps + CLOSELY
        elif steps == self.due:
            self.pause = min(SELDOM * self.pause, LONGEST_CHUNK)
            self.due += self.pause
        return change

    def _ends_soon(self, t: float, steps: int) -> bool:
        """Tell whether too few steps are left for a change to pay, of the length that they had so far."""
        return steps > 0 and abs(self.asked.t1 - t) < self.worth * abs(t - self.asked.t0) / steps
