"""Study `second_order`: L. Wunderlich's paper on second-order systems reproduced.

Every printed value beside ours.
"""

from herk.bench.second_order_study.study import Study, run

__all__ = ["Study", "run"]
