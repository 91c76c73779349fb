"""Extended precision: two independent methods for ODEs.

And the ODEs under the problems, for recomputing references.
"""
