"""x"""

SOLVERS = ()
