"""Methods for second-order systems M p'' = force(t, p, p', lam), 0 = g(t, p).

Beside their first-order twins (L. Wunderlich, 2005).
"""

from baselines.second_order.solvers import SOLVERS

__all__ = ["SOLVERS"]
