"""Study `second_order`: L. Wunderlich's paper on second-order systems reproduced.

Every printed value beside ours.
"""

from herk.reproductions.second_order.study import Study, run

__all__ = ["Study", "run"]
