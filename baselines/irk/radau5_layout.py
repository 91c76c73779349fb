"""What Radau5 on a square form keeps beside the state of Radau: weights by index, output, projection."""

from __future__ import annotations

from herk.integrate.steppers.radau.layout import Radau, RadauMethod
from herk.integrate.steppers.radau.layout import allocate as radau_state
from herk.integrate.steppers.radau.order import rows_of
from herk.jit.state import Floats, State, Wholes


class Direct(State):
    """The direct discretisation of E z' = f, constraints being rows of it: d = n, m = 0 in Radau's words."""

    radau: int  # where the state of Radau stands
    projection: int  # where that of the projection stands; 0: there is none
    wanted: int  # output times are given
    served: int  # how many of them were passed
    index: Wholes  # of each unknown
    before: Floats  # the point before the step
    times: Floats  # wanted ones; these two live elsewhere
    values: Floats  # by rows


def allocate(n: int, parameters: int) -> tuple[Direct, Radau]:
    """Return both states; every row is selected for good, and equations are given as E z' - f."""
    own = radau_state(n, 0, parameters, RadauMethod(), rows_of(3, 3))
    direct = Direct(index=n, before=n)
    own.rows[:], own.chosen[:] = range(n), 1
    own.settled, own.selected = 1, 1
    direct.radau = own.address
    return direct, own
