"""Extended precision: two independent methods for ODEs, and the ODEs under the problems, for recomputing references."""
