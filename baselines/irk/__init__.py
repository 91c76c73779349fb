"""Implicit Runge-Kutta methods of the literature.

Radau5 with variable steps, families with fixed steps, projection.
"""

from baselines.irk import fixed, radau5

SOLVERS = (*radau5.SOLVERS, *fixed.SOLVERS)
