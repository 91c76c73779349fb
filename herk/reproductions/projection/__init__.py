"""Study `projection`: J. Schropp's paper on projected Runge-Kutta methods reproduced.

Every printed value beside ours.
"""

from herk.reproductions.projection.study import Study, run

__all__ = ["Study", "run"]
