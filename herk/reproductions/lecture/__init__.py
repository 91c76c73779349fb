"""Study `lecture`: orders of implicit Runge-Kutta families for index 1, 2 and 3, the Newton matrix.

And what index reduction costs.
"""

from herk.reproductions.lecture.study import Study, run

__all__ = ["Study", "run"]
